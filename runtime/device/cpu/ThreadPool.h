// SPDX-License-Identifier: Apache-2.0
// Persistent threads that all run the same function: a step is one parallel program.
#pragma once

#include "runtime/Status.h"
#include "runtime/device/cpu/Barrier.h"
#include "runtime/device/cpu/Tasks.h"

#include <memory>
#include <pthread.h>
#include <vector>

namespace talc {

class ThreadPool {
public:
  using Function = void (*)(void *context, int32_t thread);

  // `threads` counts the caller of run(), so one thread starts none.
  static Status create(int32_t threads, std::unique_ptr<ThreadPool> &pool);
  ~ThreadPool();

  // Calls function(context, i) on every thread i; the caller is thread 0. Returns when all have returned. To be called
  // by one thread at a time, and not from inside a running function.
  void run(Function function, void *context);

  int32_t size() const { return threads; }
  // For use between the threads of a running function; all must take part. Tasks begin anew with every run.
  Barrier &barrier() { return inside; }
  Tasks &tasks() { return dealt; }

private:
  struct Worker {
    ThreadPool *pool;
    int32_t index;
    pthread_t handle;
  };

  ThreadPool(int32_t threads, int32_t looks);
  static void *enter(void *worker);
  void work(int32_t index);
  int startWorkers();

  const int32_t threads;
  const int32_t looks;
  std::vector<Worker> workers;
  Function function = nullptr;
  void *context = nullptr;
  bool stopping = false;
  Signal start;
  Barrier inside, finish;
  Tasks dealt;
};

}  // namespace talc
