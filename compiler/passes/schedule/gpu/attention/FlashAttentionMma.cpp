// SPDX-License-Identifier: Apache-2.0
// A tile of attention by matrix instructions, for keys and values in f16 or bf16: each subgroup has 16 queries, and
// keeps what blocks of 64 keys yield in registers. Subgroups exchange nothing but fragments of queries.
//
//   S = Q * K:   16 features of all keys at once     columns of an instruction are keys
//   P = W * V:   16 keys of up to 64 features        columns of an instruction are features
//
// Of heads wider than 64 several subgroups have the same queries: each finds all weights, and brings a part of the
// features of V together, as many as registers hold.
//
// Queries and weights become two numbers of 16 bits each (MatrixFactors.h), whose products go into one sum. So results
// are those of f32 but for the last digits, as if keys and values had been widened.
//
// Thread c of the four that have the rows g and g + 8 holds of S the columns 2c and 2c + 1, of a factor W the numbers
// 2c, 2c + 1, 2c + 8, 2c + 9. The order of keys is ours, so that these are the same keys, and none is exchanged:
//
//   a panel's token        4c    4c + 1    4c + 2    4c + 3
//   instruction, column    0 2c  1 2c      0 2c + 1  1 2c + 1     so thread group g loads the tokens 2g, 2g + 1
//   number of W and V      2c    2c + 1    2c + 8    2c + 9
//
// Fragments of queries wait in shared memory, each thread's side by side, since registers are for P.
//
// One token often has so few queries that the rows g have all of them. Then the rows g + 8 are zeros, of whose results
// nothing is kept.
#include "compiler/passes/schedule/gpu/WorkgroupOps.h"
#include "compiler/passes/schedule/gpu/attention/AttentionTile.h"
#include "compiler/passes/schedule/gpu/attention/SplitPrecision.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/NVGPU/IR/NVGPUDialect.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace talc {

namespace {

constexpr int64_t subgroup = 32, most = 4;                       // at most so many subgroups
constexpr int64_t rows = 16, columns = 8, depth = 16;            // of an instruction
constexpr int64_t panels = workgroupKeys / depth, perPanel = 2;  // of a block; instructions of a panel's keys
constexpr int64_t widestPart = 64;                               // features of V whose results registers hold

// How many subgroups divide the features of V among them, each with whole instructions; 0: no number does.
int64_t partsOf(int64_t width) {
  for (auto parts = static_cast<int64_t>(llvm::divideCeil(width, widestPart)); parts <= most; ++parts)
    if (width % (parts * columns) == 0)
      return parts;
  return 0;
}

struct Sizes {
  explicit Sizes(kernel::AttentionOp op) {
    kernel::KvLayout layout(cast<KvCacheType>(op.getCache().getType()));
    bool oneRow = cast<ShapedType>(op.getQueries().getType()).getDimSize(0) == 1;
    parts = partsOf(layout.width);
    partWidth = layout.width / parts;
    tiles = most / parts;
    const int64_t group = op.getHeads() / layout.heads;
    if (oneRow)
      tiles = std::min(tiles, static_cast<int64_t>(llvm::divideCeil(group, rows)));
    halves = oneRow && group <= rows / 2 ? 1 : 2;
  }

  int64_t subgroups() const { return tiles * parts; }
  int64_t queriesOfTile() const { return rows / 2 * halves; }
  int64_t queries() const { return tiles * queriesOfTile(); }

  int64_t parts, partWidth;  // of the features of V
  int64_t tiles;             // a subgroup's rows
  int64_t halves;            // of these that have queries: the rows g, and g + 8
};

class MmaTile final : public AttentionTile {
public:
  MmaTile(WorkgroupEmitter &e, kernel::AttentionOp op) : AttentionTile(e, op), sizes(op), steps(layout.width / depth) {
    fragments = e.shared({sizes.tiles * steps * 2, subgroup * words()});
    for (int64_t first = 0, count = widestPart; first < sizes.partWidth; first += count) {
      while (first + count > sizes.partWidth)
        count /= 2;
      chunks.push_back({first, count / columns});
    }
  }

  int64_t size() const override { return sizes.queries(); }

