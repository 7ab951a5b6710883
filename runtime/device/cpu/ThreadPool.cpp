// SPDX-License-Identifier: Apache-2.0
// Every thread sleeps on a signal of its own between runs; those of a run meet at a barrier at its end.
#include "runtime/device/cpu/ThreadPool.h"

#include "runtime/device/cpu/Cores.h"

#include <csignal>
#include <cstring>

namespace talc {

// With a core for each thread, waiting awake for up to a millisecond is cheaper than sleeping: a step crosses dozens of
// barriers, and waking an idle core takes tens of microseconds, more on a virtual machine. With fewer cores, who waits
// must make room for who works.
static int32_t spinsFor(int32_t threads) {
  return threads <= usableProcessors() ? 20000 : 0;
}

ThreadPool::ThreadPool(int32_t threads)
    : threads(threads), members(new Member[threads]), inside(threads), finish(threads), dealt(threads) {
  for (int32_t index = 0; index < threads; ++index) {
    members[index].pool = this;
    members[index].index = index;
    members[index].waiter = Waiter(spinsFor(threads));
  }
}

Status ThreadPool::create(int32_t threads, std::unique_ptr<ThreadPool> &pool) {
  std::unique_ptr<ThreadPool> created(new ThreadPool(threads));
  if (int error = created->startThreads())
    return Status::failure(TALC_ERROR_THREADS, "threads: thread %d of %d cannot be started: %s; ask for fewer threads",
                           created->started + 1, threads, strerror(error));
  pool = std::move(created);
  return {};
}

// Signals stay with the threads of the embedding program.
int ThreadPool::startThreads() {
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  int error = 0;
  while (started < size() && error == 0) {
    Member &member = members[started];
    error = pthread_create(&member.handle, nullptr, enter, &member);
    started += error == 0;
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return error;
}

ThreadPool::~ThreadPool() {
  stopping = true;
  for (int32_t index = 1; index < started; ++index)
    members[index].starting.advance();
  for (int32_t index = 1; index < started; ++index)
    pthread_join(members[index].handle, nullptr);
}

void *ThreadPool::enter(void *argument) {
  auto *member = static_cast<Member *>(argument);
  member->pool->work(*member);
  return nullptr;
}

void ThreadPool::work(Member &member) {
  // Counting from 0 and not from starting.now(): a run may begin before this thread does.
  for (uint32_t seen = 0;; ++seen) {
    member.starting.await(seen, member.idle);
    if (stopping)
      return;
    member.idle = Waiter(member.waiter.most, /*learns=*/false);
    function(context, member.index);
    finish.wait(member.waiter);
  }
}

void ThreadPool::run(Function newFunction, void *newContext, int32_t count) {
  dealt.begin(count);
  if (count == 1)
    return newFunction(newContext, 0);
  inside.expect(count);
  finish.expect(count);
  function = newFunction;
  context = newContext;
  for (int32_t index = 1; index < count; ++index)
    members[index].starting.advance();
  function(context, 0);
  finish.wait(members[0].waiter);
}

}  // namespace talc
