// SPDX-License-Identifier: Apache-2.0
// The name of the model of a module, for messages.
#pragma once

#include "dialects/talc/TalcDialect.h"

#include "mlir/IR/BuiltinOps.h"

#include <string>

namespace talc {

// The module's talc.name, or "model".
inline std::string modelName(mlir::ModuleOp module) {
  auto name = module->getAttrOfType<mlir::StringAttr>(nameAttr);
  return name && !name.getValue().empty() ? name.str() : "model";
}

}  // namespace talc