  void load(Value source) override {
    end = endKey();
    for (int64_t r = 0; r < sizes.halves; ++r)
      queries[r] = queryOf(numberOf(r));
    auto numberAt = [&](int64_t r, Value first, int64_t i) {
      Value column = e.add(e.mul(queries[r].head, layout.width), e.add(e.add(first, firstOf(0)), i));
      return e.loadScalar(source, {queries[r].row, column});
    };
    Values largest =
        e.loop(e.index(0), e.index(layout.width), depth, zeros(sizes.halves), [&](Value first, ValueRange before) {
          Values now(before);
          for (int64_t r = 0; r < sizes.halves; ++r)
            for (int64_t i = 0; i < 4; ++i) {
              Value number = numberAt(r, first, i), negative = e.subf(e.splat(0), number);
              now[r] = e.maxf(e.maxf(number, negative), now[r]);
            }
          return now;
        });
    Value powers[2];
    for (int64_t r = 0; r < sizes.halves; ++r)
      std::tie(powers[r], factors[r]) =
          powersOf(e, overColumns(largest[r], [&](Value x, Value y) { return e.maxf(x, y); }));
    // Numbers are loaded once more, since registers do not hold all of a wide head.
    storeFragments([&](Value step) {
      Values numbers[2] = {zeros(4), zeros(4)};
      for (int64_t r = 0; r < sizes.halves; ++r)
        for (int64_t i = 0; i < 4; ++i)
          numbers[r][i] = e.mulf(numberAt(r, e.mul(step, depth), i), powers[r]);
      storeFragments(step, numbers[0], numbers[1]);
    });
  }

  // Of rows with queries: maxima, sums, then P by instructions, rows and columns.
  Values nothing() override {
    SoftmaxState none = emptySoftmax(e);
    Values all(sizes.halves, none.maximum);
    all.append(sizes.halves, none.sum);
    all.append(zeros(sizes.partWidth / 4 * sizes.halves));
    return all;
  }

  Values addBlock(Value firstKey, ValueRange before) override {
    auto add = [&](bool scattered) {
      return [&, scattered]() -> Values { return addBlock(firstKey, before, scattered); };
    };
    return e.either(
        e.less(firstRow(), count),
        [&]() -> Values {
          if (!seen.mayScatter())
            return addBlock(firstKey, before, false);
          return e.either(seen.isScattered(), add(true), add(false));
        },
        [&] { return Values(before); });
  }

  void finish(ValueRange all) override {
    for (int64_t r = 0; r < sizes.halves; ++r)
      e.when(e.less(numberOf(r), count), [&] {
        Value factor = inverse(numberOf(r), weighedOf(all, r));
        eachValue(all, r, [&](Value feature, Value value) {
          Value column = e.add(e.mul(queries[r].head, layout.width), feature);
          e.storeScalar(e.mulf(value, factor), op.getInit(), {queries[r].row, column});
        });
      });
  }

  void leave(ValueRange all, Value at) override {
    kernel::PartialAttentionLayout parts(op.getHeads(), layout.width);
    for (int64_t r = 0; r < sizes.halves; ++r)
      e.when(e.less(numberOf(r), count), [&] {
        Value head = queries[r].head;
        eachValue(all, r, [&](Value feature, Value value) {
          e.storeScalar(value, op.getInit(), {at, e.add(e.mul(head, parts.paddedWidth), feature)});
        });
        e.when(arith::AndIOp::create(e.b, e.loc, e.less(column(), e.index(1)), e.less(part(), e.index(1))), [&] {
          e.storeScalar(weighedOf(all, r).maximum, op.getInit(), {at, e.add(head, parts.maxima)});
          e.storeScalar(weighedOf(all, r).sum, op.getInit(), {at, e.add(head, parts.sums)});
        });
      });
  }

private:
  // Neighbouring features that meet instructions of their own: so many for each of 8 columns.
  struct Chunk {
    int64_t first, count;
  };

  Value lane() { return e.rem(e.thread(), subgroup); }
  Value own() { return e.div(e.thread(), subgroup); }
  Value row() { return e.div(lane(), 4); }
  Value column() { return e.rem(lane(), 4); }
  Value part() { return e.rem(own(), sizes.parts); }
  Value firstFeature() { return e.mul(part(), sizes.partWidth); }
  Value tile() { return e.div(own(), sizes.parts); }
  Value firstRow() { return e.mul(tile(), rows); }
  Value numberOf(int64_t r) { return e.add(e.add(firstRow(), row()), 8 * r); }
  // The first of the thread's four features, or tokens, of 16.
  Value firstOf(int64_t begin) { return e.add(e.mul(column(), 4), begin); }

  Values zeros(int64_t count) { return Values(count, e.splat(0)); }
  SoftmaxState weighedOf(ValueRange all, int64_t r) { return {all[r], all[sizes.halves + r]}; }

  template <typename Combine> Value overColumns(Value value, Combine combine) {
    for (int64_t distance : {1, 2})
      value = combine(value, e.exchanged(value, distance));
    return value;
  }

