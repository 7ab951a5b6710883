// SPDX-License-Identifier: Apache-2.0
// The storage formats of states.
#include "dialects/talc/formats/StateFormats.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/STLExtras.h"

#include <fmt/format.h>

using namespace mlir;

namespace talc {

std::vector<std::string> stateFormatNames() {
  return {"f32", "f16", "q8_0"};
}

const StorageFormat *stateFormatOf(ModuleOp module, std::string &error) {
  Attribute attribute = module->getAttr(stateFormatAttr);
  if (!attribute)
    return formatNamed("f32");
  auto name = dyn_cast<StringAttr>(attribute);
  if (name && llvm::is_contained(stateFormatNames(), name.getValue().str()))
    return formatNamed(name.getValue().str());
  error = fmt::format("{} is {}, expected one of {}", stateFormatAttr, name ? name.getValue().str() : "no text",
                      fmt::join(stateFormatNames(), ", "));
  return nullptr;
}

}  // namespace talc
