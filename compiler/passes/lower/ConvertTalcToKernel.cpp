// SPDX-License-Identifier: Apache-2.0
// convert-talc-to-kernel: lowers every talc op to a compute op of the kernel dialect or a linalg.generic, on tensors.
//
// Functions passed `!talc.sequences` and returned new tensors; now every function takes the running step first and
// writes its result into a tensor of the caller:
//
//   func @block(%x, %sequences, %w) -> tensor        func @block(%step, %x, %w, %out) -> tensor
//     %y = talc.linear %x, %w                   ->     %y = kernel.matmul %step, %x, %w into %empty
//     return %y                                        %r = materialize %y in %out;  return %r
#include "compiler/passes/PassRemarks.h"
#include "compiler/passes/Passes.h"
#include "compiler/passes/lower/TalcToKernel.h"
#include "dialects/kernel/KernelDialect.h"
#include "dialects/kernel/RecurrenceOps.h"
#include "dialects/talc/ModuleKeys.h"
#include "dialects/talc/RecurrenceOps.h"
#include "dialects/talc/gradients/Differentiable.h"

#include "mlir/Transforms/WalkPatternRewriteDriver.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"

namespace talc {
#define GEN_PASS_DEF_CONVERTTALCTOKERNEL
#include "compiler/passes/Passes.h.inc"
}  // namespace talc

using namespace mlir;
namespace kernel = talc::kernel;
using talc::emptyLike, talc::emptyTensor, talc::rowCount, talc::getStepArgument;

// A row of a table for every token of the step.
static Value gather(OpBuilder &builder, Operation *op, kernel::GatherIndex index, Value table, Type type,
                    int64_t offset = 0, IntegerAttr padding = {}, bool partial = false) {
  Location loc = op->getLoc();
  Value step = getStepArgument(op), rows = kernel::TokenCountOp::create(builder, loc, step);
  Value init = emptyTensor(builder, loc, type, rows);
  return kernel::GatherOp::create(builder, loc, type, index, step, table, init, offset, 0, padding, partial)
      .getResult(0);
}

// The tokens of x that are wanted for a result.
static Value gatherWanted(OpBuilder &builder, Operation *op, int64_t output, Value x, Type type) {
  Location loc = op->getLoc();
  Value step = getStepArgument(op), rows = kernel::OutputCountOp::create(builder, loc, step, output);
  Value init = emptyTensor(builder, loc, type, rows);
  auto index = kernel::GatherIndex::outputs;
  return kernel::GatherOp::create(builder, loc, type, index, step, x, init, 0, output, IntegerAttr(), false)
      .getResult(0);
}

namespace {

struct LowerGetWeight : OpRewritePattern<talc::GetWeightOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(talc::GetWeightOp op, PatternRewriter &rewriter) const override {
    rewriter.replaceOpWithNewOp<kernel::WeightOp>(op, op.getType(), getStepArgument(op), op.getNameAttr());
    return success();
  }
};

struct LowerGetState : OpRewritePattern<talc::GetKvCacheOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(talc::GetKvCacheOp op, PatternRewriter &rewriter) const override {
    rewriter.replaceOpWithNewOp<kernel::KvCacheOp>(op, op.getType(), op.getNameAttr());
    return success();
  }
};

// embedding(ids, table), position(sequences, table), token_type(sequences, table), select(x) -> gather
struct LowerEmbedding : OpRewritePattern<talc::EmbeddingOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(talc::EmbeddingOp op, PatternRewriter &rewriter) const override {
    auto first = static_cast<int64_t>(op.getFirst().value_or(0));
    rewriter.replaceOp(op, gather(rewriter, op, kernel::GatherIndex::ids, op.getTable(), op.getType(), -first,
                                  IntegerAttr(), op.getFirst().has_value()));
    return success();
  }
};

struct LowerPosition : OpRewritePattern<talc::PositionOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(talc::PositionOp op, PatternRewriter &rewriter) const override {
    // Tokens are counted from the first one of their sequence in the step.
    auto entry = op->getParentOfType<func::FuncOp>()->getAttrOfType<StringAttr>(talc::entryNameAttr);
    bool isWhole = entry && (entry.getValue() == talc::encodeEntry || entry.getValue() == talc::trainEntry);
    if (op.getIds() && !isWhole)
      return rewriter.notifyMatchFailure(op, "sequences may have begun in an earlier step");
    auto index = op.getIds() ? kernel::GatherIndex::counted : kernel::GatherIndex::positions;
    rewriter.replaceOp(op,
                       gather(rewriter, op, index, op.getTable(), op.getType(), op.getOffset(), op.getPaddingAttr()));
    return success();
  }
};

