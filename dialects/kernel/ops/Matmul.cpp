// SPDX-License-Identifier: Apache-2.0
// kernel.matmul: multiplies activations by a packed weight.
#include "dialects/kernel/ops/ComputeOpChecks.h"
#include "dialects/kernel/ops/FusedOps.h"

using namespace mlir;

namespace talc::kernel {

// An input of the epilogue is activations, or a vector that all rows share, which may be padded to whole panels.
static LogicalResult verifyInput(MatmulOp op, Value input) {
  ShapedType type = getShapedType(input);
  int64_t width = features(op.getInit());
  if (type.getRank() == 1 && type.getElementType().isF32() && type.getDimSize(0) >= width)
    return success();
  if (type.getRank() != 2)
    return op.emitOpError() << "input is " << type << ", expected rows of " << width
                            << " f32, or a vector of at least that length";
  if (failed(expectActivations(op, "input", input)) ||
      failed(expectRows(op, "row count of an input", input, op.getInit())))
    return failure();
  return expect(op, "width of an input", features(input), width);
}

// With split-K, init has a row of partial sums for each part of K.
static LogicalResult verifyRows(MatmulOp op) {
  auto parts = static_cast<int64_t>(op.getSplitK());
  if (parts == 1)
    return expectRows(op, "row count of init", op.getInit(), op.getX());
  if (failed(expectOneRow(op, "x", op.getX())) || failed(expectDivides(op, "parts", parts, size(op.getWeight(), 1))))
    return failure();
  if (op.getGated() || op.getGroups() > 1 || !op.getInputs().empty())
    return op.emitOpError("has split_k, expected no inputs, gates or groups");
  return expect(op, "row count of init", size(op.getInit(), 0), parts);
}

static LogicalResult verifyEpilogue(MatmulOp op) {
  size_t arguments = op.getInputs().size() + (op.getGated() ? 2 : 1);
  if (op.getEpilogue().getNumArguments() != arguments)
    return op.emitOpError() << "has an epilogue of " << op.getEpilogue().getNumArguments() << " arguments, expected "
                            << arguments;
  for (Type type : op.getEpilogue().getArgumentTypes())
    if (!type.isF32())
      return op.emitOpError() << "has an epilogue of " << type << ", expected f32";
  Block &body = op.getEpilogue().front();
  auto yield = body.empty() ? YieldOp() : dyn_cast<YieldOp>(body.back());
  if (yield && yield.getValues().size() == 1)
    return success();
  return op.emitOpError("has an epilogue that does not yield a single value");
}

LogicalResult MatmulOp::verify() {
  if (failed(expectMatmulInput(*this, "x", getX())) || failed(expectPanels(*this, "weight", getWeight())) ||
      failed(expectActivations(*this, "init", getInit())) || failed(verifyRows(*this)))
    return failure();
  auto weight = getShapedType(getWeight());
  int64_t groups = getGroups();
  if (groups < 1 || features(getInit()) % groups != 0 || (groups > 1 && getGated()))
    return emitOpError() << "divides " << features(getInit()) << " columns into " << groups << " groups";
  int64_t width = features(getX());
  bool fits =
      groups > 1 ? width % groups == 0 && width / groups >= weight.getDimSize(1) : width == weight.getDimSize(1);
  if (!fits)
    return emitOpError() << "multiplies " << features(getX()) << " features by a weight of depth "
                         << weight.getDimSize(1);
  int64_t lanes = weight.getDimSize(2), columns = getGated() ? lanes / 2 : lanes;
  if (lanes != 16 && lanes != 32 && lanes != 64)  // whole vectors, also in each half of a gated panel
    return emitOpError() << "has a weight in panels of " << lanes << " lanes, expected 16, 32 or 64";
  if (groups * static_cast<int64_t>(llvm::divideCeil(features(getInit()) / groups, columns)) != weight.getDimSize(0))
    return emitOpError() << "has " << weight.getDimSize(0) << " panels of " << columns << " columns for a width of "
                         << features(getInit());
  for (Value input : getInputs())
    if (failed(verifyInput(*this, input)))
      return failure();
  return verifyEpilogue(*this);
}

OpCosts MatmulOp::getCosts() {
  OpCosts costs;
  int64_t columns = features(getInit()) * (getGated() ? 2 : 1);
  costs.operations.perRow = 2 * columns * getShapedType(getWeight()).getDimSize(1);
  costs.stored.perCall = weightBytes(getWeight());
  costs.passed.perRow = rowBytes(getX()) + rowBytes(getInit()) * static_cast<int64_t>(getSplitK());
  for (Value input : getInputs())
    addInput(costs, input);
  return costs;
}

void MatmulOp::printShapes(raw_ostream &out) {
  if (getGroups() > 1)
    out << getGroups() << " x ";
  out << getShapedType(getWeight()).getDimSize(1) << " x " << (getGated() ? "2*" : "")
      << features(getInit()) / static_cast<int64_t>(getGroups()) << " " << formatName(getWeight());
}

// With a single token only columns can be divided; tokens that are wanted for a result are few.
Share MatmulOp::getDivision() {
  return hasOneRow(getX()) || getOutputIndex(getInit()) ? Share::columns : Share::adaptive;
}

TaskSpace MatmulOp::getTaskSpace(Share) {
  return TaskSpace::tiles;
}

std::string MatmulOp::getFused() {
  SmallVector<std::string> parts = fusedOps(getEpilogue().front(), getGated() ? 2 : 1, getInputs());
  if (getGated())
    parts.push_back("gate");
  return llvm::join(parts, ", ");
}

}  // namespace talc::kernel
