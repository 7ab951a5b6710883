// SPDX-License-Identifier: Apache-2.0
// Persistent threads that all run the same function: a step is one parallel program.
#pragma once

#include "runtime/Status.h"
#include "runtime/device/cpu/Barrier.h"
#include "runtime/device/cpu/Tasks.h"

#include <memory>
#include <pthread.h>

namespace talc {

class ThreadPool {
public:
  using Function = void (*)(void *context, int32_t thread);

  // `threads` counts the caller of run(), so one thread starts none.
  static Status create(int32_t threads, std::unique_ptr<ThreadPool> &pool);
  ~ThreadPool();

  // Calls function(context, i) on every thread i below `count`; the caller is thread 0, and the others go on sleeping.
  // Returns when all have returned. To be called by one thread at a time, and not from inside a running function.
  void run(Function function, void *context, int32_t count);
  void run(Function function, void *context) { run(function, context, size()); }

  int32_t size() const { return threads; }

  // For use between the threads of a running function; all must take part. Tasks begin anew with every run.
  void wait(int64_t thread) { inside.wait(members[thread].waiter); }
  int64_t claim(int64_t thread, int64_t piece, int64_t tasks) {
    return dealt.claim(thread, piece, tasks, members[thread].waiter);
  }

  // Ticks that the caller of run() has waited for others, ever.
  uint64_t waited() const { return members[0].waiter.waited; }

private:
  struct alignas(64) Member {
    ThreadPool *pool = nullptr;
    int32_t index = 0;
    pthread_t handle = {};
    Waiter waiter, idle;          // within runs; between them, without spinning before the first
    alignas(64) Signal starting;  // a run
  };

  explicit ThreadPool(int32_t threads);
  static void *enter(void *member);
  void work(Member &member);
  int startThreads();

  const int32_t threads;
  std::unique_ptr<Member[]> members;  // thread 0 is the caller
  int32_t started = 1;
  Function function = nullptr;
  void *context = nullptr;
  bool stopping = false;
  Barrier inside, finish;
  Tasks dealt;
};

}  // namespace talc
