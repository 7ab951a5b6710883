// SPDX-License-Identifier: Apache-2.0
// Thread pool and barrier, with more and with fewer threads than processors; to be run under ThreadSanitizer too.
#include "runtime/parallel/ThreadPool.h"
#include "test/runtime/RuntimeChecks.h"

namespace talc::test {
namespace {

constexpr int rounds = 20;

// Plain, unsynchronised data: only the barrier and the pool keep threads apart.
struct Shared {
  Barrier *barrier;
  int32_t threads;
  std::vector<int64_t> mine, sums;
};

void addUp(void *context, int32_t thread) {
  auto *shared = static_cast<Shared *>(context);
  for (int round = 0; round < rounds; ++round) {
    shared->mine[thread] += thread + 1;
    shared->barrier->wait();
    int64_t sum = 0;
    for (int64_t value : shared->mine)
      sum += value;
    shared->sums[thread] = sum;
    shared->barrier->wait();
  }
}

bool checkPool(int32_t threads) {
  std::unique_ptr<ThreadPool> pool;
  Status status = ThreadPool::create(threads, pool);
  if (!expect(!status.failed(), status.text()))
    return false;
  Shared shared = {&pool->barrier(), threads, std::vector<int64_t>(threads), std::vector<int64_t>(threads)};
  constexpr int runs = 50;
  for (int run = 0; run < runs; ++run)
    pool->run(addUp, &shared);
  int64_t expected = int64_t(threads) * (threads + 1) / 2 * rounds * runs;
  for (int64_t sum : shared.sums)
    if (!expect(sum == expected, std::to_string(threads) + " threads: wrong sum " + std::to_string(sum)))
      return false;
  return true;
}

}  // namespace

bool checkThreads(const Arguments &) {
  for (int32_t threads : {1, 2, 3, 8})
    if (!checkPool(threads))
      return false;
  for (int i = 0; i < 200; ++i) {  // a pool that is destroyed before its threads have begun
    std::unique_ptr<ThreadPool> pool;
    if (ThreadPool::create(4, pool).failed())
      return false;
  }
  return true;
}

}  // namespace talc::test
