// SPDX-License-Identifier: Apache-2.0
// Lists a model's plan, kernels and weights as JSON.
#include "compiler/artifact/Manifest.h"

#include "compiler/artifact/ModelFacts.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

#include <nlohmann/json.hpp>

using namespace mlir;
using Json = nlohmann::ordered_json;

namespace talc {

static Json describeWeight(const PlacedWeight &placed) {
  WeightOp weight = placed.weight;
  auto type = cast<RankedTensorType>(weight.getType());
  std::string element;
  llvm::raw_string_ostream(element) << type.getElementType();
  return {{"name", weight.getSymName().str()},
          {"type", element},
          {"shape", type.getShape().vec()},
          {"offset", placed.offset},
          {"bytes", placed.bytes}};
}

static Json describeKernels(ModuleOp module) {
  Json kernels = Json::array();
  for (LLVM::LLVMFuncOp function : module.getOps<LLVM::LLVMFuncOp>())
    if (!function.isDeclaration() && !function.getSymName().starts_with("talc_"))
      kernels.push_back(function.getSymName().str());
  return kernels;
}

std::string makeManifest(ModuleOp module, llvm::ArrayRef<PlacedWeight> weights, const targets::Target &target) {
  Json manifest;
  manifest["talc"] = TALC_VERSION;
  manifest["format"] = artifact::formatVersion;
  manifest["name"] = modelName(module);
  manifest["target"] = {{"cpu", target.cpu}, {"tune", target.tune}, {"vector_lanes", target.vectorLanes}};
  manifest["phases"] = {"prefill", "decode"};
  if (auto plan = module->getAttrOfType<DictionaryAttr>(planAttr))
    for (NamedAttribute figure : plan)
      if (auto value = dyn_cast<IntegerAttr>(figure.getValue()))
        manifest["plan"][figure.getName().str()] = value.getValue().getSExtValue();
  manifest["kernels"] = describeKernels(module);
  manifest["weights"] = Json::array();
  for (const PlacedWeight &placed : weights)
    manifest["weights"].push_back(describeWeight(placed));
  // A name that is not UTF-8 is shown with replacement characters.
  return manifest.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace talc
