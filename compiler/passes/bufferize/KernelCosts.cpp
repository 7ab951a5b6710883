// SPDX-License-Identifier: Apache-2.0
// Counts from shapes; every byte is counted once, as if caches were perfect.
#include "compiler/passes/bufferize/KernelCosts.h"

#include "dialects/kernel/KernelDialect.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace talc {

static int64_t elementBytes(Value buffer) {
  return cast<ShapedType>(buffer.getType()).getElementTypeBitWidth() / 8;
}
static int64_t size(Value buffer, int64_t dimension) {
  return cast<ShapedType>(buffer.getType()).getDimSize(dimension);
}
static int64_t rank(Value buffer) {
  return cast<ShapedType>(buffer.getType()).getRank();
}
// Of a buffer [rows, n].
static int64_t rowBytes(Value buffer) {
  return size(buffer, 1) * elementBytes(buffer);
}
// Of a weight.
static int64_t allBytes(Value buffer) {
  return cast<ShapedType>(buffer.getType()).getNumElements() * elementBytes(buffer);
}

// An operand is a row of activations, or a vector that serves every row.
static void addInput(KernelCosts &costs, Value input) {
  if (rank(input) == 1)
    costs.stored.perCall += allBytes(input);
  else
    costs.passed.perRow += rowBytes(input);
}

static KernelCosts costs(kernel::ContractOp op) {
  KernelCosts costs;
  int64_t columns = size(op.getInit(), 1) * (op.getGated() ? 2 : 1);
  costs.operations.perRow = 2 * columns * size(op.getX(), 1);
  costs.stored.perCall = allBytes(op.getWeight());
  costs.passed.perRow = rowBytes(op.getX()) + rowBytes(op.getInit());
  for (Value input : op.getInputs())
    addInput(costs, input);
  return costs;
}

// Two multiply-adds for every pair, head and element: the score, and the sum of values.
static KernelCosts costs(kernel::AttentionOp op) {
  KernelCosts costs;
  kernel::StateLayout layout(cast<StateType>(op.getState().getType()));
  costs.operations.perPair = 4 * op.getHeads() * layout.width;
  costs.stored.perKey = layout.bytesPerToken();
  costs.stored.perCall = op.getBias() ? allBytes(op.getBias()) : 0;
  costs.passed.perRow = 2 * rowBytes(op.getQueries());
  return costs;
}

// What it reads grows with the keys, but is little beside them: only the result is counted.
static KernelCosts costs(kernel::CombineOp op) {
  KernelCosts costs;
  costs.passed.perRow = rowBytes(op.getInit());
  return costs;
}

static KernelCosts costs(kernel::NormOp op) {
  KernelCosts costs;
  // rms: square, add, two multiplies; layer: also subtract the mean twice, add for it, add the bias.
  int64_t perElement = op.getKind() == NormKind::rms ? 4 : 8;
  costs.operations.perRow = perElement * size(op.getX(), 1);
  costs.stored.perCall = allBytes(op.getScale()) + (op.getBias() ? allBytes(op.getBias()) : 0);
  costs.passed.perRow = rowBytes(op.getX()) + rowBytes(op.getInit());
  return costs;
}

static KernelCosts costs(kernel::SoftmaxOp op) {
  KernelCosts costs;
  // Compare, subtract, exponential, add, multiply.
  costs.operations.perRow = 5 * size(op.getX(), 1);
  costs.passed.perRow = rowBytes(op.getX()) + rowBytes(op.getInit());
  return costs;
}

static KernelCosts costs(kernel::RopeOp op) {
  KernelCosts costs;
  // A pair of elements takes four multiplies, an add and a subtract.
  costs.operations.perRow = 3 * op.getHeads() * size(op.getTable(), 1);
  costs.stored.perRow = rowBytes(op.getTable());
  costs.passed.perRow = rowBytes(op.getX()) + rowBytes(op.getInit());
  return costs;
}

static KernelCosts costs(kernel::GatherOp op) {
  KernelCosts costs;
  int64_t read = size(op.getInit(), 1) * elementBytes(op.getTable());
  bool activations = op.getIndex() == kernel::GatherIndex::outputs;
  costs.stored.perRow = activations ? 0 : read;
  costs.passed.perRow = rowBytes(op.getInit()) + (activations ? read : 0);
  return costs;
}

static KernelCosts costs(kernel::AppendOp op) {
  KernelCosts costs;
  costs.passed.perRow = rowBytes(op.getKeys()) + rowBytes(op.getValues());
  costs.stored.perRow = kernel::StateLayout(cast<StateType>(op.getState().getType())).bytesPerToken();
  return costs;
}

static bool isArithmetic(Operation &op) {
  return isa_and_nonnull<arith::ArithDialect, math::MathDialect>(op.getDialect()) && !isa<arith::ConstantOp>(op);
}

static KernelCosts costs(linalg::GenericOp op) {
  KernelCosts costs;
  costs.operations.perRow = size(op.getOutputs()[0], 1) * llvm::count_if(*op.getBody(), isArithmetic);
  for (Value buffer : op->getOperands())
    if (isa<ShapedType>(buffer.getType()))
      addInput(costs, buffer);
  return costs;
}

