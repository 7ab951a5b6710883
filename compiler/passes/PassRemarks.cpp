// SPDX-License-Identifier: Apache-2.0
// Remarks through the engine of MLIR, and the names of weights and KV caches in them.
#include "compiler/passes/PassRemarks.h"

#include "dialects/kernel/KernelDialect.h"

#include "mlir/IR/Remarks.h"
#include "mlir/Interfaces/CallInterfaces.h"
#include "mlir/Interfaces/ViewLikeInterface.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;

namespace talc {

static bool isHeard(Operation *op) {
  return op->getContext()->getRemarkEngine() != nullptr;
}

static remark::RemarkOpts getRemarkOptions(Operation *op, StringRef stage, StringRef pass) {
  auto function = dyn_cast<FunctionOpInterface>(op);
  if (!function)
    function = op->getParentOfType<FunctionOpInterface>();
  return remark::RemarkOpts::name(pass).category(stage).function(function ? function.getName() : "module");
}

void PassRemarks::did(Operation *op, Text text) const {
  if (isHeard(op))
    remark::passed(op->getLoc(), getRemarkOptions(op, stage, pass)) << text();
}

void PassRemarks::declined(Operation *op, Text text) const {
  if (isHeard(op))
    remark::missed(op->getLoc(), getRemarkOptions(op, stage, pass)) << text();
}

// The parts of two names, between dots, with * where they differ; none if one has more parts.
static std::string commonName(StringRef a, StringRef b) {
  SmallVector<StringRef> parts, others;
  a.split(parts, '.');
  b.split(others, '.');
  if (parts.size() != others.size())
    return "";
  for (auto [part, other] : llvm::zip(parts, others))
    part = part == other ? part : "*";
  return llvm::join(parts, ".");
}

static std::string nameAtCalls(BlockArgument argument) {
  auto function = dyn_cast<func::FuncOp>(argument.getOwner()->getParentOp());
  auto module = argument.getOwner()->getParent()->getParentOfType<ModuleOp>();
  std::optional<std::string> name;
  if (!function || !module)
    return "";
  module.walk([&](func::CallOp call) {
    if (call.getCallee() != function.getName())
      return;
    std::string callName = storedName(call.getOperand(argument.getArgNumber()));
    name = name ? commonName(*name, callName) : callName;
  });
  return name.value_or("");
}

// The origin of the values of a weight: its name, or the names of the weights of its recipe.
static std::string getOrigin(Operation *user, StringRef name) {
  auto weight = SymbolTable::lookupNearestSymbolFrom<WeightOp>(user, StringAttr::get(user->getContext(), name));
  if (!weight || !weight.getOf() || weight.getOf()->empty())
    return name.str();
  SmallVector<std::string> origins;
  for (auto source : weight.getOf()->getAsRange<FlatSymbolRefAttr>())
    origins.push_back(getOrigin(user, source.getValue()));
  return llvm::join(origins, " + ");
}

std::string storedName(Value value) {
  if (auto argument = dyn_cast<BlockArgument>(value))
    return nameAtCalls(argument);
  Operation *definition = value.getDefiningOp();
  if (isa<GetWeightOp, GetKvCacheOp, kernel::WeightOp, kernel::KvCacheOp>(definition))
    return getOrigin(definition, definition->getAttrOfType<FlatSymbolRefAttr>("name").getValue());
  if (!isa<DeriveOp, ViewLikeOpInterface>(definition))
    return "";
  SmallVector<std::string> names;
  for (Value operand : definition->getOperands())
    if (std::string name = storedName(operand); !name.empty())
      names.push_back(name);
  return llvm::join(names, " + ");
}

}  // namespace talc
