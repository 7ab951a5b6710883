// SPDX-License-Identifier: Apache-2.0
// attention-to-halide: replaces the two products of attention, in the kernels that assign-generators gave to Halide, by
// calls.
//
//   task: rows of a head     for each block of keys, chunk and tile of rows
//                              S = @scores(queries of the tile, keys)                code by Halide (hgen)
//                            S = softmax of S: masks, biases                      as in expand-attention
//                              P = @values(S, values, P)                             code by Halide
//
// A sum is one chain of multiply-adds, with k or keys ascending, as in register tiles, so that the bits are the same. A
// token that is alone in its sequence goes head by head.
#include "compiler/passes/Passes.h"
#include "compiler/passes/schedule/cpu/Isa.h"
#include "compiler/passes/schedule/cpu/attention/AttentionStrategies.h"
#include "compiler/passes/schedule/cpu/halide/HalideBuffers.h"
#include "compiler/passes/schedule/cpu/halide/HalideKernel.h"
#include "compiler/passes/schedule/cpu/matmul/RegisterTile.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

namespace talc {
#define GEN_PASS_DEF_ATTENTIONTOHALIDE
#include "compiler/passes/Passes.h.inc"
}  // namespace talc

using namespace mlir;
using namespace talc;

namespace {

// See tools/hgen/Attention.cpp.
DictionaryAttr describe(kernel::AttentionOp op, const IsaTraits &traits, StringRef kind, MemRefType stored,
                        StringRef size, int64_t sizeOf) {
  MLIRContext *context = op.getContext();
  kernel::KvLayout layout(cast<KvCacheType>(op.getCache().getType()));
  auto number = [&](StringRef key, int64_t value) { return integerEntry(context, key, value); };
  auto panels = [&](int64_t rows) { return AttentionTiles::widestTile(rows, traits, layout.tokens); };
  return DictionaryAttr::get(
      context, {stringEntry(context, "kind", kind), stringEntry(context, "element", elementFormat(stored).name),
                number("lanes", traits.lanes), number("panel", layout.tokens), number("rows", registerTileRows),
                number("panels", panels(registerTileRows)), number("panels_of_row", panels(1)), number(size, sizeOf)});
}

class ProductsByHalide final : public HeadProducts {
public:
  ProductsByHalide(AttentionLoops &loops, func::FuncOp scores, func::FuncOp values)
      : loops(loops), e(loops.e), layout(loops.keys.layout), scores(scores), values(values),
        buffers(e, {2, 3, 3, 2, 4, 3}),
        copied(loops.group > 1 ? e.stackBuffer({registerTileRows, layout.width}) : Value()) {}

  void computeScores(const HeadRows &rows, const QueryTile &tile, int64_t n, Value from, Value to) override {
    Value tokens = e.index(layout.tokens), width = e.index(layout.width), zero = e.index(0), one = e.index(1);
    Value first = e.div(from, layout.tokens), panels = e.sub(e.ceilDiv(to, layout.tokens), first);
    auto keys = memory(tile.block.keys);
    call(scores, {describeQueries(rows, tile, n),
                  buffers.fill(1, keys, {first, zero, zero}, {{tokens, one}, {width, tokens}, {panels, stride(keys)}}),
                  buffers.fill(2, memory(loops.softmax.scores), {tile.first, e.mul(first, layout.tokens)},
                               {{tokens, one}, {panels, tokens}, {e.index(n), stride(loops.softmax.scores)}})});
  }

  void addValues(const QueryTile &tile, int64_t n, Value from, Value to, const PartialEnds &ends) override {
    if (ends.isFirst)
      e.when(ends.isFirst, [&] {
        forEachVector(tile.first, n, [&](Value row, Value column) {
          e.store(e.splat(0), loops.tiles.partial, {row, column});
        });
      });
    Value tokens = e.index(layout.tokens), zero = e.index(0), one = e.index(1), rows = e.index(n);
    Value count = e.sub(to, from), first = e.div(from, layout.tokens), panels = e.ceilDiv(count, layout.tokens);
    Value columnPanels = e.index(layout.paddedWidth / layout.tokens), width = e.index(layout.paddedWidth);
    auto values = memory(tile.block.values);
    Value sums = buffers.fill(5, memory(loops.tiles.partial), {tile.first, zero},
                              {{tokens, one}, {columnPanels, tokens}, {rows, width}});
    call(this->values,
         {buffers.fill(3, memory(loops.softmax.scores), {tile.first, from},
                       {{count, one}, {rows, stride(loops.softmax.scores)}}),
          buffers.fill(4, values, {first, zero, zero},
                       {{tokens, one}, {columnPanels, tokens}, {tokens, width}, {panels, stride(values)}}),
          sums, sums});
    if (ends.isLast)
      e.when(ends.isLast, [&] {
        forEachVector(tile.first, n, [&](Value row, Value column) {
          ends.storeFinal(row, column, e.load(loops.tiles.partial, {row, column}));
        });
      });
  }

