// SPDX-License-Identifier: Apache-2.0
// Verifiers of the pieces: what the passes behind rely on, since a program may have been edited by hand.
#include "dialects/kernel/KernelDialect.h"

using namespace mlir;

namespace talc::kernel {

static ShapedType shapeOf(Value data) {
  return cast<ShapedType>(data.getType());
}
static int64_t features(Value activations) {
  return shapeOf(activations).getDimSize(1);
}

// "<what> is <found>, expected <expected>"
static LogicalResult expect(Operation *op, StringRef what, int64_t found, int64_t expected) {
  if (found == expected)
    return success();
  return op->emitOpError() << what << " is " << found << ", expected " << expected;
}

static LogicalResult expectNatural(Operation *op, StringRef what, int64_t found) {
  return found >= 0 ? success() : op->emitOpError() << what << " is " << found << ", expected a number >= 0";
}

// [rows, features] of f32; vectors are read from neighbouring features.
static LogicalResult expectActivations(Operation *op, StringRef what, Value data) {
  ShapedType type = shapeOf(data);
  auto buffer = dyn_cast<MemRefType>(type);
  if (type.getRank() == 2 && type.getDimSize(1) > 0 && type.getElementType().isF32() &&
      (!buffer || buffer.isLastDimUnitStride()))
    return success();
  return op->emitOpError() << what << " is " << type << ", expected rows of contiguous f32, a known number of them";
}

static LogicalResult expectRows(Operation *op, StringRef what, Value data, Value like) {
  int64_t found = shapeOf(data).getDimSize(0), expected = shapeOf(like).getDimSize(0);
  bool unknown = ShapedType::isDynamic(found) || ShapedType::isDynamic(expected);
  return unknown ? success() : expect(op, what, found, expected);
}

// Values that are stored: of known size, and of a type that can be.
static LogicalResult expectStored(Operation *op, StringRef what, Value data, int64_t rank) {
  ShapedType type = shapeOf(data);
  Type element = type.getElementType();
  if (type.getRank() == rank && type.hasStaticShape() && (element.isF32() || element.isF16() || element.isBF16()))
    return success();
  return op->emitOpError() << what << " is " << type << ", expected f32, f16 or bf16 in " << rank
                           << " dimensions of known size";
}

static LogicalResult expectVector(Operation *op, StringRef what, Value data, int64_t length) {
  ShapedType type = shapeOf(data);
  if (type.getRank() == 1 && type.getDimSize(0) == length && type.getElementType().isF32())
    return success();
  return op->emitOpError() << what << " is " << type << ", expected " << length << " f32";
}

static LogicalResult expectPanels(Operation *op, StringRef what, Value weight) {
  if (failed(expectStored(op, what, weight, 3)))
    return failure();
  ShapedType type = shapeOf(weight);
  if (type.getDimSize(1) > 0 && type.getDimSize(2) > 0)
    return success();
  return op->emitOpError() << what << " has panels of depth " << type.getDimSize(1) << " and " << type.getDimSize(2)
                           << " lanes, expected more than 0";
}

// x and the init of a piece that keeps rows and features.
static LogicalResult expectSameShape(Operation *op, Value x, Value init) {
  if (failed(expectActivations(op, "x", x)) || failed(expectActivations(op, "init", init)) ||
      failed(expectRows(op, "row count of init", init, x)))
    return failure();
  return expect(op, "width of init", features(init), features(x));
}

static LogicalResult expectDivides(Operation *op, StringRef what, int64_t parts, int64_t width) {
  if (parts > 0 && width % parts == 0)
    return success();
  return op->emitOpError() << "divides " << width << " features into " << parts << " " << what;
}

//===--- contract ---------------------------------------------------------------------------------------------===//

// An input is a row of activations, or a vector that serves every row and may fill the last panel.
static LogicalResult verifyInput(ContractOp op, Value input) {
  ShapedType type = shapeOf(input);
  int64_t width = features(op.getInit());
  if (type.getRank() == 1 && type.getElementType().isF32() && type.getDimSize(0) >= width)
    return success();
  if (type.getRank() != 2)
    return op.emitOpError() << "input is " << type << ", expected rows of " << width
                            << " f32, or a vector of at least so many";
  if (failed(expectActivations(op, "input", input)) ||
      failed(expectRows(op, "row count of an input", input, op.getInit())))
    return failure();
  return expect(op, "width of an input", features(input), width);
}

static LogicalResult verifyEpilogue(ContractOp op) {
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
  return op.emitOpError("has an epilogue that yields no single value");
}

LogicalResult ContractOp::verify() {
  if (failed(expectActivations(*this, "x", getX())) || failed(expectPanels(*this, "weight", getWeight())) ||
      failed(expectActivations(*this, "init", getInit())) ||
      failed(expectRows(*this, "row count of init", getInit(), getX())))
    return failure();
  auto weight = shapeOf(getWeight());
  if (features(getX()) != weight.getDimSize(1))
    return emitOpError() << "contracts " << features(getX()) << " features with a depth of " << weight.getDimSize(1);
  int64_t lanes = weight.getDimSize(2), columns = getGated() ? lanes / 2 : lanes;
  if (lanes != 16 && lanes != 32 && lanes != 64)  // whole vectors make up a panel, and each half of one with gates
    return emitOpError() << "has a weight in panels of " << lanes << " lanes, expected 16, 32 or 64";
  if (llvm::divideCeil(features(getInit()), columns) != static_cast<uint64_t>(weight.getDimSize(0)))
    return emitOpError() << "has " << weight.getDimSize(0) << " panels of " << columns << " columns for a width of "
                         << features(getInit());
  for (Value input : getInputs())
    if (failed(verifyInput(*this, input)))
      return failure();
  return verifyEpilogue(*this);
}

//===--- attention --------------------------------------------------------------------------------------------===//

// Blocks of keys are whole panels.
static LogicalResult expectBlock(Operation *op, int64_t block) {
  if (block > 0 && block % panelLanes == 0)
    return success();
  return op->emitOpError() << "block is " << block << ", expected a multiple of " << panelLanes;
}

static LogicalResult expectParts(Operation *op, StringRef what, Value parts, int64_t heads, int64_t width) {
  if (failed(expectActivations(op, what, parts)))
    return failure();
  if (shapeOf(parts).isDynamicDim(0))
    return op->emitOpError() << what << " is " << shapeOf(parts) << ", expected a known number of blocks";
  return expect(op, (what + " columns").str(), features(parts), PartsLayout(heads, width).columns());
}

static LogicalResult expectOneRow(Operation *op, StringRef what, Value data) {
  if (shapeOf(data).getDimSize(0) == 1)
    return success();
  return op->emitOpError() << what << " is " << shapeOf(data) << ", expected a single row";
}

// A head's queries are one task, and every block of keys leaves a row.
static LogicalResult verifySplit(AttentionOp op, int64_t block) {
  StateLayout state(cast<StateType>(op.getState().getType()));
  int64_t heads = op.getHeads(), group = heads / state.heads;
  if (failed(expectBlock(op, block)) || failed(expectOneRow(op, "queries", op.getQueries())))
    return failure();
  if (group > attentionRows)
    return op.emitOpError() << "splits the keys of " << group << " heads that share them, expected at most "
                            << attentionRows;
  if (failed(expectParts(op, "init", op.getInit(), heads, state.width)))
    return failure();
  int64_t blocks = llvm::divideCeil(state.panels * panelLanes, block);
  return expect(op, "row count of init", shapeOf(op.getInit()).getDimSize(0), blocks);
}

static LogicalResult verifyBias(AttentionOp op) {
  if (!op.getBias())
    return success();
  if (failed(expectStored(op, "bias", op.getBias(), 2)))
    return failure();
  if (failed(expect(op, "row count of the bias", shapeOf(op.getBias()).getDimSize(0), op.getHeads())))
    return failure();
  if (features(op.getBias()) % 2 != 0)
    return success();
  return op.emitOpError() << "width of the bias is " << features(op.getBias())
                          << ", expected an odd number of distances";
}

LogicalResult AttentionOp::verify() {
  auto state = cast<StateType>(getState().getType());
  int64_t heads = getHeads(), block = getBlock().value_or(0);
  if (failed(expectActivations(*this, "queries", getQueries())) ||
      failed(expectDivides(*this, "heads", heads, features(getQueries()))))
    return failure();
  if (heads % state.getHeads() != 0)
    return emitOpError() << "shares " << state.getHeads() << " key-value heads among " << heads << " heads";
  if (failed(expect(*this, "width of a head", features(getQueries()) / heads, state.getWidth())) ||
      failed(expectNatural(*this, "window", getWindow())) || failed(verifyBias(*this)))
    return failure();
  if (state.getRole() == StateRole::source && (getMask() != MaskKind::full || getWindow() > 0 || getBias()))
    return emitOpError("reads a source, whose keys have no order among the queries: expected the mask full, no window "
                       "and no bias");
  return getBlock() ? verifySplit(*this, block) : expectSameShape(*this, getQueries(), getInit());
}

LogicalResult CombineOp::verify() {
  int64_t heads = getHeads();
  if (failed(expectActivations(*this, "init", getInit())) || failed(expectOneRow(*this, "init", getInit())) ||
      failed(expectDivides(*this, "heads", heads, features(getInit()))) || failed(expectBlock(*this, getBlock())) ||
      failed(expectNatural(*this, "window", getWindow())))
    return failure();
  return expectParts(*this, "parts", getParts(), heads, features(getInit()) / heads);
}

//===--- rows -------------------------------------------------------------------------------------------------===//

LogicalResult NormOp::verify() {
  int64_t groups = getGroups();
  if (failed(expectSameShape(*this, getX(), getInit())) ||
      failed(expectDivides(*this, "groups", groups, features(getX()))))
    return failure();
  int64_t width = features(getX()) / groups;
  if (failed(expectVector(*this, "scale", getScale(), width)) ||
      (getBias() && failed(expectVector(*this, "bias", getBias(), width))))
    return failure();
  double epsilon = getEpsilon().convertToDouble();
  return epsilon >= 0 ? success() : emitOpError() << "epsilon is " << epsilon << ", expected a number >= 0";
}

LogicalResult SoftmaxOp::verify() {
  return expectSameShape(*this, getX(), getInit());
}

LogicalResult RopeOp::verify() {
  int64_t heads = getHeads();
  if (failed(expectSameShape(*this, getX(), getInit())) ||
      failed(expectDivides(*this, "heads", heads, features(getX()))) ||
      failed(expectStored(*this, "table", getTable(), 2)))
    return failure();
  int64_t width = features(getX()) / heads, rotary = features(getTable());
  if (rotary > 0 && rotary % 2 == 0 && rotary <= width)
    return success();
  return emitOpError() << "width of the table is " << rotary << ", expected an even number up to " << width
                       << ", the width of a head";
}

// Rows of a table, or rows of the step.
static LogicalResult verifyTable(GatherOp op) {
  if (op.getIndex() == GatherIndex::outputs)
    return expectActivations(op, "table", op.getTable());
  return shapeOf(op.getTable()).getRank() == 3 ? expectPanels(op, "table", op.getTable())
                                               : expectStored(op, "table", op.getTable(), 2);
}

LogicalResult GatherOp::verify() {
  if (failed(expectActivations(*this, "init", getInit())) || failed(verifyTable(*this)) ||
      failed(expectNatural(*this, "offset", getOffset())) || failed(expectNatural(*this, "output", getOutput())))
    return failure();
  return expect(*this, "width of init", features(getInit()), shapeOf(getTable()).getDimSize(1));
}

LogicalResult AppendOp::verify() {
  auto state = cast<StateType>(getState().getType());
  int64_t width = state.getHeads() * state.getWidth();
  if (failed(expectActivations(*this, "keys", getKeys())) || failed(expectActivations(*this, "values", getValues())) ||
      failed(expectRows(*this, "row count of the values", getValues(), getKeys())) ||
      failed(expect(*this, "width of the keys", features(getKeys()), width)))
    return failure();
  return expect(*this, "width of the values", features(getValues()), width);
}

}  // namespace talc::kernel