  // Of 32 bits, that a thread has of a fragment of rows with queries: of the higher numbers, or of the lower ones.
  int64_t words() { return 2 * sizes.halves; }
  Values placeOfFragment(Value step, int64_t part) {
    return {e.add(e.mul(e.add(e.mul(tile(), steps), step), 2), part), e.mul(lane(), words())};
  }

  // Subgroups with the same queries store the fragments of every n-th step each.
  void storeFragments(llvm::function_ref<void(Value)> store) {
    if (sizes.parts > 1)
      e.sync();  // everyone has read the queries that were there before
    e.loop(sizes.parts > 1 ? part() : e.index(0), e.index(steps), e.index(sizes.parts), store);
    if (sizes.parts > 1)
      e.sync();
  }

  void storeFragments(Value step, ArrayRef<Value> upper, ArrayRef<Value> lower) {
    auto [high, low] = factorsOf(e, upper, lower, layout.keys);
    for (int64_t part = 0; part < 2; ++part) {
      Value all = together(e, part == 0 ? high : low);
      if (sizes.halves == 1)
        all = vector::ShuffleOp::create(e.b, e.loc, all, all, ArrayRef<int64_t>{0, 1, 4, 5});
      all = vector::BitCastOp::create(e.b, e.loc, VectorType::get({words()}, e.b.getF32Type()), all);
      vector::StoreOp::create(e.b, e.loc, all, fragments, placeOfFragment(step, part), /*nontemporal=*/false,
                              llvm::MaybeAlign(4 * words()));
    }
  }

  Value loadFragment(Value step, int64_t part) {
    Value all = e.loadTogether(fragments, placeOfFragment(step, part), words());
    all = vector::BitCastOp::create(e.b, e.loc, VectorType::get({2 * words()}, layout.keys), all);
    if (sizes.halves == 1) {
      Value none = arith::ConstantOp::create(e.b, e.loc, e.b.getZeroAttr(cast<VectorType>(all.getType())));
      all = vector::ShuffleOp::create(e.b, e.loc, all, none, ArrayRef<int64_t>{0, 1, 4, 5, 2, 3, 6, 7});
    }
    return fragmentOf(e, all);
  }

  // The smaller products first.
  Value multiply(ArrayRef<Value> highLow, Value other, Value sum) {
    for (Value factor : llvm::reverse(highLow))
      sum = nvgpu::MmaSyncOp::create(e.b, e.loc, factor, other, sum, ArrayRef<int64_t>{rows, columns, depth});
    return sum;
  }

  Value zeroSum() {
    return arith::ConstantOp::create(e.b, e.loc, e.b.getZeroAttr(VectorType::get({2, 2}, e.b.getF32Type())));
  }
  Value at(Value sum, int64_t r, int64_t x) {
    return vector::ExtractOp::create(e.b, e.loc, sum, ArrayRef<int64_t>{r, x});
  }

  Values addBlock(Value firstKey, ValueRange before, bool scattered) {
    Values products = multiplyKeys(firstKey, scattered);
    Values maxima, sums, scales, weights[2] = {zeros(panels * 4), zeros(panels * 4)};
    SmallVector<MergedSoftmax> now;
    for (int64_t r = 0; r < sizes.halves; ++r) {
      SoftmaxState found = weigh(firstKey, products, r, weights[r]);
      now.push_back(mergeSoftmax(e, weighedOf(before, r), found));
      maxima.push_back(now[r].merged.maximum);
      sums.push_back(now[r].merged.sum);
    }
    for (const MergedSoftmax &row : now)
      scales.push_back(e.mulf(row.gain, e.splat(1.0 / (1 << factorBits))));
    SmallVector<Values> factors;
    for (int64_t p = 0; p < panels; ++p) {
      auto [high, low] =
          factorsOf(e, ArrayRef(weights[0]).slice(4 * p, 4), ArrayRef(weights[1]).slice(4 * p, 4), layout.values);
      factors.push_back({fragmentOf(e, together(e, high)), fragmentOf(e, together(e, low))});
    }
    Values all(maxima);
    all.append(sums);
    for (const Chunk &chunk : chunks)
      for (Value sum : multiplyValues(firstKey, factors, chunk, scattered))
        for (int64_t i = 0; i < 2 * sizes.halves; ++i)
          all.push_back(mergeSoftmax(e, before[all.size()], now[i / 2].factor, at(sum, i / 2, i % 2), scales[i / 2]));
    return all;
  }

