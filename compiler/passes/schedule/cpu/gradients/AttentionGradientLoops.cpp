// SPDX-License-Identifier: Apache-2.0
// The loops of kernel.attention_dgrad: a key-value head, for each sequence and each query of its heads.
//
//   first pass over the keys    maximum m, sum l of exp(z - m), and a of exp(z - m) * (gradient . value); mean = a / l
//   second pass                 p = exp(z - m) / l, d = p * (gradient . value - mean) * slope of z;
//                               dquery += d key, dkey += d query, dvalue += p gradient
//
// Keys are taken a vector at a time: each has a chain of products, whose lanes a transposition adds up.
#include "compiler/passes/schedule/cpu/gradients/GradientLoops.h"
#include "compiler/passes/schedule/rows/RowLoops.h"

#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;

namespace talc {

namespace {

constexpr double lowest = -1e30;  // of a score; its exponential is zero

class AttentionGradientLoops {
public:
  AttentionGradientLoops(Emitter &e, kernel::AttentionDgradOp op)
      : e(e), op(op), width(rowWidth(op.getQueries()) / static_cast<int64_t>(op.getHeads())),
        group(static_cast<int64_t>(op.getHeads() / op.getKvHeads())), kvHead(kernel::TasksOp::around(op).part(0)),
        keyColumn(e.mul(kvHead, width)), dkeyColumn(e.add(keyColumn, rowWidth(op.getQueries()))),
        dvalueColumn(e.add(dkeyColumn, rowWidth(op.getKeys()))) {}

  void expand() {
    setTaskCount(e, op, static_cast<int64_t>(op.getKvHeads()));
    Value spans = kernel::SpanCountOp::create(e.b, e.loc, op.getStep());
    e.loop(e.index(0), spans, 1, [&](Value s) {
      auto span = kernel::SpanOp::create(e.b, e.loc, op.getStep(), s);
      first = span.getFirstToken();
      end = e.add(first, span.getTokens());
      prefixEnd = e.add(first, span.getPrefix());
      clearKeys();
      e.loop(e.index(0), e.index(group), 1, [&](Value h) {
        queryColumn = e.mul(e.add(e.mul(kvHead, group), h), width);
        e.loop(first, end, 1, [&](Value query) { expandQuery(query); });
      });
    });
  }

private:
  using Values = Emitter::Values;

  // Runs body(part, column, mask) for every vector of a head's features.
  void eachPart(llvm::function_ref<void(int64_t, int64_t, Value)> body) {
    for (int64_t column = 0, part = 0; column < width; column += e.lanes, ++part)
      body(part, column, column + e.lanes > width ? e.firstLanes(width - column) : Value());
  }

  Values loadHead(Value data, Value row, Value column) {
    Values parts;
    eachPart([&](int64_t, int64_t at, Value mask) { parts.push_back(e.load(data, {row, e.add(column, at)}, mask)); });
    return parts;
  }

  void clearKeys() {
    e.loop(first, end, 1, [&](Value row) {
      for (Value column : {dkeyColumn, dvalueColumn})
        eachPart([&](int64_t, int64_t at, Value mask) {
          e.store(e.splat(0), op.getInit(), {row, e.add(column, at)}, mask);
        });
    });
  }

  // The rows of keys that the query sees.
  void setRange(Value query) {
    int64_t window = op.getWindow();
    firstKey = window > 0 ? e.max(first, e.sub(query, e.index(window - 1))) : first;
    Value next = e.add(query, 1);
    endKey = op.getMask() == MaskKind::causal ? next : end;
    if (op.getMask() == MaskKind::prefix)
      endKey = e.min(end, e.max(next, prefixEnd));
    if (op.getMask() != MaskKind::causal && window > 0)
      endKey = e.min(endKey, e.add(query, window));
  }

  // The row of a key of a vector; behind the last one, that again.
  Value keyRow(Value key, int64_t lane) { return e.min(e.add(key, lane), e.sub(endKey, e.index(1))); }

  // A vector of products of a head with the keys, or values, from `key` on.
  Value multiply(const Values &head, Value keys, Value key) {
    Values sums;
    for (int64_t lane = 0; lane < e.lanes; ++lane) {
      Value row = keyRow(key, lane), sum = e.splat(0);
      eachPart([&](int64_t part, int64_t at, Value mask) {
        sum = e.fma(head[part], e.load(keys, {row, e.add(keyColumn, at)}, mask), sum);
      });
      sums.push_back(sum);
    }
    Values lanes = e.transpose(sums);
    for (size_t count = lanes.size(); count > 1; count /= 2)
      for (size_t i = 0; i < count / 2; ++i)
        lanes[i] = e.addf(lanes[2 * i], lanes[2 * i + 1]);
    return lanes[0];
  }