static KernelCosts costs(memref::CopyOp op) {
  KernelCosts costs;
  costs.passed.perRow = rowBytes(op.getSource()) + rowBytes(op.getTarget());
  return costs;
}

KernelCosts costsOf(Operation *piece) {
  return llvm::TypeSwitch<Operation *, KernelCosts>(piece)
      .Case<kernel::ContractOp, kernel::AttentionOp, kernel::CombineOp, kernel::NormOp, kernel::SoftmaxOp,
            kernel::RopeOp, kernel::GatherOp, kernel::AppendOp, linalg::GenericOp, memref::CopyOp>(
          [](auto op) { return costs(op); })
      .Default([](Operation *) { return KernelCosts(); });
}

static std::string nameOf(Type type) {
  std::string text;
  llvm::raw_string_ostream(text) << type;
  return text;
}
static std::string elementName(Value buffer) {
  return nameOf(cast<ShapedType>(buffer.getType()).getElementType());
}

std::string shapesOf(Operation *piece) {
  std::string text;
  llvm::raw_string_ostream out(text);
  llvm::TypeSwitch<Operation *>(piece)
      .Case([&](kernel::ContractOp op) {
        out << size(op.getX(), 1) << " x " << (op.getGated() ? "2*" : "") << size(op.getInit(), 1) << " "
            << elementName(op.getWeight());
      })
      .Case([&](kernel::AttentionOp op) {
        auto state = cast<StateType>(op.getState().getType());
        out << op.getHeads() << "/" << state.getHeads() << " heads x " << state.getWidth();
        if (op.getWindow() > 0)
          out << " window " << op.getWindow();
        if (op.getBias())
          out << " bias";
      })
      .Case([&](kernel::CombineOp op) { out << op.getHeads() << " heads x " << size(op.getInit(), 1) / op.getHeads(); })
      .Case([&](kernel::NormOp op) {
        out << size(op.getX(), 1);
        if (op.getGroups() > 1)
          out << " in " << op.getGroups() << " groups";
      })
      .Case([&](kernel::SoftmaxOp op) { out << size(op.getX(), 1); })
      .Case([&](kernel::RopeOp op) { out << op.getHeads() << " heads x " << size(op.getX(), 1) / op.getHeads(); })
      .Case([&](kernel::GatherOp op) { out << size(op.getInit(), 1) << " " << elementName(op.getTable()); })
      .Case([&](kernel::AppendOp op) {
        auto state = cast<StateType>(op.getState().getType());
        out << state.getHeads() << " heads x " << state.getWidth();
      })
      .Case([&](linalg::GenericOp op) { out << size(op.getOutputs()[0], 1); })
      .Case([&](memref::CopyOp op) { out << size(op.getTarget(), 1); });
  return text;
}

// What an operand of an epilogue is: a vector, or a buffer with a row for each row of the result.
static bool isVectorInput(Operation *piece, BlockArgument argument) {
  size_t number = argument.getArgNumber();
  if (auto contract = dyn_cast<kernel::ContractOp>(piece))
    return rank(contract.getInputs()[number - (contract.getGated() ? 2 : 1)]) == 1;
  return rank(cast<linalg::GenericOp>(piece).getInputs()[number]) == 1;
}

// The value of another buffer that the op combines with what was computed so far.
static BlockArgument otherBuffer(Operation *piece, Operation &op) {
  auto contract = dyn_cast<kernel::ContractOp>(piece);
  unsigned own = contract ? (contract.getGated() ? 2 : 1) : 1;
  for (Value operand : op.getOperands())
    if (auto argument = dyn_cast<BlockArgument>(operand))
      if (argument.getOwner() == op.getBlock() && argument.getArgNumber() >= own)
        return argument;
  return {};
}

static std::string describe(Operation *piece, Operation &op) {
  if (auto activation = op.getAttrOfType<StringAttr>(activationAttr))
    return activation.str();
  BlockArgument other = otherBuffer(piece, op);
  if (isa<arith::AddFOp>(op) && other)
    return isVectorInput(piece, other) ? "bias" : "residual";
  if (isa<arith::MulFOp>(op) && other)
    return isVectorInput(piece, other) ? "scale" : "product";
  if (isa_and_nonnull<math::MathDialect>(op.getDialect()) && op.hasOneUse() && !isa<math::ExpOp, math::ErfOp>(op))
    return op.getName().stripDialect().str();
  return "";
}

std::string fusedInto(Operation *piece) {
  if (!isa<kernel::ContractOp, linalg::GenericOp>(piece))
    return "";
  SmallVector<std::string> parts;
  for (Operation &op : piece->getRegion(0).front())
    if (std::string part = describe(piece, op); !part.empty())
      parts.push_back(part);
  if (auto contract = dyn_cast<kernel::ContractOp>(piece); contract && contract.getGated())
    parts.push_back("gate");
  return llvm::join(parts, ", ");
}

}  // namespace talc
