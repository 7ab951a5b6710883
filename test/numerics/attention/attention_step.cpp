// SPDX-License-Identifier: Apache-2.0
// Runs the kernels of attention-step.mlir and compares them with attention in double precision; all ways to cut the
// rows into steps, threads and batches must yield the same bits.
#include "runtime/device/cpu/StepContext.h"

#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <random>
#include <thread>
#include <vector>

using talc::artifact::Span;
using talc::artifact::StepContext;
using talc::artifact::StepToken;

#ifndef HEADS
#define HEADS 4
#endif

namespace {

constexpr int64_t heads = HEADS, keyHeads = 2, width = 24, paddedWidth = 32, capacity = 200, panels = 13, lanes = 16;
constexpr int64_t slotBytes = 94208, slots = 5, features = heads * width;
constexpr double scale = 0.2;

// The signature of the generated functions: queries and their number, bias, result and its number of rows
// (compact-arguments).
using Kernel = void(StepContext *, int64_t state, float *, int64_t, float *, float *, int64_t);
using RowKernel = void(StepContext *, int64_t state, float *, float *, float *);
extern "C" Kernel talc_causal, talc_causal_window, talc_causal_bias, talc_full, talc_full_window_bias, talc_prefix,
    talc_prefix_window, talc_source;
extern "C" RowKernel talc_causal_one, talc_causal_window_one, talc_causal_bias_one, talc_source_one, talc_causal_split,
    talc_causal_window_split, talc_causal_bias_split, talc_source_split;

enum Mask { full, causal, prefix };
struct Variant {
  const char *name;
  Kernel *many;
  RowKernel *one, *split;  // for steps of a single row, if they are to yield the same
  Mask mask;
  int64_t window;
  bool bias, source;
};
// Blocks that are left apart have 64 keys, and the others must have as many.
#ifdef SPLIT
#define APART(kernel) kernel
#else
#define APART(kernel) nullptr
#endif
const Variant variants[] = {
    {"causal", talc_causal, talc_causal_one, APART(talc_causal_split), causal, 0, false, false},
    {"causal window", talc_causal_window, talc_causal_window_one, APART(talc_causal_window_split), causal, 70, false,
     false},
    {"causal bias", talc_causal_bias, talc_causal_bias_one, APART(talc_causal_bias_split), causal, 0, true, false},
    {"full", talc_full, nullptr, nullptr, full, 0, false, false},
    {"full window bias", talc_full_window_bias, nullptr, nullptr, full, 20, true, false},
    {"prefix", talc_prefix, nullptr, nullptr, prefix, 0, false, false},
    {"prefix window", talc_prefix_window, nullptr, nullptr, prefix, 33, false, false},
    {"source", talc_source, talc_source_one, APART(talc_source_split), full, 0, false, true}};

std::mt19937 generator(7);
std::vector<float> randomNumbers(int64_t count) {
  std::normal_distribution<float> normal;
  std::vector<float> numbers(count);
  for (float &number : numbers)
    number = normal(generator);
  return numbers;
}

std::vector<float> state = randomNumbers(slots * slotBytes / 4), bias = randomNumbers(heads * (2 * capacity - 1));

float *key(int64_t slot, int64_t head, int64_t position, int64_t k) {
  return &state[slot * slotBytes / 4 + ((position / lanes * keyHeads + head) * width + k) * lanes + position % lanes];
}
float *value(int64_t slot, int64_t head, int64_t position, int64_t k) {
  int64_t at = ((position / lanes * keyHeads + head) * lanes + position % lanes) * paddedWidth + k;
  return &state[slot * slotBytes / 4 + keyHeads * panels * width * lanes + at];
}

struct Step {
  std::vector<Span> spans;
  std::vector<int32_t> history;
  std::vector<float> queries;  // [rows, features]
  int64_t rows() const { return queries.size() / features; }
};

void waitFor(void *barrier) {
  pthread_barrier_wait(static_cast<pthread_barrier_t *>(barrier));
}

// A kernel deals one piece; here without shares, and in an order that is nobody's.
int64_t claimTask(void *nextTask, int64_t, int64_t, int64_t tasks) {
  int64_t turn = static_cast<std::atomic<int64_t> *>(nextTask)->fetch_add(1);
  return turn < tasks ? tasks - 1 - turn : tasks;
}

void call(Kernel *kernel, StepContext &context, float *queries, float *result) {
  kernel(&context, 0, queries, context.tokenCount, bias.data(), result, context.tokenCount);
}
void call(RowKernel *kernel, StepContext &context, float *queries, float *result) {
  kernel(&context, 0, queries, bias.data(), result);
}

template <typename AnyKernel> std::vector<float> run(AnyKernel *kernel, const Step &step, int threads) {
  std::vector<float> result(step.queries.size(), NAN), queries = step.queries, arena(1 << 16, NAN);
  pthread_barrier_t barrier;
  pthread_barrier_init(&barrier, nullptr, threads);
  std::atomic<int64_t> nextTask{0};
  std::vector<std::thread> pool;
  for (int thread = 0; thread < threads; ++thread)
    pool.emplace_back([&, thread] {
      StepContext context = {};
      context.worker = thread;
      context.workers = threads;
      context.tokenCount = step.rows();
      context.spanCount = static_cast<int64_t>(step.spans.size());
      context.spans = step.spans.data();
      context.history = step.history.data();
      context.kvCache = reinterpret_cast<unsigned char *>(state.data());
      context.arena = reinterpret_cast<unsigned char *>(arena.data());
      context.barrier = waitFor;
      context.barrierState = &barrier;
      context.nextTask = claimTask;
      context.schedulerState = &nextTask;
      call(kernel, context, queries.data(), result.data());
    });
  for (std::thread &thread : pool)
    thread.join();
  pthread_barrier_destroy(&barrier);
  return result;
}

std::vector<float> run(const Variant &variant, const Step &step, int threads) {
  return step.rows() == 1 && variant.one ? run(variant.one, step, threads) : run(variant.many, step, threads);
}

bool sees(const Variant &variant, const Span &span, int64_t query, int64_t key) {
  if (variant.source)
    return true;
  bool isVisible = variant.mask == full || key <= query;
  if (variant.mask == prefix)
    isVisible |= key < span.prefix && query < span.prefix;
  return isVisible && (variant.window == 0 || std::abs(query - key) < variant.window);
}

std::vector<double> expected(const Variant &variant, const Step &step) {
  std::vector<double> result(step.queries.size());
  for (const Span &span : step.spans)
    for (int64_t i = 0; i < span.tokenCount * heads; ++i) {
      int64_t head = i % heads, row = span.firstToken + i / heads, query = span.firstPosition + i / heads;
      int64_t keyHead = head / (heads / keyHeads), keys = span.firstPosition + span.tokenCount;
      const float *q = &step.queries[row * features + head * width];
      double sum = 0, maximum = -INFINITY;
      std::vector<double> scores(capacity), out(width);
      auto slotOf = [&](int64_t p) {
        if (variant.source)
          return span.sourceSlot;
        return span.history >= 0 && p < span.firstPosition ? step.history[span.history + p] : span.slot;
      };
      if (variant.source)
        keys = span.sourceLength;
      for (int64_t p = 0; p < keys; ++p) {
        scores[p] = variant.bias ? bias[head * (2 * capacity - 1) + capacity - 1 + p - query] : 0;
        for (int64_t k = 0; k < width; ++k)
          scores[p] += scale * q[k] * *key(slotOf(p), keyHead, p, k);
        maximum = sees(variant, span, query, p) ? std::max(maximum, scores[p]) : maximum;
      }
      for (int64_t p = 0; p < keys; ++p) {
        double weight = sees(variant, span, query, p) ? std::exp(scores[p] - maximum) : 0;
        sum += weight;
        for (int64_t k = 0; k < width; ++k)
          out[k] += weight * *value(slotOf(p), keyHead, p, k);
      }
      for (int64_t k = 0; k < width; ++k)
        result[row * features + head * width + k] = sum > 0 ? out[k] / sum : 0;
    }
  return result;
}

int failures = 0;

void expectSame(const Variant &variant, const char *how, const float *actual, const float *expectedValues,
                int64_t count) {
  if (std::memcmp(actual, expectedValues, count * sizeof(float)) != 0 && ++failures < 20)
    std::printf("%s: other bits %s\n", variant.name, how);
}

// The rows [from, to) of the step's span, alone.
Step part(const Step &step, size_t span, int64_t from, int64_t to) {
  Span whole = step.spans[span], cut = whole;
  cut.firstToken = 0;
  cut.tokenCount = static_cast<int32_t>(to - from);
  cut.firstPosition = static_cast<int32_t>(whole.firstPosition + from);
  const float *first = &step.queries[(whole.firstToken + from) * features];
  return {{cut}, step.history, std::vector<float>(first, first + (to - from) * features)};
}

// The number of rows that the first step of a span must have if it is cut into several: all rows of a full mask see all
// that the step brings, and history is what lay before a step.
int64_t firstPart(const Variant &variant, const Span &span) {
  if (!variant.source && (variant.mask == full || span.history >= 0))
    return span.tokenCount;
  return variant.mask == prefix ? std::clamp(span.prefix - span.firstPosition, 1, span.tokenCount) : 1;
}

void checkParts(const Variant &variant, const Step &step, const std::vector<float> &reference) {
  for (size_t s = 0; s < step.spans.size(); ++s) {
    const Span &span = step.spans[s];
    for (int64_t at = 0, size = firstPart(variant, span); at < span.tokenCount; at += size, size = 1 + at % 7) {
      size = std::min(size, span.tokenCount - at);
      std::vector<float> actual = run(variant, part(step, s, at, at + size), 1);
      const float *rows = &reference[(span.firstToken + at) * features];
      expectSame(variant, "in smaller steps", actual.data(), rows, actual.size());
      for (int threads : {1, 2, 3, 7, 20})
        if (size == 1 && variant.split)
          expectSame(variant, "with keys divided among threads",
                     run(variant.split, part(step, s, at, 1 + at), threads).data(), rows, features);
    }
  }
}

void check(const Variant &variant, const Step &step) {
  std::vector<float> actual = run(variant, step, 1);
  std::vector<double> reference = expected(variant, step);
  for (size_t i = 0; i < actual.size(); ++i)
    if (!(std::fabs(actual[i] - reference[i]) <= 2e-6 * (1 + std::fabs(reference[i]))) && ++failures < 20)
      std::printf("%s: row %zu, feature %zu: %g, expected %g\n", variant.name, i / features, i % features, actual[i],
                  reference[i]);
  for (int threads : {2, 3, 7})
    expectSame(variant, "with more threads", run(variant, step, threads).data(), actual.data(), actual.size());
  checkParts(variant, step, actual);
  if (variant.source || step.spans[0].history < 0)
    return;
  // The past of a sequence that lies in several slots, moved into its own.
  std::vector<float> before = state;
  Step moved = step;
  for (Span &span : moved.spans) {
    for (int64_t p = 0; p < span.firstPosition; ++p)
      for (int64_t i = 0; i < keyHeads * width; ++i) {
        int64_t from = step.history[span.history + p], head = i / width, k = i % width;
        *key(span.slot, head, p, k) = before[key(from, head, p, k) - state.data()];
        *value(span.slot, head, p, k) = before[value(from, head, p, k) - state.data()];
      }
    span.history = -1;
  }
  expectSame(variant, "without history", run(variant, moved, 1).data(), actual.data(), actual.size());
  state = before;
}

Step makeStep(std::vector<Span> spans) {
  int32_t rows = 0;
  for (Span &span : spans) {
    span.firstToken = rows;
    rows += span.tokenCount;
  }
  return {spans, {}, randomNumbers(rows * features)};
}

// Every token of the past in a slot of its own choice.
Step scattered(Step step) {
  for (Span &span : step.spans) {
    span.history = static_cast<int32_t>(step.history.size());
    for (int32_t p = 0; p < span.firstPosition; ++p)
      step.history.push_back(static_cast<int32_t>(p % 16 < 3 ? generator() % slots : (p / 32 + span.slot) % slots));
  }
  return step;
}

}  // namespace

int main() {
  // {first row, rows, first position, slot, prefix, source slot, source length, history}
  const Step steps[] = {
      makeStep({{0, 1, 0, 1, 0, 2, 1, -1}}),
      makeStep({{0, 197, 0, 2, 100, 3, 200, -1}, {0, 5, 0, 0, 9, 1, 0, -1}}),
      makeStep({{0, 1, 130, 0, 0, 4, 63, -1}, {0, 40, 27, 1, 0, 0, 65, -1}, {0, 70, 64, 3, 80, 0, 9, -1}}),
      scattered(makeStep({{0, 1, 0, 0, 0, 0, 5, 0}, {0, 1, 199, 1, 0, 0, 5, 0}, {0, 1, 64, 3, 0, 0, 5, 0}})),
      scattered(makeStep({{0, 1, 128, 4, 0, 0, 5, 0}})),
      scattered(makeStep({{0, 33, 70, 4, 60, 0, 5, 0}, {0, 9, 12, 2, 5, 0, 5, 0}}))};
  for (const Variant &variant : variants)
    for (const Step &step : steps)
      check(variant, step);
  std::printf("%d failures\n", failures);
  return failures != 0;
}
