// SPDX-License-Identifier: Apache-2.0
// A tile of attention by multiply-adds of single numbers: what a thread has changes three times in a block of 64 keys.
//
//   products  S[q, key] = Q[q, :] * K[:, key]     a thread has a key and half of the queries
//   weights   S = 2^(c * S - m), m = max c * S    eight threads have a query, and each of them eight keys
//   values    P[q, f] = S[q, :] * V[:, f]         a thread has some features of some queries
//
// Q and S lie in shared memory. A line of S is 8 numbers longer than a block, so that threads of four queries meet all
// 32 banks; products and values read queries and weights of one line, the same for all threads of a subgroup.
//
//   shared    Q[query][feature]   S[query][key, 8 unused]   largest, sums [query][8]   factors, gains, met [query]
//
// Sums over features and keys ascend, those over the eight threads of a query go by their numbers: nothing depends on
// which queries share a tile, or how many. What is unseen has the weight 0; of its keys the last one that is seen is
// read again.
#include "compiler/passes/schedule/gpu/attention/AttentionTile.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace talc {

namespace {

constexpr int64_t most = 16, mostNumbers = 2560;      // queries, and what of them lies in shared memory
constexpr int64_t together = 4;                       // of a load from shared memory
constexpr int64_t keysAhead = 8, scatteredAhead = 4;  // whose values are loaded at once; where each looks for its slot
constexpr int64_t perQuery = 8, line = workgroupKeys + 8;  // threads that weigh; of S

struct Sizes {
  explicit Sizes(kernel::AttentionOp op) {
    kernel::KvLayout layout(cast<KvCacheType>(op.getCache().getType()));
    bool oneRow = cast<ShapedType>(op.getQueries().getType()).getDimSize(0) == 1;
    width = layout.width;
    queries = oneRow ? std::min(most, static_cast<int64_t>(op.getHeads()) / layout.heads) : most;
    queries = static_cast<int64_t>(llvm::PowerOf2Ceil(queries));
    while (queries > 1 && queries * width > mostNumbers)
      queries /= 2;
    parts = std::min<int64_t>(queries, 2);
    int64_t wide = static_cast<int64_t>(llvm::PowerOf2Ceil(width));
    columns = std::clamp(wide, std::max<int64_t>(32, threads() / queries), threads());
  }

  int64_t threads() const { return parts * workgroupKeys; }
  int64_t productsOfThread() const { return queries / parts; }
  int64_t queriesOfThread() const { return queries * columns / threads(); }  // whose values it has
  int64_t features() const { return llvm::divideCeil(width, columns); }      // of a thread
  int64_t values() const { return queriesOfThread() * features(); }
  int64_t step() const { return width % together == 0 ? together : 1; }

  int64_t width, queries;
  int64_t parts;    // of the queries
  int64_t columns;  // threads that have other features of the same queries
};

class FmaTile final : public AttentionTile {
public:
  FmaTile(WorkgroupEmitter &e, kernel::AttentionOp op)
      : AttentionTile(e, op), sizes(op), state(ThreadKvAccess::create(e, layout)) {
    queries = e.shared({sizes.queries, sizes.width});
    scores = e.shared({sizes.queries, line});
    largest = e.shared({sizes.queries, perQuery});
    sums = e.shared({sizes.queries, perQuery});
    factors = e.shared({2, sizes.queries});
    met = e.shared({2, sizes.queries});
  }

  int64_t size() const override { return sizes.queries; }

  void load(Value source) override {
    e.sync();  // everyone has read the queries that were there before
    e.loop(e.thread(), e.mul(count, sizes.width), e.lanes, [&](Value at) {
      Value number = e.div(at, sizes.width), feature = e.rem(at, sizes.width);
      Query query = queryOf(number);
      Value value = e.loadScalar(source, {query.row, e.add(e.mul(query.head, sizes.width), feature)});
      e.storeScalar(value, queries, {number, feature});
    });
    if (layout.sinkTokens == 0 || seen.isSinkRange())  // blocks of what is kept come before all others
      whenFirst([&] { keep(emptySoftmax(e)); });
    end = endKey();
  }

