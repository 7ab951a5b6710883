// SPDX-License-Identifier: Apache-2.0
// A tile of attention by fused multiply-adds: the data of a thread changes three times in a block of 64 keys.
//
//   scores    S[q, key] = Q[q, :] * K[:, key]     a thread has a key and half of the queries
//   weights   P = 2^(c * S - m), m = max c * S    eight threads have a query, and each of them eight keys
//   outputs   O[q, f] = P[q, :] * V[:, f]         a thread has some features of some queries
//
// Q, and S and then P, are in shared memory. A row of S is padded by 8 values, so that threads of four queries use all
// 32 banks. Scores and outputs read one row of queries or weights, the same for all threads of a subgroup.
//
//   shared    Q[query][feature]   S[query][key, padding]   maxima, sums [query][8]   factors, gains, states [query]
//
// Sums over features and keys are in ascending order, those over the eight threads of a query in the order of threads:
// nothing depends on which queries share a tile, or how many. The weight of a masked key is 0; the last visible key is
// read in its place.
#include "compiler/passes/schedule/gpu/Tunables.h"
#include "compiler/passes/schedule/gpu/WorkgroupOps.h"
#include "compiler/passes/schedule/gpu/attention/AttentionTile.h"

#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace talc {

namespace {

constexpr int64_t maxTileQueries = 16, maxTileValues = 2560;  // queries, and values of Q in shared memory
constexpr int64_t vectorWidth = 4;                            // of a load from shared memory
constexpr int64_t unrolledKeys = 8, scatteredKeys = 4;        // V is loaded for so many keys at once
constexpr int64_t queryThreads = 8;                           // that compute the weights of a query
constexpr int64_t paddedKeys = workgroupKeys + 8;             // of a row of S

struct FmaTilePlan {
  explicit FmaTilePlan(kernel::AttentionOp op) {
    std::string problem;  // expand-workgroups has reported it
    *this = FmaTilePlan(op, getPlan(op), problem);
  }

  FmaTilePlan(kernel::AttentionOp op, kernel::PlanAttr given, std::string &problem) {
    kernel::KvLayout layout(cast<KvCacheType>(op.getCache().getType()));
    const bool hasOneToken = cast<ShapedType>(op.getQueries().getType()).getDimSize(0) == 1;
    width = layout.width;
    queries =
        hasOneToken ? std::min(maxTileQueries, static_cast<int64_t>(op.getHeads()) / layout.heads) : maxTileQueries;
    queries = static_cast<int64_t>(llvm::PowerOf2Ceil(queries));
    while (queries > 1 && queries * width > maxTileValues)
      queries /= 2;
    FmaAttentionTunables tunables = {queries};
    readTunables(given, tunables, problem);
    readTunables(given, occupancy, problem);
    if (problem.empty() && (!llvm::isPowerOf2_64(tunables.taskQueries) || tunables.taskQueries * width > maxTileValues))
      problem = llvm::formatv("task_queries is {0}, expected a power of two, at most {1} for heads of width {2}",
                              tunables.taskQueries, llvm::bit_floor(uint64_t(maxTileValues / width)), width);
    queries = tunables.taskQueries;
    parts = std::min<int64_t>(queries, 2);
    int64_t paddedWidth = static_cast<int64_t>(llvm::PowerOf2Ceil(width));
    columns = std::clamp(paddedWidth, std::max<int64_t>(32, threads() / queries), threads());
  }

  int64_t threads() const { return parts * workgroupKeys; }
  int64_t threadScores() const { return queries / parts; }
  int64_t threadQueries() const { return queries * columns / threads(); }  // whose outputs it has
  int64_t threadFeatures() const { return llvm::divideCeil(width, columns); }
  int64_t outputs() const { return threadQueries() * threadFeatures(); }
  int64_t featureStep() const { return width % vectorWidth == 0 ? vectorWidth : 1; }

  OccupancyTunables occupancy = {384};
  int64_t width, queries;
  int64_t parts;    // threads that share the queries of a key
  int64_t columns;  // threads that share the features of a query
};

class FmaTile final : public AttentionTile {
public:
  FmaTile(WorkgroupEmitter &e, kernel::AttentionOp op)
      : AttentionTile(e, op), plan(op), cache(ThreadKvAccess::create(e, layout)) {
    queries = e.shared({plan.queries, plan.width});
    scores = e.shared({plan.queries, paddedKeys});
    maxima = e.shared({plan.queries, queryThreads});
    sums = e.shared({plan.queries, queryThreads});
    factors = e.shared({2, plan.queries});
    states = e.shared({2, plan.queries});
  }

  int64_t maxQueries() const override { return plan.queries; }

