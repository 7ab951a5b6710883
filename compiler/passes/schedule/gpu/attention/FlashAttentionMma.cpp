// SPDX-License-Identifier: Apache-2.0
// A tile of attention by MMA, for keys and values in f16 or bf16: each warp has 16 queries, and keeps the outputs of
// blocks of 64 keys in registers. Warps exchange nothing but fragmentsQ of queries.
//
//   S = Q * K:   16 features of all keys at once     columns of an instruction are keys
//   O = P * V:   16 keys of up to 64 features        columns of an instruction are features
//
// For heads wider than 64 several warps have the same queries: each computes all of P, and accumulates as many features
// of O as fit into registers.
//
// Q and P are split into two 16-bit values (SplitPrecision.h), whose products go into one sum. So results are those of
// f32 but for the last digits, as if keys and values had been converted to f32.
//
// Thread c of the four that have the rows g and g + 8 holds of S the columns 2c and 2c + 1, and of an operand P the
// columns 2c, 2c + 1, 2c + 8, 2c + 9. The order of keys is free, and chosen so that these are the same keys, which need
// no exchange between threads:
//
//   token of a panel         4c    4c + 1    4c + 2    4c + 3
//   instruction, column      0 2c  1 2c      0 2c + 1  1 2c + 1     so thread group g loads the tokens 2g, 2g + 1
//   column of P, row of V    2c    2c + 1    2c + 8    2c + 9
//
// Fragments of Q wait in shared memory, those of a thread side by side, since registers are for O.
//
// One token often has so few queries that they are in the rows g. Then the rows g + 8 are zeros, and their results are
// not stored.
#include "compiler/passes/schedule/gpu/WorkgroupOps.h"
#include "compiler/passes/schedule/gpu/attention/AttentionTile.h"
#include "compiler/passes/schedule/gpu/attention/MmaTilePlan.h"
#include "compiler/passes/schedule/gpu/attention/SplitPrecision.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/NVGPU/IR/NVGPUDialect.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace talc {

namespace {

using Atom = MmaSyncM16N8K16;
constexpr int64_t panels = workgroupKeys / Atom::k;       // of a block
constexpr int64_t panelInstructions = Atom::k / Atom::n;  // for the keys of a panel

class MmaTile final : public AttentionTile {
public:
  MmaTile(WorkgroupEmitter &e, kernel::AttentionOp op) : AttentionTile(e, op), plan(op), steps(layout.width / Atom::k) {
    fragmentsQ = e.shared({plan.tiles * steps * 2, Atom::threads * words()});
    for (int64_t first = 0, count = MmaTilePlan::maxWarpFeatures; first < plan.partWidth; first += count) {
      while (first + count > plan.partWidth)
        count /= 2;
      chunks.push_back({first, count / Atom::n});
    }
  }

  int64_t maxQueries() const override { return plan.queries(); }

  void loadQueries(Value source) override {
    end = endKey();
    for (int64_t r = 0; r < plan.threadRows; ++r)
      queries[r] = getQuery(queryIndex(r));
    auto loadQuery = [&](int64_t r, Value first, int64_t i) {
      Value column = e.add(e.mul(queries[r].head, layout.width), e.add(e.add(first, firstOfThread(0)), i));
      return e.loadScalar(source, {queries[r].row, column});
    };
    Values largest =
        e.loop(e.index(0), e.index(layout.width), Atom::k, zeros(plan.threadRows), [&](Value first, ValueRange before) {
          Values now(before);
          for (int64_t r = 0; r < plan.threadRows; ++r)
            for (int64_t i = 0; i < 4; ++i) {
              Value value = loadQuery(r, first, i), negative = e.subf(e.splat(0), value);
              now[r] = e.maxf(e.maxf(value, negative), now[r]);
            }
          return now;
        });
    Value scales[2];
    for (int64_t r = 0; r < plan.threadRows; ++r)
      std::tie(scales[r], scaleInverses[r]) =
          scalesForSplit(e, reduceOverColumns(largest[r], [&](Value x, Value y) { return e.maxf(x, y); }));
    // Queries are loaded again, since registers do not hold all of a wide head.
    storeFragments([&](Value step) {
      Values scaled[2] = {zeros(4), zeros(4)};
      for (int64_t r = 0; r < plan.threadRows; ++r)
        for (int64_t i = 0; i < 4; ++i)
          scaled[r][i] = e.mulf(loadQuery(r, e.mul(step, Atom::k), i), scales[r]);
      storeFragments(step, scaled[0], scaled[1]);
    });
  }