  // Values of the thread.
  Values nothing() override { return Values(sizes.values(), e.splat(0)); }

  Values addBlock(Value firstKey, ValueRange before) override {
    e.sync();  // everyone has read the weights that were there before
    multiplyKeys(firstKey);
    e.sync();
    weigh(firstKey);
    Values all = multiplyValues(firstKey);
    for (int64_t i = 0; i < sizes.values(); ++i)
      all[i] = mergeSoftmax(e, before[i], factorOf(0, i / sizes.features()), all[i], factorOf(1, i / sizes.features()));
    return all;
  }

  void finish(ValueRange all) override {
    e.sync();  // everyone has read the factors that were there before
    whenFirst([&] { e.storeScalar(inverse(weighed(), kept()), factors, {e.index(0), weighed()}); });
    e.sync();
    eachValue(all, [&](const Query &query, int64_t q, Value feature, Value value) {
      Value column = e.add(e.mul(query.head, sizes.width), feature);
      e.storeScalar(e.mulf(value, factorOf(0, q)), op.getInit(), {query.row, column});
    });
  }

  void leave(ValueRange all, Value at) override {
    kernel::PartialAttentionLayout parts(op.getHeads(), sizes.width);
    eachValue(all, [&](const Query &query, int64_t, Value feature, Value value) {
      e.storeScalar(value, op.getInit(), {at, e.add(e.mul(query.head, parts.paddedWidth), feature)});
    });
    whenFirst([&] {
      Value head = queryOf(weighed()).head;
      SoftmaxState all = kept();
      e.storeScalar(all.maximum, op.getInit(), {at, e.add(head, parts.maxima)});
      e.storeScalar(all.sum, op.getInit(), {at, e.add(head, parts.sums)});
    });
  }

private:
  // The query that the thread weighs, and which of its eight threads this is. Threads that are too many weigh the last.
  Value weighed() { return e.min(e.div(e.thread(), perQuery), e.index(sizes.queries - 1)); }
  Value partOfWeighed() { return e.rem(e.thread(), perQuery); }
  // body() in one thread of each query.
  void whenFirst(llvm::function_ref<void()> body) {
    Value isOwn = e.less(e.thread(), e.mul(count, perQuery));
    Value isFirst = e.less(partOfWeighed(), e.index(1));
    e.when(arith::AndIOp::create(e.b, e.loc, isOwn, isFirst), body);
  }
  // The i-th query whose values the thread has.
  Value valued(int64_t i) { return e.add(e.mul(e.div(e.thread(), sizes.columns), sizes.queriesOfThread()), i); }
  Value factorOf(int64_t which, int64_t i) { return e.loadScalar(factors, {e.index(which), valued(i)}); }

  void multiplyKeys(Value firstKey) {
    Value place = e.rem(e.thread(), keys), key = e.min(e.add(firstKey, place), e.sub(end, e.index(1)));
    Value first = e.mul(e.div(e.thread(), keys), sizes.productsOfThread());
    e.when(e.less(first, count), [&] {
      for (auto [i, product] : llvm::enumerate(productsOf(first, key)))
        e.storeScalar(product, scores, {e.add(first, static_cast<int64_t>(i)), place});
    });
  }

  // Of queries from `first` on with a key.
  Values productsOf(Value first, Value key) {
    Value source = state->keys(op.getStep(), op.getCache(), slotOf(key));
    KvIndex at = placeOf(e.div(key, layout.tokens), e.rem(key, layout.tokens));
    Values products(sizes.productsOfThread(), e.splat(0));
    return e.loop(e.index(0), e.index(sizes.width), sizes.step(), products, [&](Value k, ValueRange before) {
      Values next(before), factors, rows;
      for (int64_t s = 0; s < sizes.step(); ++s)
        factors.push_back(state->loadKey(source, at, e.add(k, s)));
      for (size_t i = 0; i < next.size(); ++i)
        next[i] = addProducts(next[i], queries, {e.add(first, static_cast<int64_t>(i)), k}, factors);
      return next;
    });
  }

