// SPDX-License-Identifier: Apache-2.0
// A share's word has the tag of the op (16 bits), the number of tasks taken (32), and of tasks that other threads are
// doing (16). Only the owner of the share changes the tag, when nothing is left of the op before. Ops that threads work
// on at the same time differ in it.
#include "runtime/device/cpu/WorkStealing.h"

namespace talc {

static constexpr uint64_t oneTaken = uint64_t(1) << 16, oneTag = uint64_t(1) << 48;

static uint64_t getTag(uint64_t word) {
  return word / oneTag;
}
static int64_t getTaken(uint64_t word) {
  return static_cast<int64_t>(word % oneTag / oneTaken);
}
static uint64_t getHelpers(uint64_t word) {
  return word % oneTaken;
}

// `helpers`: 1 if another thread takes the task, else 0. What the owner wrote before it reached the op is visible.
bool WorkStealing::Share::take(uint64_t tag, int64_t size, uint64_t helpers, int64_t &task) {
  uint64_t current = word.load(std::memory_order_acquire);
  while (getTag(current) == tag && getTaken(current) < size)
    if (word.compare_exchange_weak(current, current + oneTaken + helpers, std::memory_order_acq_rel)) {
      task = getTaken(current);
      return true;
    }
  return false;
}

WorkStealing::Range WorkStealing::getRange(int64_t thread, int64_t tasks) const {
  int64_t first = tasks * thread / threads;
  return {first, tasks * (thread + 1) / threads - first};
}

// Returns the next task of a thread that nobody can help.
int64_t WorkStealing::Share::takeAlone(uint64_t tag, int64_t tasks) {
  uint64_t current = word.load(std::memory_order_relaxed);
  if (getTag(current) != tag)
    current = tag * oneTag;
  if (getTaken(current) == tasks)
    return tasks;
  word.store(current + oneTaken, std::memory_order_relaxed);
  return getTaken(current);
}

int64_t WorkStealing::nextTask(int64_t thread, int64_t op, int64_t tasks, Waiter &waiter) {
  Share &ownShare = shares[thread];
  uint64_t tag = static_cast<uint64_t>(op + 1) % oneTaken;
  if (threads == 1)
    return ownShare.takeAlone(tag, tasks);
  if (ownShare.helped) {
    ownShare.helped->word.fetch_sub(1, std::memory_order_release);
    ownShare.helped->returned.advance();
    ownShare.helped = nullptr;
  }
  if (getTag(ownShare.word.load(std::memory_order_relaxed)) != tag)
    ownShare.word.store(tag * oneTag, std::memory_order_release);
  for (int64_t i = 0; i < threads; ++i) {
    Share &share = shares[(thread + i) % threads];
    Range range = getRange((thread + i) % threads, tasks);
    int64_t task = 0;
    if (!share.take(tag, range.size, i > 0, task))
      continue;
    ownShare.helped = i > 0 ? &share : nullptr;
    return range.first + task;
  }
  finish(ownShare, waiter);
  return tasks;
}

// Waits for threads that still do tasks of this share.
void WorkStealing::finish(Share &own, Waiter &waiter) {
  for (;;) {
    uint32_t current = own.returned.now();
    if (getHelpers(own.word.load(std::memory_order_acquire)) == 0)
      return;
    own.returned.await(current, waiter);
  }
}

void WorkStealing::begin(int32_t count) {
  threads = count;
  for (Share &share : shares)
    share.word.store(0, std::memory_order_relaxed);
}

}  // namespace talc
