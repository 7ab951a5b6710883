// SPDX-License-Identifier: Apache-2.0
// Builds row expressions from a copy of a kernel.
//
// Sums and maxima over a row are vector.reduction here, whose order hgen knows. In hgen, too, a chain begins with its
// neutral element, so that operations with it can be left out.
#include "compiler/passes/schedule/cpu/halide/RowExpressions.h"

#include "compiler/passes/schedule/MathPolynomials.h"
#include "compiler/passes/schedule/cpu/halide/HalideBuffers.h"
#include "compiler/passes/schedule/rows/RowLoops.h"
#include "compiler/passes/schedule/rows/RowWiseOps.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Dominance.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Transforms/CSE.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;

namespace talc {

namespace {

// Emits vectors that are whole rows.
class RowEmitter final : public Emitter {
public:
  using Emitter::Emitter;
  Value sumLanes(Value vector) override { return fold(vector, vector::CombiningKind::ADD); }
  Value maxLanes(Value vector) override { return fold(vector, vector::CombiningKind::MAXNUMF); }

private:
  Value fold(Value vector, vector::CombiningKind kind) {
    return broadcast(vector::ReductionOp::create(b, loc, kind, vector));
  }
};

// Columns that the op treats alike; none: it is not such an op.
std::optional<int64_t> expressionWidth(Operation *op) {
  return TypeSwitch<Operation *, std::optional<int64_t>>(op)
      .Case([](kernel::NormOp norm) { return rowWidth(norm.getX()) / norm.getGroups(); })
      .Case([](kernel::SoftmaxOp softmax) { return rowWidth(softmax.getX()); })
      .Case([](kernel::RopeOp rope) { return rowWidth(rope.getTable()) / 2; })
      .Case([](linalg::GenericOp generic) { return rowWidth(generic.getDpsInits()[0]); })
      .Default([](Operation *) { return std::nullopt; });
}

// hgen's name of an operation.
StringRef operationName(Operation *op) {
  if (auto compare = dyn_cast<arith::CmpFOp>(op))
    switch (compare.getPredicate()) {
    case arith::CmpFPredicate::OGT:
      return "gt";
    case arith::CmpFPredicate::OGE:
      return "ge";
    case arith::CmpFPredicate::OLT:
      return "lt";
    case arith::CmpFPredicate::OLE:
      return "le";
    case arith::CmpFPredicate::OEQ:
      return "eq";
    default:
      return "";
    }
  return TypeSwitch<Operation *, StringRef>(op)
      .Case<arith::AddFOp, arith::AddIOp>([](auto) { return "add"; })
      .Case([](arith::SubFOp) { return "sub"; })
      .Case([](arith::MulFOp) { return "mul"; })
      .Case([](arith::DivFOp) { return "div"; })
      .Case([](arith::NegFOp) { return "neg"; })
      .Case([](arith::ShLIOp) { return "shl"; })
      .Case([](arith::BitcastOp) { return "bits"; })
      .Case([](arith::SelectOp) { return "select"; })
      .Case<vector::FMAOp, math::FmaOp>([](auto) { return "fma"; })
      .Case([](math::SqrtOp) { return "sqrt"; })
      .Case([](math::AbsFOp) { return "abs"; })
      .Default([](Operation *) { return ""; });
}

// Writes the expressions of a block; `why` names the first one that hgen does not have.
class ExpressionWriter {
public:
  ExpressionWriter(RowExpressions &row, std::string &why) : row(row), why(why) {}

  void write(Block &block) {
    for (Operation &op : block)
      if (auto store = dyn_cast<vector::StoreOp>(op))
        lastStores[elementOf(store.getBase(), store.getIndices())] = store;
    for (Operation &op : block) {
      if (!isVectorOp(op))
        continue;
      row.work.push_back(&op);
      if (auto load = dyn_cast<vector::LoadOp>(op))
        writeLoad(load);
      else if (auto store = dyn_cast<vector::StoreOp>(op))
        writeStore(store);
      else if (!isMemoryEffectFree(&op))
        refuse("Halide's row expressions have no " + op.getName().getStringRef().str());
    }
  }