struct LowerTokenType : OpRewritePattern<talc::TokenTypeOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(talc::TokenTypeOp op, PatternRewriter &rewriter) const override {
    rewriter.replaceOp(op, gather(rewriter, op, kernel::GatherIndex::types, op.getTable(), op.getType()));
    return success();
  }
};

struct LowerSelect : OpRewritePattern<talc::SelectOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(talc::SelectOp op, PatternRewriter &rewriter) const override {
    rewriter.replaceOp(op, gatherWanted(rewriter, op, op.getOutput(), op.getX(), op.getType()));
    return success();
  }
};

struct LowerSlice : OpRewritePattern<talc::SliceOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(talc::SliceOp op, PatternRewriter &rewriter) const override {
    auto type = cast<RankedTensorType>(op.getType());
    OpFoldResult rows = rewriter.getIndexAttr(type.getDimSize(0));
    if (type.isDynamicDim(0))
      rows = rowCount(rewriter, op.getX());
    SmallVector<OpFoldResult> offsets = {rewriter.getIndexAttr(0), rewriter.getIndexAttr(op.getOffset())};
    SmallVector<OpFoldResult> sizes = {rows, rewriter.getIndexAttr(type.getDimSize(1))};
    SmallVector<OpFoldResult> strides(2, rewriter.getIndexAttr(1));
    rewriter.replaceOpWithNewOp<tensor::ExtractSliceOp>(op, type, op.getX(), offsets, sizes, strides);
    return success();
  }
};

// A matmul whose epilogue `body` builds from the sums and the inputs.
template <typename Body>
static Value buildContract(OpBuilder &builder, Location loc, Type type, Value x, Value weight, ValueRange inputs,
                           bool gated, int64_t groups, Body body) {
  Value init = emptyLike(builder, x, type);
  Value step = cast<func::FuncOp>(builder.getInsertionBlock()->getParentOp()).getArgument(0);
  auto matmul = kernel::MatmulOp::create(builder, loc, type, step, x, weight, inputs, init, gated, groups);
  OpBuilder::InsertionGuard guard(builder);
  SmallVector<Type> types(inputs.size() + (gated ? 2 : 1), builder.getF32Type());
  Block *block = builder.createBlock(&matmul.getEpilogue(), {}, types, SmallVector<Location>(types.size(), loc));
  Value result = body(builder, loc, block->getArguments());
  kernel::YieldOp::create(builder, loc, result);
  return matmul.getResult(0);
}

struct LowerLinear : OpRewritePattern<talc::LinearOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(talc::LinearOp op, PatternRewriter &rewriter) const override {
    if (cast<ShapedType>(op.getWeight().getType()).getRank() != 3)
      return rewriter.notifyMatchFailure(op, "the weight is not packed");
    SmallVector<Value> inputs;
    if (op.getBias())
      inputs.push_back(op.getBias());
    Value result = buildContract(rewriter, op.getLoc(), op.getType(), op.getX(), op.getWeight(), inputs, false,
                                 op.getGroups(), [&](OpBuilder &b, Location loc, ValueRange args) -> Value {
                                   return args.size() == 1 ? args[0] : arith::AddFOp::create(b, loc, args[0], args[1]);
                                 });
    rewriter.replaceOp(op, result);
    return success();
  }
};

// gated_linear(x, w) -> matmul with the epilogue activation(gate) * up
struct LowerGatedLinear : OpRewritePattern<talc::GatedLinearOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(talc::GatedLinearOp op, PatternRewriter &rewriter) const override {
    Value result = buildContract(rewriter, op.getLoc(), op.getType(), op.getX(), op.getWeight(), {}, true, /*groups=*/1,
                                 [&](OpBuilder &b, Location loc, ValueRange args) -> Value {
                                   Value gate = talc::activationBody(b, loc, op.getKind(), args[0]);
                                   return arith::MulFOp::create(b, loc, gate, args[1]);
                                 });
    rewriter.replaceOp(op, result);
    return success();
  }
};

struct LowerNorm : OpRewritePattern<talc::NormOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(talc::NormOp op, PatternRewriter &rewriter) const override {
    Value init = emptyLike(rewriter, op.getX(), op.getType());
    rewriter.replaceOpWithNewOp<kernel::NormOp>(op, op.getType(), getStepArgument(op), op.getX(), op.getScale(),
                                                op.getBias(), init, op.getKind(), op.getEpsilon(), op.getGroups());
    return success();
  }
};

