// SPDX-License-Identifier: Apache-2.0
// A kernel.mark behind each call has the number of its entry in talc.kernels.
#include "tools/talc/inspect/KernelUses.h"

#include "dialects/kernel/KernelDialect.h"
#include "tools/talc/inspect/ModelGraph.h"

#include <nlohmann/json.hpp>

using namespace mlir;

namespace talc::tools {

// Describes a kernel as the manifest of an artifact does.
static nlohmann::json describe(DictionaryAttr entry) {
  nlohmann::json json;
  for (NamedAttribute field : entry)
    if (auto text = dyn_cast<StringAttr>(field.getValue()))
      json[field.getName().str()] = text.str();
    else if (auto number = dyn_cast<IntegerAttr>(field.getValue()))
      json[field.getName().str()] = number.getValue().getSExtValue();
  return json;
}

static KernelUse readUse(func::CallOp call, DictionaryAttr entry) {
  KernelUse use{bench::parseKernelEntry(describe(entry)),
                call->getParentOfType<func::FuncOp>().getName().str(),
                {},
                getOrigins(call)};
  for (llvm::StringRef name : llvm::split(use.entry.stored, ", "))
    if (!name.empty())
      use.stored.push_back(name.str());
  return use;
}

std::vector<KernelUse> readKernelUses(ModuleOp module) {
  std::vector<KernelUse> uses;
  auto entries = module->getAttrOfType<ArrayAttr>(kernelsAttr);
  module.walk([&](kernel::MarkOp mark) {
    auto call = dyn_cast_or_null<func::CallOp>(mark->getPrevNode());
    uint64_t number = mark.getKernel();
    if (call && entries && number < entries.size())
      uses.push_back(readUse(call, cast<DictionaryAttr>(entries[number])));
  });
  return uses;
}

}  // namespace talc::tools
