// SPDX-License-Identifier: Apache-2.0
// Persistent threads that run a function for a number of workers: a step is one parallel program.
//
//   worker 0   tasks  | tasks  | tasks           a barrier is over when every worker's work before it is done,
//   worker 1   tasks  | tasks  | tasks           whichever thread did it
//
// A worker is a number that the function is called with, not a thread: usually thread i continues worker i from barrier
// to barrier. But where a thread is late, because the system woke it late or gave its CPU to somebody else, another one
// that waits at the barrier takes over its worker, and the late one finds the work done.
#pragma once

#include "runtime/Status.h"
#include "runtime/device/cpu/EventCount.h"
#include "runtime/device/cpu/Fiber.h"
#include "runtime/device/cpu/WorkStealing.h"

#include <memory>
#include <pthread.h>
#include <sys/types.h>

namespace talc {

class ThreadPool {
public:
  using Function = void (*)(void *context, int32_t worker);

  // `threads` includes the caller of run(), so that 1 starts none.
  static Status create(int32_t threads, std::unique_ptr<ThreadPool> &pool);
  ~ThreadPool();

  // Whether all workers of the last run have passed the same barriers.
  bool isAtRest() const { return arrived.load(std::memory_order_relaxed) == 0; }

  // Calls function(context, i) for every worker i below `count`, on at most as many threads, the caller among them; the
  // others keep sleeping. Returns when all calls have. Must be called by one thread at a time, and not from inside a
  // running function.
  void run(Function function, void *context, int32_t count);
  void run(Function function, void *context) { run(function, context, size()); }

  int32_t size() const { return threads; }

  // To be called by the workers of a running function; all must take part. Tasks are numbered anew in every run. A
  // function may continue on another thread than before.
  void wait(int64_t worker);
  int64_t nextTask(int64_t worker, int64_t op, int64_t tasks) {
    return stealing.nextTask(worker, op, tasks, workers[worker].waiter);
  }

  // The ticks that the caller of run() has ever waited for others.
  uint64_t waited() const { return members[0].waiter.waited + workers[0].waiter.waited; }

private:
  // The low bits of a worker's state say what it does, the others which phase it waits for the end of.
  enum Doing : uint64_t { Nothing, Begins, Runs, Waits };
  struct alignas(64) Worker {
    ThreadPool *pool = nullptr;
    int32_t index = 0;
    uint32_t waitsIn = 0;  // the phase
    Fiber fiber;
    Waiter waiter;  // for those who help it
    alignas(64) std::atomic<uint64_t> state{Nothing};
  };
  // A thread.
  struct alignas(64) Member {
    ThreadPool *pool = nullptr;
    int32_t index = 0;
    pthread_t handle = {};
    Waiter waiter, idle;              // within runs, and between them, without spinning before the first run
    std::atomic<bool> busy{false};    // with a worker
    std::atomic<bool> late{false};    // others have waited for it in vain since it last came
    alignas(64) EventCount starting;  // a run
  };

  explicit ThreadPool(int32_t threads);
  static void *enter(void *member);
  static void callFunction(void *worker);
  void sleepBetweenRuns(Member &member);
  int startThreads();
  bool createStacks();

  bool opensBarrier();
  void serve(Member &member);
  bool goOnWithAny(Member &member);
  bool callLate(const Member &waiting);
  bool canGoOn(uint64_t state) const;
  bool take(Worker &worker);
  void goOn(Worker &worker);

  const int32_t threads;
  const pid_t process;                // that has the threads
  std::unique_ptr<Member[]> members;  // thread 0 is the caller
  std::unique_ptr<Worker[]> workers;
  int32_t started = 1;
  Function function = nullptr;
  void *context = nullptr;
  int32_t count = 1;  // of the run's workers
  std::atomic<bool> stopping{false};
  alignas(64) std::atomic<int32_t> arrived{0};  // at the barrier
  alignas(64) std::atomic<uint32_t> phase{0};   // how often it has opened
  std::atomic<int32_t> ended{0};                // workers of the run
  alignas(64) std::atomic<bool> running{false};
  EventCount changed;  // workers can continue, or the run is over; possibly nothing
  WorkStealing stealing;
};

}  // namespace talc