// An op with one operand -> the compute op of the same name
template <typename SourceOp, typename ComputeOp> struct LowerRows : OpRewritePattern<SourceOp> {
  using OpRewritePattern<SourceOp>::OpRewritePattern;
  LogicalResult matchAndRewrite(SourceOp op, PatternRewriter &rewriter) const override {
    Value init = emptyLike(rewriter, op.getX(), op.getType());
    rewriter.replaceOpWithNewOp<ComputeOp>(op, op.getType(), getStepArgument(op), op.getX(), init);
    return success();
  }
};

struct LowerLogSoftmax : OpRewritePattern<talc::LogSoftmaxOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(talc::LogSoftmaxOp op, PatternRewriter &rewriter) const override {
    Value init = emptyLike(rewriter, op.getX(), op.getType());
    rewriter.replaceOpWithNewOp<kernel::LogSoftmaxOp>(op, op.getType(), getStepArgument(op), op.getX(), init,
                                                      op.getTails());
    return success();
  }
};

struct LowerRope : OpRewritePattern<talc::RopeOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(talc::RopeOp op, PatternRewriter &rewriter) const override {
    if (!op.getTable())
      return rewriter.notifyMatchFailure(op, "the rope has no table");
    Value init = emptyLike(rewriter, op.getX(), op.getType());
    rewriter.replaceOpWithNewOp<kernel::RopeOp>(op, op.getType(), getStepArgument(op), op.getX(), op.getTable(), init,
                                                op.getHeads(), op.getLast(), op.getDigits());
    return success();
  }
};

struct LowerJoin : OpRewritePattern<talc::JoinOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(talc::JoinOp op, PatternRewriter &rewriter) const override {
    Value init = emptyLike(rewriter, op.getX(), op.getType());
    rewriter.replaceOpWithNewOp<kernel::JoinOp>(op, op.getType(), getStepArgument(op), op.getX(), op.getY(), init,
                                                op.getHeads());
    return success();
  }
};

struct LowerAppend : OpRewritePattern<talc::KvAppendOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(talc::KvAppendOp op, PatternRewriter &rewriter) const override {
    rewriter.replaceOpWithNewOp<kernel::KvAppendOp>(op, getStepArgument(op), op.getCache(), op.getKeys(),
                                                    op.getValues());
    return success();
  }
};

// Whether keys are stored between the two operations, so that the attention would read others.
static bool storesBetween(Operation *first, Operation *last) {
  for (Operation *op = first; op && op != last; op = op->getNextNode())
    if (isa<talc::KvAppendOp, kernel::KvAppendOp, func::CallOp>(op))
      return true;
  return first->getBlock() != last->getBlock();
}

// attention(q, kv_read(cache)) -> attention over the cache, which is read by the attention. A window that is as long as
// any sequence is dropped.
struct LowerAttention : OpRewritePattern<talc::AttentionOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(talc::AttentionOp op, PatternRewriter &rewriter) const override {
    auto read = op.getKeys().getDefiningOp<talc::KvReadOp>();
    if (!read || read != op.getValues().getDefiningOp<talc::KvReadOp>() || op.getKeys() != read.getKeys() ||
        op.getValues() != read.getValues())
      return rewriter.notifyMatchFailure(op, "keys and values do not come from one KV cache");
    if (storesBetween(read, op))
      return rewriter.notifyMatchFailure(op, "the KV cache changes between its read and the attention");
    Value init = emptyLike(rewriter, op.getQueries(), op.getType());
    auto cache = cast<talc::KvCacheType>(read.getCache().getType());
    int64_t capacity = cache.getCapacity(), window = op.getWindow();
    bool windowed = window < capacity || cache.isRing() || op.getZeroStart();
    if (!windowed)
      talc::PassRemarks("lower", "convert-talc-to-kernel").did(op, [&] {
        return llvm::formatv("a window of {0} tokens is dropped: a sequence has at most {1}", window, capacity);
      });
    rewriter.replaceOpWithNewOp<kernel::AttentionOp>(
        op, op.getType(), getStepArgument(op), op.getQueries(), read.getCache(), op.getBias(), op.getSinks(),
        op.getSinkQueries(), op.getRowBias(), init, op.getMask(), op.getHeads(), op.getScale(), windowed ? window : 0,
        op.getCap(), op.getAbsolute(), op.getZeroStart(), /*block=*/IntegerAttr());
    return success();
  }
};

struct LowerMemory : OpRewritePattern<talc::MemoryOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(talc::MemoryOp op, PatternRewriter &rewriter) const override {
    Value init = emptyLike(rewriter, op.getQueries(), op.getType());
    rewriter.replaceOpWithNewOp<kernel::MemoryOp>(op, op.getType(), op.getUpdate(), getStepArgument(op), op.getLocal(),
                                                  op.getQueries(), op.getKeys(), op.getValues(), op.getCache(),
                                                  op.getGates(), init, op.getHeads(), op.getLocalFirst());
    return success();
  }
};

