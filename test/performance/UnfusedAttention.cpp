// SPDX-License-Identifier: Apache-2.0
// The rounds of unfused_attention.py, which defines the sizes and makes the kernels.
#include "runtime/device/cpu/StepContext.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <random>
#include <vector>

using talc::artifact::Span;
using talc::artifact::StepContext;

namespace {

constexpr int64_t tokens = TOKENS, heads = HEADS, keyHeads = KEY_HEADS, width = WIDTH, features = heads * width;

// Buffers whose shapes are known are passed as addresses (compact-arguments).
extern "C" void talc_scores(StepContext *, float *queries, float *keys, float *scores);
extern "C" void talc_values(StepContext *, float *scores, float *values, float *result);
extern "C" void talc_causal(StepContext *, int64_t state, float *queries, float *result);
extern "C" void talc_full(StepContext *, int64_t state, float *queries, float *result);

std::vector<float> randomNumbers(size_t count) {
  std::mt19937 generator(1);
  std::uniform_real_distribution<float> uniform(-1, 1);
  std::vector<float> numbers(count);
  for (float &number : numbers)
    number = uniform(generator);
  return numbers;
}

// Keys and values of a head as packed weights [width / 16 or tokens / 16, depth, 16], and both as a state has them.
std::vector<float> queries = randomNumbers(tokens * features), keys = randomNumbers(keyHeads * tokens * width);
std::vector<float> values = keys, state(2 * keys.size());
std::vector<float> scores(tokens *tokens), head(tokens *width), fused(tokens *features), unfused(tokens *features);

// exp as expand-math writes it, so that loops become vectors.
inline float exponential(float x) {
  x = x < -87.3365402f ? -87.3365402f : x;
  float n = __builtin_rintf(x * 1.44269504f);
  float r = n * 2.12194440e-4f + (n * -0.693359375f + x), p = 1.9875691500e-4f;
  for (float c : {1.3981999507e-3f, 8.3334519073e-3f, 4.1665795894e-2f, 1.6666665459e-1f, 5.0000001201e-1f})
    p = p * r + c;
  p = p * (r * r) + r + 1;
  int32_t exponent = static_cast<int32_t>(n) << 23, bits;
  __builtin_memcpy(&bits, &p, 4);
  bits += exponent;
  __builtin_memcpy(&p, &bits, 4);
  return p;
}

// Scales the row's scores, makes them weights that add up to 1, and clears those that are masked.
void softmax(float *row, int64_t visibleKeys, float scale) {
  float largest = -1e30f, sum = 0;
  for (int64_t i = 0; i < visibleKeys; ++i)
    largest = std::max(largest, row[i]);
  for (int64_t i = 0; i < visibleKeys; ++i)
    sum += row[i] = exponential((row[i] - largest) * scale);
  for (int64_t i = 0; i < visibleKeys; ++i)
    row[i] /= sum;
  std::fill(row + visibleKeys, row + tokens, 0.0f);
}

void computeUnfused(StepContext &step, bool causal) {
  for (int64_t h = 0; h < heads; ++h) {
    int64_t keyHead = h / (heads / keyHeads);
    float *headKeys = &keys[keyHead * tokens * width], *headValues = &values[keyHead * tokens * width];
    talc_scores(&step, &queries[h * width], headKeys, scores.data());
    for (int64_t row = 0; row < tokens; ++row)
      softmax(&scores[row * tokens], causal ? row + 1 : tokens, 1 / std::sqrt(static_cast<float>(width)));
    talc_values(&step, scores.data(), headValues, head.data());
    for (int64_t row = 0; row < tokens; ++row)
      std::copy_n(&head[row * width], width, &unfused[row * features + h * width]);
  }
}

// See #kernel.kv_panels.
void fillState() {
  for (int64_t h = 0; h < keyHeads; ++h)
    for (int64_t token = 0; token < tokens; ++token)
      for (int64_t k = 0; k < width; ++k) {
        int64_t panel = (token / 16 * keyHeads + h) * 16 * width, lane = token % 16, head = h * tokens * width;
        state[panel + k * 16 + lane] = keys[head + (token / 16 * width + k) * 16 + lane];
        state[keys.size() + panel + lane * width + k] = values[head + (k / 16 * tokens + token) * 16 + k % 16];
      }
}

double milliseconds(const std::function<void()> &work) {
  auto begin = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count();
}

double median(std::vector<double> times) {
  std::sort(times.begin(), times.end());
  return times[times.size() / 2];
}

void compare(StepContext &step, bool causal, int rounds) {
  std::vector<double> times[2];
  for (int round = 0; round <= rounds; ++round) {
    double first = milliseconds([&] { (causal ? talc_causal : talc_full)(&step, 0, queries.data(), fused.data()); });
    double second = milliseconds([&] { computeUnfused(step, causal); });
    if (round > 0) {  // the first warms up
      times[0].push_back(first);
      times[1].push_back(second);
    }
  }
  for (size_t i = 0; i < fused.size(); ++i)
    if (!(std::fabs(fused[i] - unfused[i]) < 1e-5)) {
      std::printf("element %zu: %g and %g\n", i, fused[i], unfused[i]);
      std::exit(1);
    }
  double ours = median(times[0]), other = median(times[1]);
  std::printf("| %d/%d x %d | %d | %s | %.3f | %.3f | %.2f x |\n", HEADS, KEY_HEADS, WIDTH, TOKENS,
              causal ? "causal" : "full", ours, other, other / ours);
}

}  // namespace

int main(int, char **arguments) {
  fillState();
  Span span = {0, tokens, 0, 0, 0, 0, 0, -1, 0};
  std::vector<unsigned char> arena(1 << 20);
  StepContext step = {};
  step.workers = step.spanCount = 1;
  step.tokenCount = tokens;
  step.spans = &span;
  step.kvCache = reinterpret_cast<unsigned char *>(state.data());
  step.arena = arena.data();
  int64_t taskCounter = 0;
  step.nextTask = [](void *counter, int64_t, int64_t, int64_t tasks) {
    int64_t task = (*static_cast<int64_t *>(counter))++;
    if (task == tasks)
      *static_cast<int64_t *>(counter) = 0;
    return task;
  };
  step.schedulerState = &taskCounter;
  for (bool causal : {true, false})
    compare(step, causal, std::atoi(arguments[1]));
}