  void loadQueries(Value source) override {
    e.sync();  // all threads have read the queries before
    e.loop(e.thread(), e.mul(count, plan.width), e.lanes, [&](Value index) {
      Value queryIndex = e.div(index, plan.width), feature = e.rem(index, plan.width);
      Query query = getQuery(queryIndex);
      Value value = e.loadScalar(source, {query.row, e.add(e.mul(query.head, plan.width), feature)});
      e.storeScalar(value, queries, {queryIndex, feature});
    });
    if (layout.sinkTokens == 0 || mask.isSinkRange())  // blocks of sink tokens come before all others
      whenFirst([&] { storeState(emptySoftmax(e)); });
    end = endKey();
  }

  // The thread's outputs.
  Values initialState() override { return Values(plan.outputs(), e.splat(0)); }

  Values addBlock(Value firstKey, ValueRange before) override {
    e.sync();  // all threads have read the weights before
    computeScores(firstKey);
    e.sync();
    computeWeights(firstKey);
    Values outputs = multiplyWeights(firstKey);
    for (int64_t i = 0; i < plan.outputs(); ++i)
      outputs[i] = mergeSoftmax(e, before[i], loadFactor(0, i / plan.threadFeatures()), outputs[i],
                                loadFactor(1, i / plan.threadFeatures()));
    return outputs;
  }

  void storeOutput(ValueRange state) override {
    e.sync();  // all threads have read the factors before
    whenFirst([&] { e.storeScalar(inverse(weightQuery(), loadState()), factors, {e.index(0), weightQuery()}); });
    e.sync();
    forEachOutput(state, [&](const Query &query, int64_t q, Value feature, Value value) {
      Value column = e.add(e.mul(query.head, plan.width), feature);
      e.storeScalar(e.mulf(value, loadFactor(0, q)), op.getInit(), {query.row, column});
    });
  }

  void storePartial(ValueRange state, Value bufferRow) override {
    kernel::PartialAttentionLayout partials(op.getHeads(), plan.width);
    forEachOutput(state, [&](const Query &query, int64_t, Value feature, Value value) {
      e.storeScalar(value, op.getInit(), {bufferRow, e.add(e.mul(query.head, partials.paddedWidth), feature)});
    });
    whenFirst([&] {
      Value head = getQuery(weightQuery()).head;
      SoftmaxState softmax = loadState();
      e.storeScalar(softmax.maximum, op.getInit(), {bufferRow, e.add(head, partials.maxima)});
      e.storeScalar(softmax.sum, op.getInit(), {bufferRow, e.add(head, partials.sums)});
    });
  }

private:
  // The query whose weights the thread computes, and the thread's index among its eight. Surplus threads compute those
  // of the last query.
  Value weightQuery() { return e.min(e.div(e.thread(), queryThreads), e.index(plan.queries - 1)); }
  Value weightThread() { return e.rem(e.thread(), queryThreads); }
  // Runs body() in one thread of each query.
  void whenFirst(llvm::function_ref<void()> body) {
    Value hasQuery = e.less(e.thread(), e.mul(count, queryThreads));
    Value isFirst = e.less(weightThread(), e.index(1));
    e.when(arith::AndIOp::create(e.b, e.loc, hasQuery, isFirst), body);
  }
  // The i-th query whose outputs the thread has.
  Value outputQuery(int64_t i) { return e.add(e.mul(e.div(e.thread(), plan.columns), plan.threadQueries()), i); }
  Value loadFactor(int64_t which, int64_t i) { return e.loadScalar(factors, {e.index(which), outputQuery(i)}); }

  void computeScores(Value firstKey) {
    Value keyInBlock = e.rem(e.thread(), keys), key = e.min(e.add(firstKey, keyInBlock), e.sub(end, e.index(1)));
    Value first = e.mul(e.div(e.thread(), keys), plan.threadScores());
    e.when(e.less(first, count), [&] {
      for (auto [i, product] : llvm::enumerate(multiplyKey(first, key)))
        e.storeScalar(product, scores, {e.add(first, static_cast<int64_t>(i)), keyInBlock});
    });
  }

  // The products of queries from `first` on with a key.
  Values multiplyKey(Value first, Value key) {
    Value source = cache->keys(op.getStep(), op.getCache(), findSlot(key));
    KvIndex index = kvIndex(e.div(key, layout.tokens), e.rem(key, layout.tokens));
    Values products(plan.threadScores(), e.splat(0));
    return e.loop(e.index(0), e.index(plan.width), plan.featureStep(), products, [&](Value k, ValueRange before) {
      Values next(before), values;
      for (int64_t s = 0; s < plan.featureStep(); ++s)
        values.push_back(cache->loadKey(source, index, e.add(k, s)));
      for (size_t i = 0; i < next.size(); ++i)
        next[i] = addProducts(next[i], queries, {e.add(first, static_cast<int64_t>(i)), k}, values);
      return next;
    });
  }

