// SPDX-License-Identifier: Apache-2.0
// Writes kernels and lists of launches as JSON.
#include "compiler/targets/nvptx/KernelObject.h"

#include "compiler/passes/codegen/gpu/Launches.h"
#include "compiler/passes/schedule/gpu/WorkgroupEmitter.h"

#include <nlohmann/json.hpp>

using namespace mlir;
using Json = nlohmann::ordered_json;

namespace talc::nvptx {

bool isKernel(LLVM::LLVMFuncOp function) {
  return function && !function.isExternal() && function->hasAttr(threadsAttr) && function->hasAttr(gridAttr);
}

bool isList(LLVM::LLVMFuncOp function) {
  return function->hasAttr(launchesAttr);
}

static targets::ObjectCode objectOf(const Json &json) {
  std::string text = json.dump();
  return {{text.begin(), text.end()}, {}};
}

// Texts, numbers, and names of functions.
static Json describe(DictionaryAttr fields) {
  Json object = Json::object();
  for (NamedAttribute field : fields)
    if (auto number = dyn_cast<IntegerAttr>(field.getValue()))
      object[field.getName().str()] = number.getInt();
    else if (auto text = dyn_cast<StringAttr>(field.getValue()))
      object[field.getName().str()] = text.str();
    else if (auto symbol = dyn_cast<FlatSymbolRefAttr>(field.getValue()))
      object[field.getName().str()] = symbol.getValue().str();
  return object;
}

static int64_t sharedBytes(LLVM::LLVMFuncOp kernel) {
  auto module = kernel->getParentOfType<ModuleOp>();
  int64_t bytes = 0;
  auto add = [&](LLVM::AddressOfOp op) {
    auto global = module.lookupSymbol<LLVM::GlobalOp>(op.getGlobalName());
    auto array = global ? dyn_cast<LLVM::LLVMArrayType>(global.getType()) : LLVM::LLVMArrayType();
    bytes += array ? static_cast<int64_t>(array.getNumElements()) * 4 : 0;
  };
  llvm::SmallPtrSet<Attribute, 4> seen;
  kernel.walk([&](LLVM::AddressOfOp op) {
    if (seen.insert(op.getGlobalNameAttr()).second)
      add(op);
  });
  return bytes;
}

targets::ObjectCode kernelObject(LLVM::LLVMFuncOp kernel, const std::string &text) {
  return objectOf({{"kernel", kernel.getName().str()},
                   {"threads", kernel->getAttrOfType<IntegerAttr>(threadsAttr).getInt()},
                   {"arguments", kernel.getNumArguments()},
                   {"shared", sharedBytes(kernel)},
                   {"grid", describe(kernel->getAttrOfType<DictionaryAttr>(gridAttr))},
                   {"text", text}});
}

targets::ObjectCode listObject(LLVM::LLVMFuncOp list) {
  Json launches = Json::array();
  for (auto launch : list->getAttrOfType<ArrayAttr>(launchesAttr).getAsRange<DictionaryAttr>()) {
    Json described = describe(launch), arguments = Json::array();
    for (auto argument : launch.getAs<ArrayAttr>(launchKeys::arguments).getAsRange<DictionaryAttr>())
      arguments.push_back(describe(argument));
    described["arguments"] = std::move(arguments);
    launches.push_back(std::move(described));
  }
  return objectOf({{"list", list.getName().str()}, {"launches", std::move(launches)}});
}

}  // namespace talc::nvptx