  struct Scores {
    Value z, slope, products;  // of the keys that are seen; others have the lowest score
  };

  Scores score(const Values &query, const Values &gradient, Value key) {
    double scale = op.getScale().convertToDouble(), cap = op.getCap().convertToDouble();
    Scores scores;
    scores.z = e.mulf(multiply(query, op.getKeys(), key), e.splat(scale));
    scores.slope = e.splat(scale);
    if (cap > 0) {
      Value bent = math::TanhOp::create(e.b, e.loc, e.mulf(scores.z, e.splat(1 / cap)));
      scores.z = e.mulf(bent, e.splat(cap));
      scores.slope = e.mulf(e.subf(e.splat(1), e.mulf(bent, bent)), e.splat(scale));
    }
    scores.z = e.select(e.firstLanes(e.sub(endKey, key)), scores.z, e.splat(lowest));
    scores.products = multiply(gradient, op.getValues(), key);
    return scores;
  }

  Value exp(Value x) { return math::ExpOp::create(e.b, e.loc, x); }

  void expandQuery(Value query) {
    setRange(query);
    Values queries = loadHead(op.getQueries(), query, queryColumn);
    Values gradient = loadHead(op.getGradient(), query, queryColumn);
    Values folded = {e.splat(lowest), e.splat(0), e.splat(0)};
    folded = e.loop(firstKey, endKey, e.lanes, folded, [&](Value key, ValueRange before) -> Values {
      Scores scores = score(queries, gradient, key);
      Value highest = e.maxf(before[0], e.maxLanes(scores.z));
      Value factor = exp(e.subf(before[0], highest)), p = exp(e.subf(scores.z, highest));
      return {highest, e.fma(before[1], factor, p), e.fma(before[2], factor, e.mulf(p, scores.products))};
    });
    Value inverse = e.divf(e.splat(1), e.sumLanes(folded[1])), mean = e.mulf(e.sumLanes(folded[2]), inverse);
    Values dquery(queries.size(), e.splat(0));
    dquery = e.loop(firstKey, endKey, e.lanes, dquery, [&](Value key, ValueRange before) {
      Scores scores = score(queries, gradient, key);
      Value p = e.mulf(exp(e.subf(scores.z, folded[0])), inverse);
      Value d = e.mulf(e.mulf(p, e.subf(scores.products, mean)), scores.slope);
      Values sums(before);
      for (int64_t lane = 0; lane < e.lanes; ++lane)
        addKey(keyRow(key, lane), e.broadcast(e.lane(p, lane)), e.broadcast(e.lane(d, lane)), queries, gradient, sums);
      return sums;
    });
    eachPart([&](int64_t part, int64_t at, Value mask) {
      e.store(dquery[part], op.getInit(), {query, e.add(queryColumn, at)}, mask);
    });
  }

  // Adds what one key contributes to the gradients of the query, of itself, and of its value.
  void addKey(Value row, Value p, Value d, const Values &query, const Values &gradient, Values &dquery) {
    auto add = [&](Value factor, Value head, Value column, Value mask) {
      e.store(e.fma(factor, head, e.load(op.getInit(), {row, column}, mask)), op.getInit(), {row, column}, mask);
    };
    eachPart([&](int64_t part, int64_t at, Value mask) {
      dquery[part] = e.fma(d, e.load(op.getKeys(), {row, e.add(keyColumn, at)}, mask), dquery[part]);
      add(d, query[part], e.add(dkeyColumn, at), mask);
      add(p, gradient[part], e.add(dvalueColumn, at), mask);
    });
  }

  Emitter &e;
  kernel::AttentionDgradOp op;
  const int64_t width, group;
  const Value kvHead, keyColumn, dkeyColumn, dvalueColumn;
  Value first, end, prefixEnd;  // rows of the sequence
  Value queryColumn, firstKey, endKey;
};

}  // namespace

void expandAttentionDgrad(Emitter &e, kernel::AttentionDgradOp op) {
  AttentionGradientLoops(e, op).expand();
}

}  // namespace talc
