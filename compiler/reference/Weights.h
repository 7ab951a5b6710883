// SPDX-License-Identifier: Apache-2.0
// The values of a module's weights, evaluated on first use.
#pragma once

#include "compiler/reference/Tensors.h"
#include "dialects/talc/TalcDialect.h"

#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/Error.h"

#include <map>
#include <set>
#include <string>

namespace talc::reference {

// Applies a recipe of the talc dialect (or #talc.fill) to its sources and rounds to the element type of `type`. `name`
// is for messages. Fails (WeightRecipe) if the shapes do not fit.
llvm::Expected<Weight> applyRecipe(const std::string &name, mlir::Attribute recipe,
                                   const std::vector<WeightPtr> &sources, mlir::RankedTensorType type);

class Weights {
public:
  explicit Weights(mlir::ModuleOp module) : module(module) {}

  // The value of `talc.weight @name`. Errors: WeightFile, WeightRecipe.
  llvm::Expected<WeightPtr> get(llvm::StringRef name);
  // The same, to be changed in place; what was derived from it before stays.
  llvm::Expected<Weight *> edit(llvm::StringRef name);
  // The result of a `talc.derive` for these sources, which came from this object.
  llvm::Expected<WeightPtr> derive(DeriveOp op, const std::vector<WeightPtr> &sources);

private:
  llvm::Expected<Weight> evaluate(WeightOp op);
  llvm::Expected<Weight> evaluateRecipe(WeightOp op);
  static llvm::Error round(WeightOp op, Weight &weight);

  mlir::ModuleOp module;
  std::map<std::string, std::shared_ptr<Weight>> values;
  std::map<std::pair<mlir::Operation *, std::vector<WeightPtr>>, WeightPtr> derived;
  std::set<std::string> open;  // weights under evaluation
};

}  // namespace talc::reference
