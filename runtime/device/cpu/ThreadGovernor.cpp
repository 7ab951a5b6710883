// SPDX-License-Identifier: Apache-2.0
// Falls at once and climbs with care: too many threads can be fifty times slower.
#include "runtime/device/cpu/ThreadGovernor.h"

#include <algorithm>

namespace talc {

constexpr double millisecond = 1e6, patience = 1 * millisecond, credit = 4 * millisecond;
constexpr double lossShare = 0.02, smallStep = 0.2 * millisecond;
// The time between falling and trying again: the least, the most if the loss may have been chance, and the most.
constexpr double soonest = 2 * millisecond, shortWait = 100 * millisecond, longestWait = 10000 * millisecond;
// Intervals: of asking the system for free CPUs, and of trying more threads although it reports none.
constexpr double askAgain = 20 * millisecond, tryAnyway = 500 * millisecond;

ThreadGovernor::ThreadGovernor(int32_t all, int32_t processors, int32_t online, int32_t (*others)())
    : processors(processors), online(online), others(others), debt(-credit) {
  for (int32_t threads = all; threads > 1; threads = std::max(threads * 3 / 4, 1))
    levels.push_back({threads, std::vector<Cost>(kinds)});
  levels.push_back({1, std::vector<Cost>(kinds)});
  while (level + 1 < levels.size() && !isFree(level))
    ++level;
}

// Other threads are spread over all CPUs, of which this program may use a part.
bool ThreadGovernor::isFree(size_t level) const {
  int64_t here = (int64_t(others()) * processors + online / 2) / online;
  return processors - here >= levels[level].threads;
}

int32_t ThreadGovernor::stepKind(int32_t entry, int64_t tokens) {
  int32_t magnitude = 63 - __builtin_clzll(static_cast<uint64_t>(tokens) | 1);
  return entry * 32 + std::min(magnitude, 31);
}

void ThreadGovernor::climb(int64_t now) {
  --level;
  balance = 0;
  moved = now;
  nextAsk = nextTry = now + static_cast<int64_t>(soonest);
}

// A loss after a long stay may be chance, as when a virtual machine was stopped for a moment.
void ThreadGovernor::fall(int64_t now) {
  bool chance = static_cast<double>(now - moved) > 20 * balance;
  debt = std::max(debt - lossShare * static_cast<double>(now - fell), -credit) + balance;
  double wait = std::clamp(debt / lossShare, soonest, chance ? shortWait : longestWait);
  ++level;
  balance = 0;
  fell = moved = now;
  nextTry = now + static_cast<int64_t>(wait);
  nextAsk = now + static_cast<int64_t>(soonest);  // when threads have ceased to spin
  wasFree = true;
}

// The system's report about other programs is only a hint: they may run on CPUs that this one may not use.
bool ThreadGovernor::wantsMore(int64_t now) {
  if (level == 0 || now < nextAsk)
    return false;
  nextAsk = now + static_cast<int64_t>(askAgain);
  bool free = isFree(level - 1), becameFree = free && !wasFree;
  wasFree = free;
  return becameFree || (now >= nextTry && (free || now >= moved + static_cast<int64_t>(tryAnyway)));
}

int32_t ThreadGovernor::choose(int32_t kind, int64_t now) {
  if (!begun) {
    begun = true;
    moved = nextTry = now;
    nextAsk = now + static_cast<int64_t>(soonest);
  }
  if (wantsMore(now))
    climb(now);
  used = level + static_cast<size_t>(wantsSample(kind));
  return levels[used].threads;
}

// In small steps the threads themselves may cause much of the work, which a try with fewer of them reveals cheaply.
bool ThreadGovernor::wantsSample(int32_t kind) const {
  constexpr int32_t warm = 8;
  const Cost &cost = levels[level].costs[kind];
  return level + 1 < levels.size() && levels[level + 1].costs[kind].steps == 0 && cost.steps >= warm &&
         cost.nanoseconds < smallStep;
}

// Estimates nanoseconds. The work of all threads is that of the calling one times their number, since shares are alike.
double ThreadGovernor::costOfFewer(int32_t kind, int64_t rows, int64_t nanoseconds, int64_t waited) const {
  const Level &fewer = levels[level + 1];
  double work = static_cast<double>((nanoseconds - waited) * levels[level].threads) / fewer.threads;
  const Cost &cost = fewer.costs[kind];
  return cost.steps > 0 ? std::min(cost.perRow * static_cast<double>(rows), work) : work;
}

void ThreadGovernor::Cost::add(double time, int64_t rows) {
  double weight = steps == 0 ? 1 : 0.25;
  nanoseconds += weight * (time - nanoseconds);
  perRow += weight * (time / static_cast<double>(rows) - perRow);
  steps = std::min(steps + 1, 1000);
}

void ThreadGovernor::ran(int32_t kind, int64_t rows, int64_t now, int64_t nanoseconds, int64_t waited) {
  levels[used].costs[kind].add(static_cast<double>(nanoseconds), rows);
  if (used != level || level + 1 == levels.size())
    return;
  balance += static_cast<double>(nanoseconds) - costOfFewer(kind, rows, nanoseconds, waited);
  balance = std::max(balance, -credit);
  if (balance > patience)
    fall(now);
}

}  // namespace talc
