// SPDX-License-Identifier: Apache-2.0
// Thread pool, barrier and tasks, with more and with fewer threads than processors; to be run under ThreadSanitizer
// too.
#include "runtime/device/cpu/Cores.h"
#include "runtime/device/cpu/ThreadPool.h"
#include "test/runtime/RuntimeChecks.h"

#include <thread>

namespace talc::test {
namespace {

constexpr int rounds = 20;

// Plain, unsynchronised data: only the barrier and the pool keep threads apart.
struct Shared {
  ThreadPool *pool;
  int32_t threads;
  std::vector<int64_t> mine, sums;
};

void addUp(void *context, int32_t thread) {
  auto *shared = static_cast<Shared *>(context);
  for (int round = 0; round < rounds; ++round) {
    shared->mine[thread] += thread + 1;
    shared->pool->wait(thread);
    int64_t sum = 0;
    for (int64_t value : shared->mine)
      sum += value;
    shared->sums[thread] = sum;
    shared->pool->wait(thread);
  }
}

bool checkPool(int32_t threads) {
  std::unique_ptr<ThreadPool> pool;
  Status status = ThreadPool::create(threads, pool);
  if (!expect(!status.failed(), status.text()))
    return false;
  Shared shared = {pool.get(), threads, std::vector<int64_t>(threads), std::vector<int64_t>(threads)};
  constexpr int runs = 50;
  for (int run = 0; run < runs; ++run)
    pool->run(addUp, &shared);
  int64_t expected = int64_t(threads) * (threads + 1) / 2 * rounds * runs;
  for (int64_t sum : shared.sums)
    if (!expect(sum == expected, std::to_string(threads) + " threads: wrong sum " + std::to_string(sum)))
      return false;
  return true;
}

// Pieces of 0 to 20 tasks, with a barrier here and there. Plain data again: a task may read what the owner of its share
// wrote before the piece, and an owner what was done of its share after it.
struct Claims {
  ThreadPool *pool;
  std::vector<std::vector<int64_t>> begun, done;  // [piece][thread], [piece][task]
  std::atomic<int64_t> wrong{0};

  static constexpr int64_t pieces = 100;
  static int64_t tasksOf(int64_t piece) { return piece * 13 % 21; }
};

void claimAll(void *context, int32_t thread) {
  auto *claims = static_cast<Claims *>(context);
  int64_t threads = claims->pool->size();
  for (int64_t piece = 0; piece < Claims::pieces; ++piece) {
    int64_t tasks = Claims::tasksOf(piece), task;
    std::vector<int64_t> &begun = claims->begun[piece], &done = claims->done[piece];
    int64_t run = ++begun[thread];
    while ((task = claims->pool->nextTask(thread, piece, tasks)) != tasks) {
      int64_t owner = 0;
      while (task >= tasks * (owner + 1) / threads)
        ++owner;
      claims->wrong += begun[owner] != run || ++done[task] != run;
    }
    for (task = tasks * thread / threads; task < tasks * (thread + 1) / threads; ++task)
      claims->wrong += done[task] != run;
    if (piece % 10 == 9)
      claims->pool->wait(thread);
  }
}

bool checkTasks(int32_t threads) {
  std::unique_ptr<ThreadPool> pool;
  if (ThreadPool::create(threads, pool).failed())
    return false;
  Claims claims = {pool.get(), {}, {}};
  for (int64_t piece = 0; piece < Claims::pieces; ++piece) {
    claims.begun.emplace_back(threads);
    claims.done.emplace_back(Claims::tasksOf(piece));
  }
  for (int run = 0; run < 50; ++run)
    pool->run(claimAll, &claims);
  return expect(claims.wrong == 0, std::to_string(threads) + " threads: " + std::to_string(claims.wrong) +
                                       " tasks were not done once, or too early or too late");
}

// A thread that has not even begun to run when the others wait for its worker: they do its work.
bool checkLateThreads() {
  int tookOver = 0;
  for (int i = 0; i < 2000 && tookOver == 0; ++i) {  // which threads run early is the system's to say
    std::unique_ptr<ThreadPool> pool;
    if (ThreadPool::create(2 * usableProcessors(), pool).failed())  // so many that nobody spins for others
      return false;
    struct Places {
      ThreadPool *pool;
      std::thread::id caller;
      std::atomic<int> ofOthers{0};
    } places = {pool.get(), std::this_thread::get_id()};
    pool->run(
        [](void *context, int32_t worker) {
          auto *places = static_cast<Places *>(context);
          places->ofOthers += worker > 0 && std::this_thread::get_id() == places->caller;
          places->pool->wait(worker);
        },
        &places);
    tookOver += places.ofOthers;
  }
  return expect(tookOver > 0, "a thread does the work of one that is late");
}

// Frames of functions begin at multiples of 16: compilers rely on that when they keep vectors on the stack.
bool checkStacks() {
  std::unique_ptr<ThreadPool> pool;
  if (ThreadPool::create(3, pool).failed())
    return false;
  std::atomic<int> crooked{0};
  pool->run(
      [](void *context, int32_t) {
        bool straight = reinterpret_cast<uintptr_t>(__builtin_frame_address(0)) % 16 == 0;
        *static_cast<std::atomic<int> *>(context) += !straight;
      },
      &crooked);
  return expect(crooked == 0, "a worker's stack is not aligned");
}

}  // namespace

bool checkThreads(const Arguments &) {
  if (!checkStacks())
    return false;
  for (int32_t threads : {1, 2, 3, 8})
    if (!checkPool(threads) || !checkTasks(threads))
      return false;
  if (!checkLateThreads())
    return false;
  for (int i = 0; i < 200; ++i) {  // a pool that is destroyed before its threads have begun
    std::unique_ptr<ThreadPool> pool;
    if (ThreadPool::create(4, pool).failed())
      return false;
  }
  return true;
}

}  // namespace talc::test