  // For the thread's rows: maxima, sums, then O by instructions, rows and columns.
  Values initialState() override {
    SoftmaxState empty = emptySoftmax(e);
    Values state(plan.threadRows, empty.maximum);
    state.append(plan.threadRows, empty.sum);
    state.append(zeros(plan.partWidth / 4 * plan.threadRows));
    return state;
  }

  Values addBlock(Value firstKey, ValueRange state) override {
    auto add = [&](bool isScattered) {
      return [&, isScattered]() -> Values { return addBlock(firstKey, state, isScattered); };
    };
    return e.either(
        e.less(firstRow(), count),
        [&]() -> Values {
          if (!mask.mayScatter())
            return addBlock(firstKey, state, false);
          return e.either(mask.isScattered(), add(true), add(false));
        },
        [&] { return Values(state); });
  }

  void storeOutput(ValueRange state) override {
    for (int64_t r = 0; r < plan.threadRows; ++r)
      e.when(e.less(queryIndex(r), count), [&] {
        Value factor = inverse(queryIndex(r), softmaxState(state, r));
        forEachOutput(state, r, [&](Value feature, Value value) {
          Value column = e.add(e.mul(queries[r].head, layout.width), feature);
          e.storeScalar(e.mulf(value, factor), op.getInit(), {queries[r].row, column});
        });
      });
  }

  void storePartial(ValueRange state, Value bufferRow) override {
    kernel::PartialAttentionLayout parts(op.getHeads(), layout.width);
    for (int64_t r = 0; r < plan.threadRows; ++r)
      e.when(e.less(queryIndex(r), count), [&] {
        Value head = queries[r].head;
        forEachOutput(state, r, [&](Value feature, Value value) {
          e.storeScalar(value, op.getInit(), {bufferRow, e.add(e.mul(head, parts.paddedWidth), feature)});
        });
        e.when(arith::AndIOp::create(e.b, e.loc, e.less(column(), e.index(1)), e.less(featurePart(), e.index(1))), [&] {
          e.storeScalar(softmaxState(state, r).maximum, op.getInit(), {bufferRow, e.add(head, parts.maxima)});
          e.storeScalar(softmaxState(state, r).sum, op.getInit(), {bufferRow, e.add(head, parts.sums)});
        });
      });
  }

private:
  // Neighboring features that are columns of as many instructions: `count` for each of 8 columns.
  struct Chunk {
    int64_t first, count;
  };

  Value lane() { return e.rem(e.thread(), Atom::threads); }
  Value warp() { return e.div(e.thread(), Atom::threads); }
  Value row() { return e.div(lane(), 4); }
  Value column() { return e.rem(lane(), 4); }
  Value featurePart() { return e.rem(warp(), plan.parts); }
  Value firstFeature() { return e.mul(featurePart(), plan.partWidth); }
  Value tile() { return e.div(warp(), plan.parts); }
  Value firstRow() { return e.mul(tile(), Atom::m); }
  Value queryIndex(int64_t r) { return e.add(e.add(firstRow(), row()), 8 * r); }
  // The first of the four features, or tokens, that the thread has of 16.
  Value firstOfThread(int64_t begin) { return e.add(e.mul(column(), 4), begin); }

  Values zeros(int64_t count) { return Values(count, e.splat(0)); }
  SoftmaxState softmaxState(ValueRange state, int64_t r) { return {state[r], state[plan.threadRows + r]}; }

  template <typename Combine> Value reduceOverColumns(Value value, Combine combine) {
    for (int64_t distance : {1, 2})
      value = combine(value, e.shuffleXor(value, distance));
    return value;
  }

