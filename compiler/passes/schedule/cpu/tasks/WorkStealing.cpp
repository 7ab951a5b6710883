// SPDX-License-Identifier: Apache-2.0
// Tasks that threads claim while they run, and loops over them.
#include "compiler/passes/schedule/cpu/tasks/WorkStealing.h"

using namespace mlir;

namespace talc {

WorkStealing::WorkStealing(Emitter &e, Value step, Value tasks, Value dealt)
    : e(e), step(step), tasks(tasks), dealt(dealt) {
  piece = either([&] { return kernel::BeginTasksOp::create(e.b, e.loc, step); }, e.index(0));
}

Value WorkStealing::next(Value otherwise) {
  return either([&] { return kernel::NextTaskOp::create(e.b, e.loc, step, piece, tasks); }, otherwise);
}

Value WorkStealing::either(llvm::function_ref<Value()> yes, Value no) {
  auto branch = scf::IfOp::create(e.b, e.loc, TypeRange(e.b.getIndexType()), dealt, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(e.b);
  e.b.setInsertionPointToStart(branch.thenBlock());
  scf::YieldOp::create(e.b, e.loc, yes());
  e.b.setInsertionPointToStart(branch.elseBlock());
  scf::YieldOp::create(e.b, e.loc, no);
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
