// SPDX-License-Identifier: Apache-2.0
// Sums and maxima over a line are vector.reduction here, whose order hgen knows. The first operand of a chain is its
// neutral number there as well, so that operations with it can be left out.
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

// A vector is a line.
class LineEmitter final : public Emitter {
public:
  using Emitter::Emitter;
  Value sumLanes(Value vector) override { return fold(vector, vector::CombiningKind::ADD); }
  Value maxLanes(Value vector) override { return fold(vector, vector::CombiningKind::MAXNUMF); }

private:
  Value fold(Value vector, vector::CombiningKind kind) {
    return broadcast(vector::ReductionOp::create(b, loc, kind, vector));
  }
};

// Columns that the piece treats alike; none: it is no such piece.
std::optional<int64_t> widthOfLine(Operation *piece) {
  return TypeSwitch<Operation *, std::optional<int64_t>>(piece)
      .Case([](kernel::NormOp norm) { return rowWidth(norm.getX()) / norm.getGroups(); })
      .Case([](kernel::SoftmaxOp softmax) { return rowWidth(softmax.getX()); })
      .Case([](kernel::RopeOp rope) { return rowWidth(rope.getTable()) / 2; })
      .Case([](linalg::GenericOp generic) { return rowWidth(generic.getDpsInits()[0]); })
      .Default([](Operation *) { return std::nullopt; });
}