  // Words of 32 bits that a thread stores of a fragment of the high parts, or of the low parts.
  int64_t words() { return 2 * plan.threadRows; }
  Values fragmentIndex(Value step, int64_t part) {
    return {e.add(e.mul(e.add(e.mul(tile(), steps), step), 2), part), e.mul(lane(), words())};
  }

  // Warps with the same queries each store the fragments of every n-th step.
  void storeFragments(llvm::function_ref<void(Value)> store) {
    if (plan.parts > 1)
      e.sync();  // all warps have read the queries before
    e.loop(plan.parts > 1 ? featurePart() : e.index(0), e.index(steps), e.index(plan.parts), store);
    if (plan.parts > 1)
      e.sync();
  }

  void storeFragments(Value step, ArrayRef<Value> upperRow, ArrayRef<Value> lowerRow) {
    auto [high, low] = splitFragmentA(e, upperRow, lowerRow, layout.keys);
    for (int64_t part = 0; part < 2; ++part) {
      Value fragment = packVector(e, part == 0 ? high : low);
      if (plan.threadRows == 1)
        fragment = vector::ShuffleOp::create(e.b, e.loc, fragment, fragment, ArrayRef<int64_t>{0, 1, 4, 5});
      fragment = vector::BitCastOp::create(e.b, e.loc, VectorType::get({words()}, e.b.getF32Type()), fragment);
      vector::StoreOp::create(e.b, e.loc, fragment, fragmentsQ, fragmentIndex(step, part), /*nontemporal=*/false,
                              llvm::MaybeAlign(4 * words()));
    }
  }

  Value loadFragment(Value step, int64_t part) {
    Value fragment = e.loadVector(fragmentsQ, fragmentIndex(step, part), words());
    fragment = vector::BitCastOp::create(e.b, e.loc, VectorType::get({2 * words()}, layout.keys), fragment);
    if (plan.threadRows == 1) {
      Value zero = arith::ConstantOp::create(e.b, e.loc, e.b.getZeroAttr(cast<VectorType>(fragment.getType())));
      fragment = vector::ShuffleOp::create(e.b, e.loc, fragment, zero, ArrayRef<int64_t>{0, 1, 4, 5, 2, 3, 6, 7});
    }
    return makeFragment(e, fragment);
  }

  // Adds the smaller products first.
  Value multiply(ArrayRef<Value> highLow, Value fragmentB, Value sum) {
    for (Value fragmentA : llvm::reverse(highLow))
      sum = e.gpu.mma->multiply(e.b, e.loc, fragmentA, fragmentB, sum);
    return sum;
  }

  Value zeroSum() {
    return arith::ConstantOp::create(e.b, e.loc, e.b.getZeroAttr(e.gpu.mma->accumulator(e.b.getContext())));
  }
  Value extract(Value sum, int64_t r, int64_t x) {
    return vector::ExtractOp::create(e.b, e.loc, sum, ArrayRef<int64_t>{r, x});
  }

  Values addBlock(Value firstKey, ValueRange before, bool isScattered) {
    Values products = multiplyKeys(firstKey, isScattered);
    Values maxima, sums, scales, weights[2] = {zeros(panels * 4), zeros(panels * 4)};
    SmallVector<MergedSoftmax> merged;
    for (int64_t r = 0; r < plan.threadRows; ++r) {
      SoftmaxState block = computeWeights(firstKey, products, r, weights[r]);
      merged.push_back(mergeSoftmax(e, softmaxState(before, r), block));
      maxima.push_back(merged[r].merged.maximum);
      sums.push_back(merged[r].merged.sum);
    }
    for (const MergedSoftmax &row : merged)
      scales.push_back(e.mulf(row.gain, e.splat(1.0 / (1 << scaleBits))));
    SmallVector<Values> fragmentsP;
    for (int64_t p = 0; p < panels; ++p) {
      auto [high, low] =
          splitFragmentA(e, ArrayRef(weights[0]).slice(4 * p, 4), ArrayRef(weights[1]).slice(4 * p, 4), layout.values);
      fragmentsP.push_back({makeFragment(e, packVector(e, high)), makeFragment(e, packVector(e, low))});
    }
    Values state(maxima);
    state.append(sums);
    for (const Chunk &chunk : chunks)
      for (Value sum : multiplyWeights(firstKey, fragmentsP, chunk, isScattered))
        for (int64_t i = 0; i < 2 * plan.threadRows; ++i)
          state.push_back(
              mergeSoftmax(e, before[state.size()], merged[i / 2].factor, extract(sum, i / 2, i % 2), scales[i / 2]));
    return state;
  }

