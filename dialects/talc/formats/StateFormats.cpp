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
  return {"f32", "f16", "bf16", "q8_0"};
}

static FormatRef formatIn(ModuleOp module, const char *key, std::string &error) {
  Attribute attribute = module->getAttr(key);
  if (!attribute)
    return formatNamed("f32");
  auto name = dyn_cast<StringAttr>(attribute);
  if (name && llvm::is_contained(stateFormatNames(), name.getValue().str()))
    return formatNamed(name.getValue().str());
  error = fmt::format("{} is {}, expected one of {}", key, name ? name.getValue().str() : "no text",
                      fmt::join(stateFormatNames(), ", "));
  return nullptr;
}

std::optional<StateFormats> stateFormatsOf(ModuleOp module, std::string &error) {
  StateFormats formats = {formatIn(module, keyFormatAttr, error), formatIn(module, valueFormatAttr, error)};
  return formats.keys && formats.values ? std::optional(formats) : std::nullopt;
}

}  // namespace talc