struct LowerCausalConv : OpRewritePattern<talc::CausalConvOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(talc::CausalConvOp op, PatternRewriter &rewriter) const override {
    Value init = emptyLike(rewriter, op.getX(), op.getType());
    rewriter.replaceOpWithNewOp<kernel::CausalConvOp>(op, op.getType(), getStepArgument(op), op.getX(), op.getWeight(),
                                                      op.getBias(), op.getState(), init, op.getActivationAttr());
    return success();
  }
};

struct LowerRecurrence : OpRewritePattern<talc::RecurrenceOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(talc::RecurrenceOp op, PatternRewriter &rewriter) const override {
    Value init = emptyLike(rewriter, op.getValues(), op.getType());
    rewriter.replaceOpWithNewOp<kernel::RecurrenceOp>(
        op, op.getType(), op.getUpdate(), getStepArgument(op), op.getQueries(), op.getKeys(), op.getValues(),
        op.getState(), op.getDecay(), op.getRates(), op.getFactors(), op.getSkip(), init);
    return success();
  }
};

struct LowerSelectiveScan : OpRewritePattern<talc::SelectiveScanOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(talc::SelectiveScanOp op, PatternRewriter &rewriter) const override {
    Value init = emptyLike(rewriter, op.getX(), op.getType());
    rewriter.replaceOpWithNewOp<kernel::SelectiveScanOp>(op, op.getType(), getStepArgument(op), op.getX(),
                                                         op.getSteps(), op.getInput(), op.getOutput(), op.getState(),
                                                         op.getRates(), op.getSkip(), init);
    return success();
  }
};

// An elementwise op -> linalg.generic with its scalar body (see ElementwiseBodies.cpp)
template <typename SourceOp> struct LowerElementwise : OpRewritePattern<SourceOp> {
  using OpRewritePattern<SourceOp>::OpRewritePattern;
  LogicalResult matchAndRewrite(SourceOp op, PatternRewriter &rewriter) const override {
    Value init = emptyLike(rewriter, op->getOperand(0), op.getType());
    SmallVector<AffineMap> maps(op->getNumOperands() + 1, rewriter.getMultiDimIdentityMap(2));
    SmallVector<utils::IteratorType> loops(2, utils::IteratorType::parallel);
    rewriter.replaceOpWithNewOp<linalg::GenericOp>(op, op->getResultTypes(), op->getOperands(), init, maps, loops,
                                                   [&](OpBuilder &b, Location loc, ValueRange args) {
                                                     linalg::YieldOp::create(
                                                         b, loc, talc::elementwiseBody(b, loc, op, args.drop_back()));
                                                   });
    return success();
  }
};

struct ConvertTalcToKernel : talc::impl::ConvertTalcToKernelBase<ConvertTalcToKernel> {
  void runOnOperation() override {
    if (failed(talc::describeInterface(getOperation())))
      return signalPassFailure();
    for (auto function : getOperation().getOps<func::FuncOp>())
      (void)function.insertArgument(0, kernel::StepType::get(&getContext()), {}, function.getLoc());
    getOperation().walk([](func::CallOp call) { call->insertOperands(0, getStepArgument(call)); });
    if (failed(convertOps()))
      return signalPassFailure();
    for (auto function : getOperation().getOps<func::FuncOp>())
      if (function->hasAttr(talc::entryAttr))
        storeResults(function);
      else
        passDestinations(function);
    dropArguments();
    getOperation().walk(tell);
  }

  // Counts the ops of each kind that a function has become.
  static void tell(func::FuncOp function) {
    talc::PassRemarks("lower", "convert-talc-to-kernel").did(function, [&] {
      llvm::MapVector<StringRef, int64_t> counts;
      function.walk([&](kernel::ComputeOpInterface op) { ++counts[op->getName().getStringRef()]; });
      auto text = [](auto &count) { return llvm::formatv("{1} {0}", count.first, count.second).str(); };
      return "becomes " + llvm::join(llvm::map_range(counts, text), ", ");
    });
  }