// hgen's words.
StringRef operationOf(Operation *op) {
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

// Writes the code of a block; the first thing that it cannot say stays in `why`.
class LineWriter {
public:
  LineWriter(RowExpressions &line, std::string &why) : line(line), why(why) {}

  void write(Block &block) {
    for (Operation &op : block)
      if (auto store = dyn_cast<vector::StoreOp>(op))
        lastStores[placeOf(store.getBase(), store.getIndices())] = store;
    for (Operation &op : block) {
      if (!isOfLine(op))
        continue;
      line.work.push_back(&op);
      if (auto load = dyn_cast<vector::LoadOp>(op))
        read(load);
      else if (auto store = dyn_cast<vector::StoreOp>(op))
        write(store);
      else if (!isMemoryEffectFree(&op))
        refuse("Halide's lines have no " + op.getName().getStringRef().str());
    }
  }

  static bool isOfLine(Operation &op) {
    return llvm::any_of(op.getOperandTypes(), llvm::IsaPred<VectorType>) ||
           llvm::any_of(op.getResultTypes(), llvm::IsaPred<VectorType>);
  }

private:
  using Place = std::pair<Value, SmallVector<Value>>;
  static Place placeOf(Value base, ValueRange indices) { return {base, llvm::to_vector(indices)}; }
  struct Order {
    bool operator()(const Place &a, const Place &b) const {
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

  int64_t say(const std::string &statement) {
    line.code += (line.code.empty() ? "" : ";") + statement;
    return count++;
  }

  void read(vector::LoadOp load) {
    Place place = placeOf(load.getBase(), load.getIndices());
    if (auto kept = stored.find(place); kept != stored.end()) {
      numbers[load.getResult()] = kept->second;
      return;
    }
    auto memory = cast<MemRefType>(load.getBase().getType());
    if (!haveKnownPlaces(memory))
      return refuse("a buffer's rows lie at unknown distances");
    if (llvm::any_of(stored, [&](const auto &other) { return other.first.first == place.first; }))
      return refuse("it reads a buffer that it writes elsewhere");
    line.read.push_back(load);
    numbers[load.getResult()] = say("load " + llvm::formatv("{0}", memory.getElementType()).str());
  }

  // What is overwritten later is an intermediate number that the piece keeps there.
  void write(vector::StoreOp store) {
    Place place = placeOf(store.getBase(), store.getIndices());
    int64_t number = numberOf(store.getValueToStore());
    auto memory = cast<MemRefType>(store.getBase().getType());
    if (lastStores[place] != store) {
      if (constexpr int64_t most = 1 << 14; line.width > most)  // on the stack
        refuse(llvm::formatv("it keeps {0} numbers, more than {1}", line.width, most));
      stored[place] = numbers[store.getValueToStore()] = say(llvm::formatv("keep {0}", number));
      return;
    }
    if (!haveKnownPlaces(memory) || !memory.getElementType().isF32())
      return refuse("the result is no buffer of f32 with rows at known distances");
    line.written.push_back(store);
    stored[place] = number;
    say(llvm::formatv("store {0}", number));
  }

  // Of the statement that yields the value, which is said now if it has not been.
  int64_t numberOf(Value value) {
    if (auto known = numbers.find(value); known != numbers.end())
      return known->second;
    Operation *op = value.getDefiningOp();
    int64_t number = op ? numberOf(op) : 0;
    if (!op)
      refuse("a number comes from outside of the line");
    return numbers[value] = number;
  }

  int64_t numberOf(Operation *op) {
    Attribute constant;
    if (matchPattern(op, m_Constant(&constant)))
      return sayConstant(constant);
    // Widening is part of a load, and all columns have what is folded.
    if (isa<arith::ExtFOp, vector::BroadcastOp>(op))
      return numberOf(op->getOperand(0));
    if (auto fold = dyn_cast<vector::ReductionOp>(op)) {
      bool adds = fold.getKind() == vector::CombiningKind::ADD;
      int64_t folded = numberOf(withoutNeutral(fold.getVector(), adds));
      return say((adds ? "sum " : "max ") + std::to_string(folded));
    }
    std::string statement = operationOf(op).str();
    if (statement.empty())
      refuse("Halide's lines have no " + op->getName().getStringRef().str());
    for (Value operand : op->getOperands())
      statement += " " + std::to_string(numberOf(operand));
    return say(statement);
  }

  int64_t sayConstant(Attribute constant) {
    if (auto splat = dyn_cast<SplatElementsAttr>(constant))
      constant = splat.getSplatValue<Attribute>();
    auto number = dyn_cast<FloatAttr>(constant);
    auto whole = dyn_cast<IntegerAttr>(constant);
    if (number && number.getType().isF32())
      return say(llvm::formatv("f32 {0}", number.getValue().bitcastToAPInt().getZExtValue()));
    if (whole && whole.getType().isInteger(32))
      return say(llvm::formatv("i32 {0}", whole.getInt()));
    refuse("Halide's lines have no such constants");
    return 0;
  }

  // x of an operation of x and the neutral number; such stand at the ends of the chains that are no vectors here.
  static Value withoutNeutral(Value value, bool adds) {
    auto isNeutral = [&](Value other) {
      llvm::APFloat number(0.0f);
      return matchPattern(other, m_ConstantFloat(&number)) &&
             (adds ? number.isPosZero() : number.isInfinity() && number.isNegative());
    };
    Operation *op = value.getDefiningOp();
    Value x, y;
    if (auto sum = dyn_cast_or_null<arith::AddFOp>(op); sum && adds)
      std::tie(x, y) = std::pair<Value, Value>(sum.getLhs(), sum.getRhs());
    if (auto larger = dyn_cast_or_null<arith::SelectOp>(op); larger && !adds)
      std::tie(x, y) = std::pair<Value, Value>(larger.getTrueValue(), larger.getFalseValue());
    if (x && isNeutral(y))
      return withoutNeutral(x, adds);
    return x && isNeutral(x) ? withoutNeutral(y, adds) : value;
  }

  RowExpressions &line;
  std::string &why;
  int64_t count = 0;
  llvm::DenseMap<Value, int64_t> numbers;
  std::map<Place, int64_t, Order> stored;
  std::map<Place, vector::StoreOp, Order> lastStores;
};

}  // namespace

// The kernel's loops over rows and heads stay; those over columns have a single turn, and go.
static void expandLines(func::FuncOp kernel, Operation *piece, int64_t width) {
  OpBuilder builder(piece);
  LineEmitter emitter(builder, piece->getLoc(), width);
  findRowWiseOp(rowWiseOps, piece)->expand(emitter, piece);
  piece->erase();
  RewritePatternSet patterns(kernel.getContext());
  scf::ForOp::getCanonicalizationPatterns(patterns, kernel.getContext());
  populateMathPolynomials(patterns, /*scalars=*/false);
  (void)applyPatternsGreedily(kernel, std::move(patterns));
  DominanceInfo dominance(kernel);
  IRRewriter rewriter(kernel.getContext());
  eliminateCommonSubExpressions(rewriter, dominance, kernel);
}

// The only block in which there is work on vectors; constants may stand anywhere.
static Block *blockOfLine(func::FuncOp kernel, std::string &why) {
  Block *found = nullptr;
  kernel.walk([&](Operation *op) {
    if (op->hasTrait<OpTrait::ConstantLike>() || !LineWriter::isOfLine(*op) || found == op->getBlock())
      return;
    if (found)
      why = "its columns are passed over in several places";
    found = op->getBlock();
  });
  return found;
}

bool hasRowExpressions(Operation *piece) {
  return widthOfLine(piece).has_value();
}

std::optional<RowExpressions> buildRowExpressions(Operation *piece, std::string &why) {
  std::optional<int64_t> width = widthOfLine(piece);
  if (!width) {
    why = "Halide makes contractions, attention, norms, softmax, rope and elementwise pieces only";
    return std::nullopt;
  }
  RowExpressions line;
  line.width = *width;
  line.kernel = cast<func::FuncOp>(piece->getParentOfType<func::FuncOp>()->clone());
  expandLines(*line.kernel, kernel::getTasks(*line.kernel).getComputeOp(), *width);
  if (Block *block = blockOfLine(*line.kernel, why); block && why.empty())
    LineWriter(line, why).write(*block);
  // Two results are written one after the other.
  for (Operation *load : line.read)
    if (line.written.size() > 1 && llvm::any_of(line.written, [&](Operation *store) {
          return cast<vector::StoreOp>(store).getBase() == cast<vector::LoadOp>(load).getBase();
        }))
      why = "it writes the buffer that it reads, in several places";
  if (why.empty() && line.written.empty())
    why = "it has no columns";
  return why.empty() ? std::optional(std::move(line)) : std::nullopt;
}

}  // namespace talc