  bool hasTokenStrategy() const override { return false; }

private:
  // Runs the body for the vectors of P of n rows.
  void forEachVector(Value first, int64_t n, llvm::function_ref<void(Value row, Value column)> body) {
    e.loop(first, e.add(first, n), 1,
           [&](Value row) { e.columns(layout.paddedWidth, [&](Value column, Value) { body(row, column); }); });
  }

  static TypedValue<MemRefType> memory(Value value) { return cast<TypedValue<MemRefType>>(value); }
  Value stride(Value value) { return HalideBuffers::getLayout(e, memory(value)).strides.front(); }

  // Rows are tokens if each key-value head has one query head. Else those of a tile may be of several tokens, each with
  // its heads, and are copied side by side.
  Value describeQueries(const HeadRows &rows, const QueryTile &tile, int64_t n) {
    Value zero = e.index(0), one = e.index(1), width = e.index(layout.width);
    Emitter::Values queries = loops.queryViews(rows, tile, copied ? n : 1);
    if (!copied) {
      Value all = loops.keys.isSinkRange() ? loops.op.getSinkQueries() : loops.op.getQueries();
      return buffers.fill(0, memory(queries.front()), {zero}, {{width, one}, {e.index(n), stride(all)}});
    }
    for (int64_t r = 0; r < n; ++r)
      e.columns(layout.width, [&](Value column, Value mask) {
        e.store(e.load(queries[r], {column}, mask), copied, {e.index(r), column}, mask);
      });
    return buffers.fill(0, memory(copied), {zero, zero}, {{width, one}, {e.index(n), width}});
  }

  void call(func::FuncOp function, ArrayRef<Value> arguments) { func::CallOp::create(e.b, e.loc, function, arguments); }

  AttentionLoops &loops;
  Emitter &e;
  const kernel::KvLayout &layout;
  func::FuncOp scores, values;
  HalideBuffers buffers;
  Value copied;  // copies of queries; null: they are read where they lie
};

class AttentionKernel final : public HalideKernel {
public:
  AttentionKernel(kernel::AttentionOp op, kernel::TasksOp tasks, const IsaTraits &traits, const std::string &processor)
      : op(op), tasks(tasks), layout(cast<KvCacheType>(op.getCache().getType())),
        kernel(op->getParentOfType<func::FuncOp>()), traits(traits),
        scores(kernel, "_scores", processor, describe(op, traits, "scores", layout.keysType(), "depth", layout.width)),
        values(
            kernel, "_values", processor,
            describe(op, traits, "values", layout.valuesType(), "column_panels", layout.paddedWidth / layout.tokens)) {}

  SmallVector<HalideFunction *> functions() override { return {&scores, &values}; }

  void replace() override {
    OpBuilder builder(tasks);
    Emitter e(builder, op.getLoc(), traits);
    expandAttention(e, tasks, op, [&](AttentionLoops &loops) {
      return std::make_unique<ProductsByHalide>(loops, scores.declare(kernel, 3), values.declare(kernel, 4));
    });
  }

private:
  kernel::AttentionOp op;
  kernel::TasksOp tasks;
  const kernel::KvLayout layout;
  func::FuncOp kernel;
  const IsaTraits traits;
  HalideFunction scores, values;
};

struct AttentionToHalide : talc::impl::AttentionToHalideBase<AttentionToHalide> {
  using Base::Base;
  void runOnOperation() override {
    std::optional<IsaTraits> traits = getIsaTraits(getOperation(), lanes);
    auto make = [&](Operation *compute, std::unique_ptr<HalideKernel> &result) {
      auto op = dyn_cast<kernel::AttentionOp>(compute);
      kernel::TasksOp tasks = op ? getPlannedTasks(op) : kernel::TasksOp();
      if (tasks)
        result = std::make_unique<AttentionKernel>(op, tasks, *traits, processor);
      return success(!op || tasks);
    };
    if (!traits || !areValidKvCaches(getOperation(), traits->lanes) || failed(replaceByHalide(getOperation(), make)))
      signalPassFailure();
  }
};

}  // namespace
