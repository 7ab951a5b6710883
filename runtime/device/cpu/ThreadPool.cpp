// SPDX-License-Identifier: Apache-2.0
// Between runs every thread sleeps on an event of its own. In a run it continues one worker after another, its own
// first, until none is left. A worker that has to wait is put aside, so that any thread can continue it.
#include "runtime/device/cpu/ThreadPool.h"

#include "runtime/device/cpu/Architecture.h"
#include "runtime/device/cpu/Cores.h"

#include <algorithm>
#include <csignal>
#include <cstring>
#include <unistd.h>

namespace talc {

// With a core for each thread, spinning for up to a millisecond is cheaper than sleeping: a step crosses dozens of
// barriers, and waking an idle core takes tens of microseconds, more on a virtual machine. With fewer cores, waiting
// threads must make room for working ones.
static int32_t spinsFor(int32_t threads) {
  return threads <= usableProcessors() ? 20000 : 0;
}

// At a barrier a worker stays with its thread for a few microseconds: as long as others are late without a reason.
static constexpr int32_t spinsBeforePause = 100;

// A thread waits this long for another one before it takes over its work: about as long as the system needs to wake it.
// Beginning a long piece of work just before its thread comes would leave that thread idle. It happens only once until
// the thread comes: an idle CPU of a virtual machine may need milliseconds, which is many short steps.
static constexpr int32_t patience = 4000;

static constexpr uint64_t onePhase = 4, doingBits = onePhase - 1;

ThreadPool::ThreadPool(int32_t threads)
    : threads(threads), process(getpid()), members(new Member[threads]), workers(new Worker[threads]),
      stealing(threads) {
  for (int32_t index = 0; index < threads; ++index) {
    members[index].pool = workers[index].pool = this;
    members[index].index = workers[index].index = index;
    members[index].waiter = workers[index].waiter = Waiter(spinsFor(threads));
  }
}

Status ThreadPool::create(int32_t threads, std::unique_ptr<ThreadPool> &pool) {
  std::unique_ptr<ThreadPool> created(new ThreadPool(threads));
  if (!created->createStacks())
    return Status::failure(TALC_ERROR_MEMORY, "threads: no memory for the stacks of %d threads; ask for fewer",
                           threads);
  if (int error = created->startThreads())
    return Status::failure(TALC_ERROR_THREADS, "threads: thread %d of %d cannot be started: %s; ask for fewer threads",
                           created->started + 1, threads, strerror(error));
  pool = std::move(created);
  return {};
}

// A single worker runs on its caller's stack.
bool ThreadPool::createStacks() {
  for (int32_t index = 0; threads > 1 && index < threads; ++index)
    if (!workers[index].fiber.create())
      return false;
  return true;
}

// Threads of the embedding program handle all signals.
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

// A process that was forked from the one with the threads has nothing to wait for.
ThreadPool::~ThreadPool() {
  if (getpid() != process)
    return;
  stopping.store(true, std::memory_order_release);
  for (int32_t index = 1; index < started; ++index)
    members[index].starting.advance();
  for (int32_t index = 1; index < started; ++index)
    pthread_join(members[index].handle, nullptr);
}

void *ThreadPool::enter(void *argument) {
  auto *member = static_cast<Member *>(argument);
  member->pool->sleepBetweenRuns(*member);
  return nullptr;
}

// A thread that wakes after its run is over helps with the next one, or finds nothing to do.
void ThreadPool::sleepBetweenRuns(Member &member) {
  // Counts from 0 and not from starting.now(): a run may begin before this thread does.
  for (uint32_t lastSeen = 0;; ++lastSeen) {
    member.starting.await(lastSeen, member.idle);
    if (stopping.load(std::memory_order_acquire))
      return;
    member.idle = Waiter(member.waiter.maxSpins, /*learns=*/false);
    serve(member);
  }
}

void ThreadPool::run(Function newFunction, void *newContext, int32_t newCount) {
  stealing.begin(newCount);
  count = newCount;
  if (count == 1)
    return newFunction(newContext, 0);
  function = newFunction;
  context = newContext;
  ended.store(0, std::memory_order_relaxed);
  running.store(true, std::memory_order_relaxed);
  for (int32_t index = 0; index < count; ++index) {
    workers[index].fiber.begin(callFunction, &workers[index]);
    workers[index].state.store(Begins, std::memory_order_release);
  }
  for (int32_t index = 1; index < count; ++index)
    members[index].starting.advance();
  serve(members[0]);
}

// ---- On a thread's own stack

void ThreadPool::serve(Member &member) {
  for (;;) {
    if (member.late.load(std::memory_order_relaxed))
      member.late.store(false, std::memory_order_relaxed);
    uint32_t lastSeen = changed.now();  // read before everything that it guards
    if (!running.load(std::memory_order_acquire))
      return;
    if (goOnWithAny(member) || changed.changesWithin(lastSeen, std::min(patience, member.waiter.maxSpins)))
      continue;
    if (!callLate(member))
      changed.await(lastSeen, member.waiter);
  }
}

// Continues its own worker, or one whose thread is busy with another or late.
bool ThreadPool::goOnWithAny(Member &member) {
  for (int32_t i = 0; i < threads; ++i) {
    const int32_t index = (member.index + i) % threads;
    const Member &usual = members[index];
    if ((i > 0 && !usual.busy.load(std::memory_order_relaxed) && !usual.late.load(std::memory_order_relaxed)) ||
        !take(workers[index]))
      continue;
    member.busy.store(true, std::memory_order_relaxed);
    goOn(workers[index]);
    member.busy.store(false, std::memory_order_relaxed);
    return true;
  }
  return false;
}

// From now on no thread waits for threads whose workers could continue and do not. Returns whether any was not called
// late before.
bool ThreadPool::callLate(const Member &waiting) {
  bool any = false;
  for (int32_t index = 0; index < threads; ++index) {
    Member &other = members[index];
    if (index != waiting.index && !other.busy.load(std::memory_order_relaxed) &&
        canGoOn(workers[index].state.load(std::memory_order_acquire)))
      any |= !other.late.exchange(true, std::memory_order_relaxed);
  }
  return any;
}

bool ThreadPool::canGoOn(uint64_t state) const {
  uint64_t doing = state & doingBits;
  return doing == Begins ||
         (doing == Waits && static_cast<uint32_t>(state / onePhase) != phase.load(std::memory_order_acquire));
}

// Whether the worker has something to do and this thread takes it.
bool ThreadPool::take(Worker &worker) {
  uint64_t state = worker.state.load(std::memory_order_acquire);
  return canGoOn(state) && worker.state.compare_exchange_strong(state, Runs, std::memory_order_acq_rel);
}

// Runs the worker until it waits or has ended. Only then, when nothing runs on its stack, others may take it.
void ThreadPool::goOn(Worker &worker) {
  const int32_t all = count;  // cannot change while this worker has not ended
  worker.fiber.resume();
  if (!worker.fiber.hasEnded())
    return worker.state.store(worker.waitsIn * onePhase + Waits, std::memory_order_release);
  worker.state.store(Nothing, std::memory_order_release);
  if (ended.fetch_add(1, std::memory_order_acq_rel) + 1 < all)
    return;
  running.store(false, std::memory_order_release);
  changed.advance();  // perhaps after the next run has begun
}

// ---- On a worker's stack

void ThreadPool::callFunction(void *argument) {
  auto *worker = static_cast<Worker *>(argument);
  worker->pool->function(worker->pool->context, worker->index);
}

// The last one opens the barrier.
bool ThreadPool::opensBarrier() {
  if (arrived.fetch_add(1, std::memory_order_acq_rel) + 1 < count)
    return false;
  arrived.store(0, std::memory_order_relaxed);
  phase.fetch_add(1, std::memory_order_acq_rel);
  changed.advance();
  return true;
}

void ThreadPool::wait(int64_t number) {
  const uint32_t now = phase.load(std::memory_order_acquire);  // the same until this worker has arrived
  if (opensBarrier())
    return;
  for (int32_t i = 0; i < spinsBeforePause; ++i) {
    if (phase.load(std::memory_order_acquire) != now)
      return;
    spinOnce();
  }
  workers[number].waitsIn = now;
  workers[number].fiber.pause();
}

}  // namespace talc