  // S by panels and instructions. Where each token has a slot of its own, two panels at a time, since the addresses of
  // all panels would take too many registers. With many queries of a wide head ptxas would unroll both loops for sm_80.
  Values multiplyKeys(Value firstKey, bool isScattered) {
    const bool saveRegisters = isScattered && (plan.parts == 1 || plan.threadRows == 1);
    const int64_t count = saveRegisters ? panels / 2 : panels;
    Values products;
    for (int64_t first = 0; first < panels; first += count)
      products.append(multiplyKeys(firstKey, first, count, isScattered));
    return products;
  }

  Values multiplyKeys(Value firstKey, int64_t firstPanel, int64_t count, bool isScattered) {
    Values zeros(count * panelInstructions, zeroSum());
    Value last = e.div(e.sub(end, e.index(1)), layout.tokens), token = e.mul(row(), panelInstructions);
    Values panelIndices, sources[2];
    for (int64_t p = firstPanel; p < firstPanel + count; ++p) {
      panelIndices.push_back(kvIndex(e.min(e.add(e.div(firstKey, layout.tokens), p), last), token).panel);
      for (int64_t j = 0; j < panelInstructions; ++j) {
        Value slot = isScattered ? findSlot(clampKey(e.add(e.add(firstKey, p * Atom::k + j), token))) : mask.slot;
        sources[j].push_back(kernel::KeysOp::create(e.b, e.loc, layout.keysType(), op.getStep(), op.getCache(), slot));
      }
    }
    return e.loop(e.index(0), e.index(steps), 1, zeros, [&](Value step, ValueRange before) {
      Values fragmentsA = {loadFragment(step, 0), loadFragment(step, 1)}, next;
      for (int64_t p = 0; p < count; ++p) {
        Values vectors;
        for (int64_t i = 0; i < 4; ++i) {
          Values from = {panelIndices[p], keyHead, e.add(e.add(e.mul(step, Atom::k), firstOfThread(0)), i), token};
          vectors.push_back(isScattered ? loadFromTwoSlots(sources[0][p], sources[1][p], from)
                                        : e.loadVector(sources[0][p], from, panelInstructions));
        }
        for (int64_t j = 0; j < panelInstructions; ++j)
          next.push_back(multiply(fragmentsA, makeFragment(e, vectors, j), before[next.size()]));
      }
      return next;
    });
  }

  // Two neighboring tokens that are in different slots.
  Value loadFromTwoSlots(Value first, Value second, Values index) {
    Value firstValue = memref::LoadOp::create(e.b, e.loc, first, index);
    index.back() = e.add(index.back(), 1);
    Value secondValue = memref::LoadOp::create(e.b, e.loc, second, index);
    return packVector(e, {firstValue, secondValue});
  }

  Value clampKey(Value key) { return e.min(key, e.sub(end, e.index(1))); }

  // Distances have 32 bits, since registers are scarce.
  Value distance(Value from, Value to) {
    return arith::IndexCastOp::create(e.b, e.loc, e.b.getI32Type(), e.sub(to, from));
  }
  Value isBetween(Value begin, int64_t key, Value end) {
    Value constant = arith::ConstantIntOp::create(e.b, e.loc, key, 32);
    Value isAfterBegin = arith::CmpIOp::create(e.b, e.loc, arith::CmpIPredicate::sle, begin, constant);
    Value isBeforeEnd = arith::CmpIOp::create(e.b, e.loc, arith::CmpIPredicate::slt, constant, end);
    return arith::AndIOp::create(e.b, e.loc, isAfterBegin, isBeforeEnd);
  }