  // sum + what lies in shared memory from a place on, times as many factors, one after the other.
  Value addProducts(Value sum, Value shared, ValueRange at, ValueRange others) {
    auto all = static_cast<int64_t>(others.size()), count = std::min(all, together);
    if (all == 1)  // SPIR-V has no vectors of one number
      return e.fma(e.loadScalar(shared, at), others[0], sum);
    for (int64_t first = 0; first < all; first += count) {
      Value some = e.loadTogether(shared, {at[0], e.add(at[1], first)}, count);
      for (int64_t i = 0; i < count; ++i)
        sum = e.fma(vector::ExtractOp::create(e.b, e.loc, some, i), others[first + i], sum);
    }
    return sum;
  }

  // What the query that the thread weighs has met, for the first thread of the query, which alone reads and writes it.
  // Between blocks it waits in shared memory: in registers it would be there during all products, and ptxas would
  // rather keep it in local memory.
  SoftmaxState kept() {
    return {e.loadScalar(met, {e.index(0), weighed()}), e.loadScalar(met, {e.index(1), weighed()})};
  }
  void keep(const SoftmaxState &all) {
    e.storeScalar(all.maximum, met, {e.index(0), weighed()});
    e.storeScalar(all.sum, met, {e.index(1), weighed()});
  }

  // Products become weights. For whoever has values, the factors by which those before and the new ones are brought
  // together.
  void weigh(Value firstKey) {
    Value number = weighed(), part = partOfWeighed();
    Query query = queryOf(number), ofBlock = seenOf(query, firstKey);
    Value maximum = e.splat(maskedScore);
    Values found;
    for (int64_t i = 0; i < keys; i += perQuery) {
      Value place = e.add(part, i), product = e.loadScalar(scores, {number, place});
      found.push_back(scoreOf(query, e.add(firstKey, place), isSeen(ofBlock, place), product));
      maximum = e.maxf(found.back(), maximum);
    }
    maximum = overThreads(maximum, largest, [&](Value x, Value y) { return e.maxf(x, y); });
    maximum = e.mulf(maximum, steepness());
    Value sum = storeWeights(ofBlock, found, maximum);
    whenFirst([&] {
      MergedSoftmax now = mergeSoftmax(e, kept(), {maximum, e.splat(0)});
      e.storeScalar(now.factor, factors, {e.index(0), number});
      e.storeScalar(now.gain, factors, {e.index(1), number});
    });
    sum = overThreads(sum, sums, [&](Value x, Value y) { return e.addf(x, y); });
    whenFirst([&] { keep(mergeSoftmax(e, kept(), {maximum, sum}).merged); });
  }

  // What a query sees of a block, as places there: in kernels that narrow their indices these are 32 bits, and the keys
  // of a thread would each be two registers.
  Query seenOf(Query query, Value firstKey) {
    for (Value *bound : {&query.first, &query.end})
      if (!isConstantIntValue(*bound, 0))
        *bound = e.min(e.max(e.sub(*bound, firstKey), e.index(0)), e.index(keys));
    return query;
  }

  // Of the thread's keys; their sum.
  Value storeWeights(const Query &ofBlock, ValueRange found, Value maximum) {
    Value sum, subtracted = e.subf(e.splat(0), maximum);
    for (auto [i, score] : llvm::enumerate(found)) {
      Value place = e.add(partOfWeighed(), static_cast<int64_t>(i) * perQuery);
      Value weight = exp2(e, e.fma(score, steepness(), subtracted));
      weight = e.select(isSeen(ofBlock, place), weight, e.splat(0));
      whenOwn([&] { e.storeScalar(weight, scores, {weighed(), place}); });
      sum = sum ? e.addf(sum, weight) : weight;
    }
    return sum;
  }

  void whenOwn(llvm::function_ref<void()> body) {
    if (sizes.queries * perQuery == sizes.threads())
      return body();
    e.when(e.less(e.thread(), e.index(sizes.queries * perQuery)), body);
  }