  static bool isVectorOp(Operation &op) {
    return llvm::any_of(op.getOperandTypes(), llvm::IsaPred<VectorType>) ||
           llvm::any_of(op.getResultTypes(), llvm::IsaPred<VectorType>);
  }

private:
  using Element = std::pair<Value, SmallVector<Value>>;
  static Element elementOf(Value base, ValueRange indices) { return {base, llvm::to_vector(indices)}; }
  struct Order {
    bool operator()(const Element &a, const Element &b) const {
      auto key = [](Value value) { return value.getAsOpaquePointer(); };
      return key(a.first) != key(b.first)
                 ? key(a.first) < key(b.first)
                 : std::lexicographical_compare(a.second.begin(), a.second.end(), b.second.begin(), b.second.end(),
                                                [&](Value x, Value y) { return key(x) < key(y); });
    }
  };

  void refuse(const std::string &reason) {
    if (why.empty())
      why = reason;
  }

  // Returns the index of the statement.
  int64_t addStatement(const std::string &statement) {
    row.code += (row.code.empty() ? "" : ";") + statement;
    return count++;
  }

  void writeLoad(vector::LoadOp load) {
    Element element = elementOf(load.getBase(), load.getIndices());
    if (auto entry = stored.find(element); entry != stored.end()) {
      statements[load.getResult()] = entry->second;
      return;
    }
    auto memory = cast<MemRefType>(load.getBase().getType());
    if (!hasStaticLayout(memory))
      return refuse("the strides of a buffer are unknown at compile time");
    if (llvm::any_of(stored, [&](const auto &other) { return other.first.first == element.first; }))
      return refuse("it reads a buffer that it also writes, in other rows");
    row.loads.push_back(load);
    statements[load.getResult()] = addStatement("load " + llvm::formatv("{0}", memory.getElementType()).str());
  }

  // Values that are overwritten later are intermediate ones that the op keeps there.
  void writeStore(vector::StoreOp store) {
    Element element = elementOf(store.getBase(), store.getIndices());
    int64_t value = statementOf(store.getValueToStore());
    auto memory = cast<MemRefType>(store.getBase().getType());
    if (lastStores[element] != store) {
      if (constexpr int64_t maxValues = 1 << 14; row.width > maxValues)  // on the stack
        refuse(llvm::formatv("it keeps {0} intermediate values, more than {1}", row.width, maxValues));
      stored[element] = statements[store.getValueToStore()] = addStatement(llvm::formatv("keep {0}", value));
      return;
    }
    if (!hasStaticLayout(memory) || !memory.getElementType().isF32())
      return refuse("the result is not a buffer of f32 with static strides");
    row.stores.push_back(store);
    stored[element] = value;
    addStatement(llvm::formatv("store {0}", value));
  }

  // The index of the statement that yields the value, which is added if it does not exist yet.
  int64_t statementOf(Value value) {
    if (auto entry = statements.find(value); entry != statements.end())
      return entry->second;
    Operation *op = value.getDefiningOp();
    int64_t index = op ? statementOf(op) : 0;
    if (!op)
      refuse("a value comes from outside of the row");
    return statements[value] = index;
  }

  int64_t statementOf(Operation *op) {
    Attribute constant;
    if (matchPattern(op, m_Constant(&constant)))
      return addConstant(constant);
    // Conversion to f32 is part of a load, and a reduced value is that of all columns.
    if (isa<arith::ExtFOp, vector::BroadcastOp>(op))
      return statementOf(op->getOperand(0));
    if (auto reduction = dyn_cast<vector::ReductionOp>(op)) {
      bool isSum = reduction.getKind() == vector::CombiningKind::ADD;
      int64_t operand = statementOf(withoutNeutral(reduction.getVector(), isSum));
      return addStatement((isSum ? "sum " : "max ") + std::to_string(operand));
    }
    std::string statement = operationName(op).str();
    if (statement.empty())
      refuse("Halide's row expressions have no " + op->getName().getStringRef().str());
    for (Value operand : op->getOperands())
      statement += " " + std::to_string(statementOf(operand));
    return addStatement(statement);
  }

