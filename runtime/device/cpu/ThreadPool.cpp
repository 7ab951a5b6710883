// SPDX-License-Identifier: Apache-2.0
// Workers sleep on one signal between runs and meet at one barrier at the end of each.
#include "runtime/device/cpu/ThreadPool.h"

#include "runtime/device/cpu/Cores.h"

#include <csignal>
#include <cstring>

namespace talc {

// With a core for each thread, waiting awake for up to a millisecond is cheaper than sleeping: a step crosses dozens of
// barriers, and waking an idle core takes tens of microseconds, more on a virtual machine. With fewer cores, who waits
// must make room for who works.
static int32_t looksFor(int32_t threads) {
  return threads <= usableProcessors() ? 20000 : 0;
}

ThreadPool::ThreadPool(int32_t threads, int32_t looks)
    : threads(threads), looks(looks), inside(threads, looks), finish(threads, looks), dealt(threads, looks) {}

Status ThreadPool::create(int32_t threads, std::unique_ptr<ThreadPool> &pool) {
  std::unique_ptr<ThreadPool> created(new ThreadPool(threads, looksFor(threads)));
  if (int error = created->startWorkers())
    return Status::failure(TALC_ERROR_THREADS, "threads: thread %zu of %d cannot be started: %s; ask for fewer threads",
                           created->workers.size() + 1, threads, strerror(error));
  pool = std::move(created);
  return {};
}

// Signals stay with the threads of the embedding program.
int ThreadPool::startWorkers() {
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  workers.reserve(threads - 1);  // workers keep pointers to their entries
  int error = 0;
  for (int32_t index = 1; index < threads && error == 0; ++index) {
    workers.push_back({this, index, {}});
    error = pthread_create(&workers.back().handle, nullptr, enter, &workers.back());
    if (error)
      workers.pop_back();
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return error;
}

ThreadPool::~ThreadPool() {
  stopping = true;
  start.advance();
  for (Worker &worker : workers)
    pthread_join(worker.handle, nullptr);
}

void *ThreadPool::enter(void *argument) {
  auto *worker = static_cast<Worker *>(argument);
  worker->pool->work(worker->index);
  return nullptr;
}

void ThreadPool::work(int32_t index) {
  // Counting from 0 and not from start.now(): a run may begin before this thread does.
  for (uint32_t seen = 0;; ++seen) {
    start.await(seen, looks);
    if (stopping)
      return;
    function(context, index);
    finish.wait();
  }
}

void ThreadPool::run(Function newFunction, void *newContext) {
  dealt.begin();
  if (threads == 1)
    return newFunction(newContext, 0);
  function = newFunction;
  context = newContext;
  start.advance();
  function(context, 0);
  finish.wait();
}

}  // namespace talc
