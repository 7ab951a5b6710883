// SPDX-License-Identifier: Apache-2.0
// The imported model as a graph: for each kind of layer its operations and what flows between them.
#pragma once

#include "mlir/IR/BuiltinOps.h"

#include <string>
#include <vector>

namespace talc::tools {

struct GraphNode {
  std::string origin;               // see OpOrigins.h; empty: an input of the function
  std::string title;                // norm layer
  std::string detail;               // 128 -> 384
  std::string callee;               // of a call: the function
  std::vector<std::string> stored;  // weights and KV caches that it takes
  std::vector<int> inputs;          // nodes before it
  int64_t count = 1;                // of a call: how often it stands there
};

// A function: the whole model, or what equal layers share.
struct GraphFunction {
  std::string name;
  int64_t layers = 0;  // that call it; 0: the model itself
  std::vector<GraphNode> nodes;
};

// Functions in the order in which the model calls them, itself first. After nameOrigins.
std::vector<GraphFunction> readGraph(mlir::ModuleOp module);

}  // namespace talc::tools
