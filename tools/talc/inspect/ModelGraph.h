// SPDX-License-Identifier: Apache-2.0
// The imported model as a graph: the operations of each kind of layer and the data flow between them; and their names,
// by which later operations are traced back to them.
#pragma once

#include "mlir/IR/BuiltinOps.h"

#include <set>
#include <string>
#include <vector>

namespace talc::tools {

struct GraphNode {
  std::string origin;               // see getOrigin; empty: an input of the function
  std::string title;                // norm layer
  std::string detail;               // 128 -> 384
  std::string callee;               // of a call: the function
  std::vector<std::string> stored;  // weights and KV caches that it reads
  std::vector<int> inputs;          // nodes before it
  int64_t count = 1;                // of a call: repetitions
};

// A function: the whole model, or the code that equal layers share.
struct GraphFunction {
  std::string name;
  int64_t layers = 0;  // layers that call it; 0: the model itself
  std::vector<GraphNode> nodes;
};

// Returns the functions in the order in which the model calls them, itself first. Call nameOrigins before.
std::vector<GraphFunction> readGraph(mlir::ModuleOp module);

// ---- Names of operations. Passes preserve locations, so these hold the names

// Gives every operation of the program a unique name: its function and a number, such as layers:7.
void nameOrigins(mlir::ModuleOp module);

// Returns the name from nameOrigins, or an empty text.
std::string getOrigin(mlir::Operation *op);
// Returns the names of all operations that this one was made from.
std::set<std::string> getOrigins(mlir::Operation *op);

}  // namespace talc::tools
