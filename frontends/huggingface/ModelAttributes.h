// SPDX-License-Identifier: Apache-2.0
// What a model directory says beside the graph: name, generation defaults, pooling.
#pragma once

#include "mlir/IR/BuiltinOps.h"

#include <nlohmann/json_fwd.hpp>

namespace talc {

class Diagnostics;
struct FamilyTokens;
class ModelDirectory;

// Sets the attributes of `module` that stand in dialects/talc/TalcDialect.h. `config` is config.json.
void setModelAttributes(mlir::ModuleOp module, const ModelDirectory &directory, const nlohmann::json &config,
                        const FamilyTokens &tokens, Diagnostics &diagnostics);

}  // namespace talc