  LogicalResult convertOps() {
    MLIRContext *context = &getContext();
    RewritePatternSet patterns(context);
    patterns.add<LowerGetWeight, LowerGetState, LowerEmbedding, LowerPosition, LowerTokenType, LowerSelect, LowerSlice,
                 LowerLinear, LowerGatedLinear, LowerNorm, LowerRows<talc::SoftmaxOp, kernel::SoftmaxOp>,
                 LowerRows<talc::QuantizeOp, kernel::QuantizeOp>, LowerLogSoftmax, LowerRope, LowerJoin, LowerAppend,
                 LowerAttention, LowerMemory, LowerCausalConv, LowerRecurrence, LowerSelectiveScan,
                 LowerElementwise<talc::AddOp>, LowerElementwise<talc::MulOp>, LowerElementwise<talc::ScaleOp>,
                 LowerElementwise<talc::ClampOp>, LowerElementwise<talc::ActivationOp>,
                 LowerElementwise<talc::ActivationDgradOp>, LowerElementwise<talc::ClampDgradOp>>(context);
    talc::addExpertPatterns(patterns);
    talc::addGradientPatterns(patterns);
    walkAndApplyPatterns(getOperation(), std::move(patterns));
    getOperation().walk([](talc::KvReadOp read) {
      if (read->use_empty())
        read.erase();
    });
    WalkResult left = getOperation().walk([](Operation *op) {
      if (!isa<talc::TalcDialect>(op->getDialect()) || isa<talc::WeightOp, talc::KvCacheOp>(op))
        return WalkResult::advance();
      op->emitOpError("cannot be lowered in this form");
      return WalkResult::interrupt();
    });
    return failure(left.wasInterrupted());
  }

  // The caller's buffer has room for the wanted tokens; if the model does not select them itself, they are selected
  // here.
  static Value selectWanted(OpBuilder &builder, func::ReturnOp result, int64_t output) {
    Value value = result.getOperand(output);
    bool oneRow = cast<RankedTensorType>(value.getType()).hasStaticShape();
    if (oneRow || rowCount(builder, value).getDefiningOp<kernel::OutputCountOp>())
      return value;
    return gatherWanted(builder, result, output, value, value.getType());
  }

  // Every result of an entry is written to a buffer of the caller.
  static void storeResults(func::FuncOp function) {
    auto result = cast<func::ReturnOp>(function.front().getTerminator());
    OpBuilder builder(result);
    for (int64_t i = 0, count = result.getNumOperands(); i < count; ++i) {
      Value value = selectWanted(builder, result, i);
      auto type = cast<RankedTensorType>(value.getType());
      auto buffer = MemRefType::get(type.getShape(), type.getElementType());
      Value output = kernel::OutputOp::create(builder, result.getLoc(), buffer, getStepArgument(result), i);
      auto store = bufferization::MaterializeInDestinationOp::create(builder, result.getLoc(), value, output);
      store.setWritable(true);
      store.setRestrict(true);
    }
    result->setOperands({});
    function.setType(FunctionType::get(function.getContext(), function.getArgumentTypes(), {}));
  }

  // Each result of a block is written to a new argument behind the others.
  static void passDestinations(func::FuncOp function) {
    auto end = cast<func::ReturnOp>(function.front().getTerminator());
    if (end.getNumOperands() == 0)
      return;
    // Results that are equal to an argument are removed from private functions only.
    function.setPrivate();
    OpBuilder builder(end);
    for (OpOperand &result : end->getOpOperands()) {
      auto type = cast<RankedTensorType>(result.get().getType());
      (void)function.insertArgument(function.getNumArguments(), type, {}, function.getLoc());
      Value destination = function.getArguments().back();
      auto store =
          bufferization::MaterializeInDestinationOp::create(builder, end.getLoc(), type, result.get(), destination);
      result.set(store.getResult());
    }
  }

  // Calls pass destinations, and no longer sequences and token ids.
  void dropArguments() {
    auto dropped = [](Value value) {
      auto tensor = dyn_cast<RankedTensorType>(value.getType());
      return isa<talc::SequencesType>(value.getType()) || (tensor && tensor.getElementType().isInteger(32));
    };
    getOperation().walk([&](func::CallOp call) {
      OpBuilder builder(call);
      for (Type result : call.getResultTypes()) {
        Value rows = kernel::TokenCountOp::create(builder, call.getLoc(), getStepArgument(call));
        call->insertOperands(call->getNumOperands(), emptyTensor(builder, call.getLoc(), result, rows));
      }
      for (int64_t i = call->getNumOperands() - 1; i >= 0; --i)
        if (dropped(call->getOperand(i)))
          call->eraseOperand(i);
    });
    for (auto function : getOperation().getOps<func::FuncOp>())
      for (int64_t i = function.getNumArguments() - 1; i >= 0; --i)
        if (dropped(function.getArgument(i)))
          (void)function.eraseArgument(i);
  }
};

}  // namespace