  // Over the eight threads of a query, in each of them.
  Value overThreads(Value own, Value buffer, llvm::function_ref<Value(Value, Value)> combine) {
    whenOwn([&] { e.storeScalar(own, buffer, {weighed(), partOfWeighed()}); });
    e.sync();
    Value all;
    for (int64_t i = 0; i < perQuery; ++i) {
      Value some = e.loadTogether(buffer, {weighed(), e.index(i / together * together)}, together);
      Value other = vector::ExtractOp::create(e.b, e.loc, some, i % together);
      all = all ? combine(all, other) : other;
    }
    return all;
  }

  // Where the keys of a sequence lie in several slots, each asks for its own. Then fewer are loaded at once, whose
  // places would take most registers of all; sums go over as many as elsewhere.
  Values multiplyValues(Value firstKey) {
    auto multiply = [&](bool scattered) {
      return [&, scattered]() -> Values { return multiplyValues(firstKey, scattered); };
    };
    return seen.mayScatter() ? e.either(seen.isScattered(), multiply(true), multiply(false)) : multiply(false)();
  }

  // Query by query the thread's features, keys ascending. Features beyond the last are computed as the last again.
  Values multiplyValues(Value firstKey, bool scattered) {
    const int64_t ahead = scattered ? scatteredAhead : keysAhead;
    Values zeros(sizes.values(), e.splat(0));
    Value last = e.sub(e.sub(end, firstKey), e.index(1)), number = e.min(e.add(last, 1), e.index(keys));
    if (scattered)
      number = e.mul(e.ceilDiv(number, keysAhead), keysAhead);
    return e.loop(e.index(0), number, ahead, zeros, [&](Value k, ValueRange before) {
      Values next(before);
      SmallVector<Values> factors(sizes.features());
      for (int64_t s = 0; s < ahead; ++s) {
        Value place = e.min(e.add(k, s), last), key = e.add(firstKey, place);
        Value source = state->values(op.getStep(), op.getCache(), scattered ? slotOf(key) : seen.slot);
        KvIndex at = placeOf(e.div(e.add(firstKey, k), layout.tokens), e.rem(key, layout.tokens));
        for (int64_t f = 0; f < sizes.features(); ++f)
          factors[f].push_back(state->loadValue(source, at, e.min(featureOf(f), e.index(sizes.width - 1))));
      }
      for (size_t i = 0; i < next.size(); ++i)
        next[i] = addProducts(next[i], scores, {valued(static_cast<int64_t>(i) / sizes.features()), k},
                              factors[static_cast<int64_t>(i) % sizes.features()]);
      return next;
    });
  }

  Value featureOf(int64_t i) { return e.add(e.rem(e.thread(), sizes.columns), i * sizes.columns); }

  // body(query, i, feature, value) for all values of the thread, which are of its i-th query.
  void eachValue(ValueRange all, llvm::function_ref<void(const Query &, int64_t, Value, Value)> body) {
    for (int64_t i = 0; i < sizes.queriesOfThread(); ++i)
      e.when(e.less(valued(i), count), [&] {
        Query query = queryOf(valued(i));
        for (int64_t f = 0; f < sizes.features(); ++f)
          e.when(e.less(featureOf(f), e.index(sizes.width)),
                 [&] { body(query, i, featureOf(f), all[i * sizes.features() + f]); });
      });
  }

  const Sizes sizes;
  const std::unique_ptr<ThreadKvAccess> state;
  Value queries, scores, largest, sums, factors, met;  // in shared memory
  Value end;                                           // of the keys that any query sees
};

}  // namespace

std::unique_ptr<AttentionTile> tileByThreads(WorkgroupEmitter &e, kernel::AttentionOp op) {
  return std::make_unique<FmaTile>(e, op);
}

int64_t threadsOfTile(kernel::AttentionOp op) {
  return Sizes(op).threads();
}

int64_t queriesOfTile(kernel::AttentionOp op) {
  return Sizes(op).queries;
}

}  // namespace talc