  // sum + values in shared memory, from an index on, times as many others, one after the other.
  Value addProducts(Value sum, Value shared, ValueRange index, ValueRange others) {
    auto size = static_cast<int64_t>(others.size()), count = std::min(size, vectorWidth);
    if (size == 1)  // SPIR-V has no vectors of one element
      return e.fma(e.loadScalar(shared, index), others[0], sum);
    for (int64_t first = 0; first < size; first += count) {
      Value vector = e.loadVector(shared, {index[0], e.add(index[1], first)}, count);
      for (int64_t i = 0; i < count; ++i)
        sum = e.fma(vector::ExtractOp::create(e.b, e.loc, vector, i), others[first + i], sum);
    }
    return sum;
  }

  // The softmax state of a query, which only the query's first thread reads and writes. It is in shared memory: in
  // registers it would be alive during all products, and ptxas would spill it.
  SoftmaxState loadState() {
    return {e.loadScalar(states, {e.index(0), weightQuery()}), e.loadScalar(states, {e.index(1), weightQuery()})};
  }
  void storeState(const SoftmaxState &state) {
    e.storeScalar(state.maximum, states, {e.index(0), weightQuery()});
    e.storeScalar(state.sum, states, {e.index(1), weightQuery()});
  }

  // Replaces scores by weights, and stores the factors that merge the outputs before with those of the block.
  void computeWeights(Value firstKey) {
    Value queryIndex = weightQuery(), thread = weightThread();
    Query query = getQuery(queryIndex), inBlock = maskInBlock(query, firstKey);
    Value maximum = e.splat(maskedScore);
    Values rowScores;
    for (int64_t i = 0; i < keys; i += queryThreads) {
      Value key = e.add(thread, i), product = e.loadScalar(scores, {queryIndex, key});
      rowScores.push_back(computeScore(query, e.add(firstKey, key), isVisible(inBlock, key), product));
      maximum = e.maxf(rowScores.back(), maximum);
    }
    maximum = reduceOverThreads(maximum, maxima, [&](Value x, Value y) { return e.maxf(x, y); });
    maximum = e.mulf(maximum, log2Scale());
    Value sum = storeWeights(inBlock, rowScores, maximum);
    whenFirst([&] {
      MergedSoftmax merge = mergeSoftmax(e, loadState(), {maximum, e.splat(0)});
      e.storeScalar(merge.factor, factors, {e.index(0), queryIndex});
      e.storeScalar(merge.gain, factors, {e.index(1), queryIndex});
    });
    sum = reduceOverThreads(sum, sums, [&](Value x, Value y) { return e.addf(x, y); });
    whenFirst([&] { storeState(mergeSoftmax(e, loadState(), {maximum, sum}).merged); });
  }

  // The keys that a query sees of a block, counted from its first key: such small indices take 32 bits, and the keys
  // of a thread would each be two registers.
  Query maskInBlock(Query query, Value firstKey) {
    for (Value *bound : {&query.first, &query.end})
      if (!isConstantIntValue(*bound, 0))
        *bound = e.min(e.max(e.sub(*bound, firstKey), e.index(0)), e.index(keys));
    return query;
  }

  // Stores the weights of the thread's keys, and returns their sum.
  Value storeWeights(const Query &inBlock, ValueRange rowScores, Value maximum) {
    Value sum, negativeMaximum = e.subf(e.splat(0), maximum);
    for (auto [i, score] : llvm::enumerate(rowScores)) {
      Value key = e.add(weightThread(), static_cast<int64_t>(i) * queryThreads);
      Value weight = exp2(e, e.fma(score, log2Scale(), negativeMaximum));
      weight = e.select(isVisible(inBlock, key), weight, e.splat(0));
      whenHasQuery([&] { e.storeScalar(weight, scores, {weightQuery(), key}); });
      sum = sum ? e.addf(sum, weight) : weight;
    }
    return sum;
  }

  // Runs body() in all threads but the surplus ones.
  void whenHasQuery(llvm::function_ref<void()> body) {
    if (plan.queries * queryThreads == plan.threads())
      return body();
    e.when(e.less(e.thread(), e.index(plan.queries * queryThreads)), body);
  }