  // By panels and instructions. Where tokens lie in slots of their own, two panels at a time: registers are few, and
  // addresses of all would take many. Of the many queries of a wider head ptxas would unroll both loops for sm_80.
  Values multiplyKeys(Value firstKey, bool scattered) {
    const bool spares = scattered && (sizes.parts == 1 || sizes.halves == 1);
    const int64_t count = spares ? panels / 2 : panels;
    Values all;
    for (int64_t first = 0; first < panels; first += count)
      all.append(multiplyKeys(firstKey, first, count, scattered));
    return all;
  }

  Values multiplyKeys(Value firstKey, int64_t firstPanel, int64_t count, bool scattered) {
    Values none(count * perPanel, zeroSum());
    Value last = e.div(e.sub(end, e.index(1)), layout.tokens), token = e.mul(row(), perPanel);
    Values places, sources[2];
    for (int64_t p = firstPanel; p < firstPanel + count; ++p) {
      places.push_back(placeOf(e.min(e.add(e.div(firstKey, layout.tokens), p), last), token).panel);
      for (int64_t j = 0; j < perPanel; ++j) {
        Value slot = scattered ? slotOf(seenKey(e.add(e.add(firstKey, p * depth + j), token))) : seen.slot;
        sources[j].push_back(kernel::KeysOp::create(e.b, e.loc, layout.keysType(), op.getStep(), op.getCache(), slot));
      }
    }
    return e.loop(e.index(0), e.index(steps), 1, none, [&](Value step, ValueRange before) {
      Values factors = {loadFragment(step, 0), loadFragment(step, 1)}, next;
      for (int64_t p = 0; p < count; ++p) {
        Values lines;
        for (int64_t i = 0; i < 4; ++i) {
          Values from = {places[p], keyHead, e.add(e.add(e.mul(step, depth), firstOf(0)), i), token};
          lines.push_back(scattered ? loadApart(sources[0][p], sources[1][p], from)
                                    : e.loadTogether(sources[0][p], from, perPanel));
        }
        for (int64_t j = 0; j < perPanel; ++j)
          next.push_back(multiply(factors, fragmentOf(e, lines, j), before[next.size()]));
      }
      return next;
    });
  }

  // Two neighbouring tokens that lie in different slots.
  Value loadApart(Value first, Value second, Values from) {
    Value one = memref::LoadOp::create(e.b, e.loc, first, from);
    from.back() = e.add(from.back(), 1);
    Value other = memref::LoadOp::create(e.b, e.loc, second, from);
    return together(e, {one, other});
  }

  Value seenKey(Value key) { return e.min(key, e.sub(end, e.index(1))); }

  // In 32 bits: registers are few.
  Value distance(Value from, Value to) {
    return arith::IndexCastOp::create(e.b, e.loc, e.b.getI32Type(), e.sub(to, from));
  }
  Value isBetween(Value from, int64_t place, Value end) {
    Value number = arith::ConstantIntOp::create(e.b, e.loc, place, 32);
    Value isNotBefore = arith::CmpIOp::create(e.b, e.loc, arith::CmpIPredicate::sle, from, number);
    Value isNotBehind = arith::CmpIOp::create(e.b, e.loc, arith::CmpIPredicate::slt, number, end);
    return arith::AndIOp::create(e.b, e.loc, isNotBefore, isNotBehind);
  }

  // Weights of a row, by panels and tokens, times 2^15.
  SoftmaxState weigh(Value firstKey, ValueRange products, int64_t r, MutableArrayRef<Value> weights) {
    Value maximum = e.splat(maskedScore), sum;
    Values scores, isOnes;
    Value first = e.add(firstKey, firstOf(0)), from = distance(first, queries[r].first),
          to = distance(first, queries[r].end);
    for (int64_t i = 0; i < panels * 4; ++i) {
      int64_t place = i / 4 * depth + i % 4;
      Value key = e.add(first, place);
      Value product = e.mulf(at(products[i / 4 * perPanel + i % 2], r, i % 4 / 2), factors[r]);
      isOnes.push_back(isBetween(from, place, to));
      scores.push_back(scoreOf(queries[r], key, isOnes.back(), product));
      maximum = e.maxf(scores.back(), maximum);
    }
    maximum = overColumns(maximum, [&](Value x, Value y) { return e.maxf(x, y); });
    maximum = e.mulf(maximum, steepness());
    Value subtracted = e.subf(e.splat(0), maximum);
    for (auto [score, isOne, scaled] : llvm::zip(scores, isOnes, weights)) {
      Value weight = e.select(isOne, exp2(e, e.fma(score, steepness(), subtracted)), e.splat(0));
      sum = sum ? e.addf(sum, weight) : weight;
      scaled = e.mulf(weight, e.splat(1 << factorBits));
    }
    return {maximum, overColumns(sum, [&](Value x, Value y) { return e.addf(x, y); })};
  }