  // P of a row, by panels and tokens, times 2^15.
  SoftmaxState computeWeights(Value firstKey, ValueRange products, int64_t r, MutableArrayRef<Value> weights) {
    Value maximum = e.splat(maskedScore), sum;
    Values scores, visible;
    Value first = e.add(firstKey, firstOfThread(0)), begin = distance(first, queries[r].first),
          end = distance(first, queries[r].end);
    for (int64_t i = 0; i < panels * 4; ++i) {
      int64_t keyInBlock = i / 4 * Atom::k + i % 4;
      Value key = e.add(first, keyInBlock);
      Value product = e.mulf(extract(products[i / 4 * panelInstructions + i % 2], r, i % 4 / 2), scaleInverses[r]);
      visible.push_back(isBetween(begin, keyInBlock, end));
      scores.push_back(computeScore(queries[r], key, visible.back(), product));
      maximum = e.maxf(scores.back(), maximum);
    }
    maximum = reduceOverColumns(maximum, [&](Value x, Value y) { return e.maxf(x, y); });
    maximum = e.mulf(maximum, log2Scale());
    Value negativeMaximum = e.subf(e.splat(0), maximum);
    for (auto [score, isKeyVisible, scaled] : llvm::zip(scores, visible, weights)) {
      Value weight = e.select(isKeyVisible, exp2(e, e.fma(score, log2Scale(), negativeMaximum)), e.splat(0));
      sum = sum ? e.addf(sum, weight) : weight;
      scaled = e.mulf(weight, e.splat(1 << scaleBits));
    }
    return {maximum, reduceOverColumns(sum, [&](Value x, Value y) { return e.addf(x, y); })};
  }

  // P * V over the keys of the block, for the instructions of a chunk.
  Values multiplyWeights(Value firstKey, ArrayRef<Values> fragmentsP, const Chunk &chunk, bool isScattered) {
    Values sums(chunk.count, zeroSum());
    Value feature = e.add(firstFeature(), e.add(e.mul(row(), chunk.count), chunk.first));
    for (int64_t p = 0; p < panels; ++p) {
      Values vectors;
      for (int64_t i = 0; i < 4; ++i) {
        Value key = clampKey(e.add(e.add(firstKey, firstOfThread(p * Atom::k)), i)),
              slot = isScattered ? findSlot(key) : mask.slot;
        Value source = kernel::ValuesOp::create(e.b, e.loc, layout.valuesType(), op.getStep(), op.getCache(), slot);
        Value panel = kvIndex(e.div(key, layout.tokens), key).panel;
        vectors.push_back(e.loadVector(source, {panel, keyHead, e.rem(key, layout.tokens), feature}, chunk.count));
      }
      for (int64_t j = 0; j < chunk.count; ++j)
        sums[j] = multiply(fragmentsP[p], makeFragment(e, vectors, j), sums[j]);
    }
    return sums;
  }

  // Calls body(feature, value) for all values of O in a row of the thread.
  void forEachOutput(ValueRange state, int64_t r, llvm::function_ref<void(Value, Value)> body) {
    int64_t instruction = 0;
    for (const Chunk &chunk : chunks)
      for (int64_t j = 0; j < chunk.count; ++j, ++instruction)
        for (int64_t x = 0; x < 2; ++x) {
          Value feature = e.add(e.mul(e.add(e.mul(column(), 2), x), chunk.count), chunk.first + j);
          body(e.add(firstFeature(), feature), state[2 * (plan.threadRows * (1 + instruction) + r) + x]);
        }
  }

  const MmaTilePlan plan;
  const int64_t steps;  // of 16 features
  SmallVector<Chunk> chunks;
  Value fragmentsQ;        // in shared memory
  Query queries[2];        // of the thread: rows g and g + 8 of its warp
  Value scaleInverses[2];  // of their scores
  Value end;               // of the keys that any query sees
};

}  // namespace

// Where all warps have the same queries, and for a single token, ptxas would unroll the loop over keys for sm_80, and
// spill.
std::unique_ptr<AttentionTile> makeMmaTile(WorkgroupEmitter &e, kernel::AttentionOp op) {
  const MmaTilePlan plan(op);
  e.limits.keepLoops = plan.parts == MmaTilePlan::maxWarps || plan.threadRows == 1;
  return std::make_unique<MmaTile>(e, op);
}

}  // namespace talc
