// SPDX-License-Identifier: Apache-2.0
// Emits calls that take tasks, and loops over them.
#include "compiler/passes/schedule/cpu/tasks/WorkStealing.h"

using namespace mlir;

namespace talc {

WorkStealing::WorkStealing(Emitter &e, Value step, Value tasks, Value isDynamic)
    : e(e), step(step), tasks(tasks), isDynamic(isDynamic) {
  schedule = ifDynamic([&] { return kernel::BeginTasksOp::create(e.b, e.loc, step); }, e.index(0));
}

Value WorkStealing::next(Value otherwise) {
  return ifDynamic([&] { return kernel::NextTaskOp::create(e.b, e.loc, step, schedule, tasks); }, otherwise);
}

Value WorkStealing::ifDynamic(llvm::function_ref<Value()> value, Value otherwise) {
  auto branch = scf::IfOp::create(e.b, e.loc, TypeRange(e.b.getIndexType()), isDynamic, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(e.b);
  e.b.setInsertionPointToStart(branch.thenBlock());
  scf::YieldOp::create(e.b, e.loc, value());
  e.b.setInsertionPointToStart(branch.elseBlock());
  scf::YieldOp::create(e.b, e.loc, otherwise);
  return branch.getResult(0);
}

Value loopWithin(Emitter &e, Value first, Value from, Value count, llvm::function_ref<Value(Value)> body) {
  auto loop = scf::WhileOp::create(e.b, e.loc, TypeRange(first.getType()), ValueRange(first));
  OpBuilder::InsertionGuard guard(e.b);
  Value next = e.b.createBlock(&loop.getBefore(), {}, first.getType(), e.loc)->getArgument(0);
  Value within = arith::CmpIOp::create(e.b, e.loc, arith::CmpIPredicate::ult, e.sub(next, from), count);
  scf::ConditionOp::create(e.b, e.loc, within, next);
  Value current = e.b.createBlock(&loop.getAfter(), {}, first.getType(), e.loc)->getArgument(0);
  scf::YieldOp::create(e.b, e.loc, body(current));
  return loop.getResult(0);
}

Value constantBool(Emitter &e, bool value) {
  return arith::ConstantIntOp::create(e.b, e.loc, value, 1);
}

}  // namespace talc