  // Sums of the chunk's instructions over the block's keys.
  Values multiplyValues(Value firstKey, ArrayRef<Values> factors, const Chunk &chunk, bool scattered) {
    Values sums(chunk.count, zeroSum());
    Value feature = e.add(firstFeature(), e.add(e.mul(row(), chunk.count), chunk.first));
    for (int64_t p = 0; p < panels; ++p) {
      Values lines;
      for (int64_t i = 0; i < 4; ++i) {
        Value key = seenKey(e.add(e.add(firstKey, firstOf(p * depth)), i)), slot = scattered ? slotOf(key) : seen.slot;
        Value source = kernel::ValuesOp::create(e.b, e.loc, layout.valuesType(), op.getStep(), op.getCache(), slot);
        Value place = placeOf(e.div(key, layout.tokens), key).panel;
        lines.push_back(e.loadTogether(source, {place, keyHead, e.rem(key, layout.tokens), feature}, chunk.count));
      }
      for (int64_t j = 0; j < chunk.count; ++j)
        sums[j] = multiply(factors[p], fragmentOf(e, lines, j), sums[j]);
    }
    return sums;
  }

  // body(feature, value) for all values of a row.
  void eachValue(ValueRange all, int64_t r, llvm::function_ref<void(Value, Value)> body) {
    int64_t instruction = 0;
    for (const Chunk &chunk : chunks)
      for (int64_t j = 0; j < chunk.count; ++j, ++instruction)
        for (int64_t x = 0; x < 2; ++x) {
          Value at = e.add(e.mul(e.add(e.mul(column(), 2), x), chunk.count), chunk.first + j);
          body(e.add(firstFeature(), at), all[2 * (sizes.halves * (1 + instruction) + r) + x]);
        }
  }

  const Sizes sizes;
  const int64_t steps;  // of 16 features
  SmallVector<Chunk> chunks;
  Value fragments;   // of queries, in shared memory
  Query queries[2];  // of the thread: the rows g, and g + 8, of its subgroup
  Value factors[2];  // of their products
  Value end;         // of the keys that any query sees
};

}  // namespace

// Where all subgroups have the same queries, ptxas would unroll what multiplies keys for sm_80, and spill; and for one
// token it would where that is a task.
std::unique_ptr<AttentionTile> tileByMatrices(WorkgroupEmitter &e, kernel::AttentionOp op) {
  if (Sizes(op).parts == most || Sizes(op).halves == 1)
    op->getParentOfType<func::FuncOp>()->setAttr(rolledAttr, e.b.getUnitAttr());
  return std::make_unique<MmaTile>(e, op);
}

std::string obstacleToMatrices(kernel::AttentionOp op) {
  kernel::KvLayout layout(cast<KvCacheType>(op.getCache().getType()));
  for (Type stored : {layout.keys, layout.values})
    if (!isa<FloatType>(stored) || getStorageFormat(stored)->byteSize(1) != 2)
      return "keys or values are " + std::string(getStorageFormat(stored)->name);
  if (layout.tokens != depth)
    return "panels of tokens are no " + std::to_string(depth);
  if (layout.width % depth != 0 || partsOf(layout.width) == 0)
    return "heads are " + std::to_string(layout.width) + " wide, which instructions of " + std::to_string(depth) +
           " features and up to " + std::to_string(most) + " subgroups do not divide";
  return "";
}

int64_t threadsOfMatrices(kernel::AttentionOp op) {
  return Sizes(op).subgroups() * subgroup;
}

std::string tileByMatrices(kernel::AttentionOp op) {
  Sizes sizes(op);
  kernel::KvLayout layout(cast<KvCacheType>(op.getCache().getType()));
  std::string formats(getStorageFormat(layout.keys)->name);
  if (layout.values != layout.keys)
    formats += " and " + std::string(getStorageFormat(layout.values)->name);
  std::string text = std::to_string(sizes.queries()) + " queries of a key-value head a task, by m16n8k16 of " +
                     formats + " twice; blocks of " + std::to_string(workgroupKeys) +
                     " keys in registers; a subgroup has " + std::to_string(sizes.queriesOfTile()) + " queries";
  return sizes.parts == 1 ? text : text + " and " + std::to_string(sizes.partWidth) + " features";
}

}  // namespace talc
