// SPDX-License-Identifier: Apache-2.0
// kernel.append: stores the step's keys and values in a state.
#include "dialects/kernel/pieces/PieceChecks.h"

using namespace mlir;

namespace talc::kernel {

LogicalResult AppendOp::verify() {
  auto state = cast<StateType>(getState().getType());
  int64_t width = state.getHeads() * state.getWidth();
  if (failed(expectActivations(*this, "keys", getKeys())) || failed(expectActivations(*this, "values", getValues())) ||
      failed(expectRows(*this, "row count of the values", getValues(), getKeys())) ||
      failed(expect(*this, "width of the keys", features(getKeys()), width)))
    return failure();
  if (failed(expect(*this, "width of the values", features(getValues()), width)))
    return failure();
  return expectLayout(*this, state, getKeys());
}

PieceCosts AppendOp::getCosts() {
  PieceCosts costs;
  costs.passed.perRow = rowBytes(getKeys()) + rowBytes(getValues());
  costs.stored.perRow = cast<StateType>(getState().getType()).getTokenBytes();
  return costs;
}

void AppendOp::printShapes(raw_ostream &out) {
  auto state = cast<StateType>(getState().getType());
  out << state.getHeads() << " heads x " << state.getWidth();
}

// With one row the heads belong to the workers that attention gives them to.
Share AppendOp::getDivision() {
  return hasOneRow(getKeys()) ? Share::heads : Share::rows;
}

TaskSpace AppendOp::getTaskSpace(Share share) {
  return share == Share::heads ? TaskSpace::heads : TaskSpace::rows;
}

void AppendOp::getEffects(PieceEffects &effects) {
  addPieceEffects(*this, effects);
  effects.emplace_back(MemoryEffects::Write::get(), &getStateMutable(), 0, true, SideEffects::DefaultResource::get());
}

}  // namespace talc::kernel