  int64_t addConstant(Attribute constant) {
    if (auto splat = dyn_cast<SplatElementsAttr>(constant))
      constant = splat.getSplatValue<Attribute>();
    auto real = dyn_cast<FloatAttr>(constant);
    auto integer = dyn_cast<IntegerAttr>(constant);
    if (real && real.getType().isF32())
      return addStatement(llvm::formatv("f32 {0}", real.getValue().bitcastToAPInt().getZExtValue()));
    if (integer && integer.getType().isInteger(32))
      return addStatement(llvm::formatv("i32 {0}", integer.getInt()));
    refuse("Halide's row expressions have no such constants");
    return 0;
  }

  // x of an operation on x and the neutral element: chains over vectors end in such operations.
  static Value withoutNeutral(Value value, bool isSum) {
    auto isNeutral = [&](Value other) {
      llvm::APFloat number(0.0f);
      return matchPattern(other, m_ConstantFloat(&number)) &&
             (isSum ? number.isPosZero() : number.isInfinity() && number.isNegative());
    };
    Operation *op = value.getDefiningOp();
    Value x, y;
    if (auto sum = dyn_cast_or_null<arith::AddFOp>(op); sum && isSum)
      std::tie(x, y) = std::pair<Value, Value>(sum.getLhs(), sum.getRhs());
    if (auto larger = dyn_cast_or_null<arith::SelectOp>(op); larger && !isSum)
      std::tie(x, y) = std::pair<Value, Value>(larger.getTrueValue(), larger.getFalseValue());
    if (x && isNeutral(y))
      return withoutNeutral(x, isSum);
    return x && isNeutral(x) ? withoutNeutral(y, isSum) : value;
  }

  RowExpressions &row;
  std::string &why;
  int64_t count = 0;
  llvm::DenseMap<Value, int64_t> statements;  // the one that yields a value
  std::map<Element, int64_t, Order> stored;   // the one whose value a row of a buffer holds
  std::map<Element, vector::StoreOp, Order> lastStores;
};

}  // namespace

// The kernel's loops over rows and heads stay; those over columns have a single iteration, and go.
static void expandRows(func::FuncOp kernel, Operation *op, int64_t width) {
  OpBuilder builder(op);
  RowEmitter emitter(builder, op->getLoc(), width);
  findRowWiseOp(rowWiseOps, op)->expand(emitter, op);
  op->erase();
  RewritePatternSet patterns(kernel.getContext());
  scf::ForOp::getCanonicalizationPatterns(patterns, kernel.getContext());
  populateMathPolynomials(patterns, /*scalars=*/false);
  (void)applyPatternsGreedily(kernel, std::move(patterns));
  DominanceInfo dominance(kernel);
  IRRewriter rewriter(kernel.getContext());
  eliminateCommonSubExpressions(rewriter, dominance, kernel);
}

// The only block with work on vectors; constants may be anywhere.
static Block *findVectorBlock(func::FuncOp kernel, std::string &why) {
  Block *block = nullptr;
  kernel.walk([&](Operation *op) {
    if (op->hasTrait<OpTrait::ConstantLike>() || !ExpressionWriter::isVectorOp(*op) || block == op->getBlock())
      return;
    if (block)
      why = "several loops go over its columns";
    block = op->getBlock();
  });
  return block;
}

bool hasRowExpressions(Operation *op) {
  return expressionWidth(op).has_value();
}

std::optional<RowExpressions> buildRowExpressions(Operation *op, std::string &why) {
  std::optional<int64_t> width = expressionWidth(op);
  if (!width) {
    why = "Halide makes only matmuls, attention, norms, softmax, RoPE and elementwise ops";
    return std::nullopt;
  }
  RowExpressions row;
  row.width = *width;
  row.kernel = cast<func::FuncOp>(op->getParentOfType<func::FuncOp>()->clone());
  expandRows(*row.kernel, kernel::getTasks(*row.kernel).getComputeOp(), *width);
  if (Block *block = findVectorBlock(*row.kernel, why); block && why.empty())
    ExpressionWriter(row, why).write(*block);
  // hgen computes the rows of two results one after the other.
  for (Operation *load : row.loads)
    if (row.stores.size() > 1 && llvm::any_of(row.stores, [&](Operation *store) {
          return cast<vector::StoreOp>(store).getBase() == cast<vector::LoadOp>(load).getBase();
        }))
      why = "it has several results, and one of them overwrites an operand";
  if (why.empty() && row.stores.empty())
    why = "it has no columns";
  return why.empty() ? std::optional(std::move(row)) : std::nullopt;
}

}  // namespace talc