  // Over the eight threads of a query, in each of them.
  Value reduceOverThreads(Value value, Value buffer, llvm::function_ref<Value(Value, Value)> combine) {
    whenHasQuery([&] { e.storeScalar(value, buffer, {weightQuery(), weightThread()}); });
    e.sync();
    Value result;
    for (int64_t i = 0; i < queryThreads; ++i) {
      Value vector = e.loadVector(buffer, {weightQuery(), e.index(i / vectorWidth * vectorWidth)}, vectorWidth);
      Value other = vector::ExtractOp::create(e.b, e.loc, vector, i % vectorWidth);
      result = result ? combine(result, other) : other;
    }
    return result;
  }

  // Where the keys of a sequence are in several slots, each key looks up its own. Then fewer are loaded at once, since
  // their addresses take registers; sums are the same.
  Values multiplyWeights(Value firstKey) {
    auto multiply = [&](bool isScattered) {
      return [&, isScattered]() -> Values { return multiplyWeights(firstKey, isScattered); };
    };
    return mask.mayScatter() ? e.either(mask.isScattered(), multiply(true), multiply(false)) : multiply(false)();
  }

  // Query by query the thread's features, keys ascending. Features beyond the last are computed as the last again.
  Values multiplyWeights(Value firstKey, bool isScattered) {
    const int64_t unroll = isScattered ? scatteredKeys : unrolledKeys;
    Values zeros(plan.outputs(), e.splat(0));
    Value last = e.sub(e.sub(end, firstKey), e.index(1)), keyCount = e.min(e.add(last, 1), e.index(keys));
    if (isScattered)
      keyCount = e.mul(e.ceilDiv(keyCount, unrolledKeys), unrolledKeys);
    return e.loop(e.index(0), keyCount, unroll, zeros, [&](Value k, ValueRange before) {
      Values next(before);
      SmallVector<Values> values(plan.threadFeatures());
      for (int64_t s = 0; s < unroll; ++s) {
        Value keyInBlock = e.min(e.add(k, s), last), key = e.add(firstKey, keyInBlock);
        Value source = cache->values(op.getStep(), op.getCache(), isScattered ? findSlot(key) : mask.slot);
        KvIndex index = kvIndex(e.div(e.add(firstKey, k), layout.tokens), e.rem(key, layout.tokens));
        for (int64_t f = 0; f < plan.threadFeatures(); ++f)
          values[f].push_back(cache->loadValue(source, index, e.min(featureIndex(f), e.index(plan.width - 1))));
      }
      for (size_t i = 0; i < next.size(); ++i)
        next[i] = addProducts(next[i], scores, {outputQuery(static_cast<int64_t>(i) / plan.threadFeatures()), k},
                              values[static_cast<int64_t>(i) % plan.threadFeatures()]);
      return next;
    });
  }

  Value featureIndex(int64_t i) { return e.add(e.rem(e.thread(), plan.columns), i * plan.columns); }

  // Calls body(query, i, feature, value) for all outputs of the thread, which belong to its i-th query.
  void forEachOutput(ValueRange outputs, llvm::function_ref<void(const Query &, int64_t, Value, Value)> body) {
    for (int64_t i = 0; i < plan.threadQueries(); ++i)
      e.when(e.less(outputQuery(i), count), [&] {
        Query query = getQuery(outputQuery(i));
        for (int64_t f = 0; f < plan.threadFeatures(); ++f)
          e.when(e.less(featureIndex(f), e.index(plan.width)),
                 [&] { body(query, i, featureIndex(f), outputs[i * plan.threadFeatures() + f]); });
      });
  }

  const FmaTilePlan plan;
  const std::unique_ptr<ThreadKvAccess> cache;
  Value queries, scores, maxima, sums, factors, states;  // in shared memory
  Value end;                                             // of the keys that any query sees
};

}  // namespace

std::unique_ptr<AttentionTile> makeFmaTile(WorkgroupEmitter &e, kernel::AttentionOp op) {
  return std::make_unique<FmaTile>(e, op);
}

int64_t fmaTileThreads(kernel::AttentionOp op) {
  return FmaTilePlan(op).threads();
}

int64_t fmaResidentThreads(kernel::AttentionOp op) {
  return FmaTilePlan(op).occupancy.residentThreads;
}

int64_t fmaTileQueries(kernel::AttentionOp op) {
  return FmaTilePlan(op).queries;
}

kernel::PlanAttr planByFma(kernel::AttentionOp op, const GpuFacts &, kernel::PlanAttr given, std::string &problem) {
  const FmaTilePlan plan(op, given, problem);
  return writePlan(op.getContext(), OccupancyTunables::parameters(), plan.occupancy,
                   writePlan(op.getContext(), FmaAttentionTunables::parameters(), {plan.queries}));
}

}  // namespace talc
