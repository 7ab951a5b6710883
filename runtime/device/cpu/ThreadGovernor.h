// SPDX-License-Identifier: Apache-2.0
// Decides how many threads a step runs on: all of them while that pays, fewer where threads mostly wait for each other.
//
// When another program takes a thread's CPU, the thread comes back milliseconds later, and all others wait for it: then
// fewer threads are faster. Results do not depend on the number, so it can change with every step. The governor keeps
// an account of the time that the present number of threads saves, and costs, compared with the next lower one:
//
//   balance += time of the step - what it would have taken on fewer threads
//
//   balance   1 ms ......................... too much was lost: take fewer, and try again only when that loss has
//                  \    __   /               become a small part of the time that has passed
//              0 ---\--/--\-/----
//                    \/    v
//          -credit  .....................  what was gained long ago does not count
//
// The time on fewer threads is known from steps of the same kind that ran on them, or else estimated from the work of a
// thread.
#pragma once

#include "runtime/artifact/ArtifactFormat.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace talc {

class ThreadGovernor {
public:
  // Uses at most `all` threads, on so many of the CPUs that are online. `others`: returns how many threads of other
  // programs run or want to right now, as far as the system tells.
  ThreadGovernor(int32_t all, int32_t processors, int32_t online, int32_t (*others)());

  // Returns how many threads the next step runs on. `kind`: 0 to kinds - 1, steps that take about the same time per
  // token.
  int32_t choose(int32_t kind, int64_t now);
  // Records the nanoseconds of the step, and those that the calling thread waited.
  void ran(int32_t kind, int64_t rows, int64_t now, int64_t nanoseconds, int64_t waited);

  static constexpr int32_t kinds = 32 * artifact::maxEntries;
  static int32_t stepKind(int32_t entry, int64_t tokens);

private:
  // The recent cost of steps of a kind.
  struct Cost {
    double nanoseconds = 0, perRow = 0;
    int32_t steps = 0;
    void add(double time, int64_t rows);
  };
  // A number of threads that is tried.
  struct Level {
    int32_t threads;
    std::vector<Cost> costs;  // [kind]
  };

  bool isFree(size_t level) const;
  bool wantsSample(int32_t kind) const;
  bool wantsMore(int64_t now);
  void climb(int64_t now);
  void fall(int64_t now);
  double costOfFewer(int32_t kind, int64_t rows, int64_t nanoseconds, int64_t waited) const;

  std::vector<Level> levels;  // descending, the last is one thread
  const int32_t processors, online;
  int32_t (*const others)();
  size_t level = 0, used = 0;  // used: by the step that runs
  double balance = 0, debt;    // nanoseconds: of this stay, and lost by those before beyond what is allowed
  int64_t moved = 0, fell = 0, nextAsk = 0, nextTry = 0;
  bool begun = false;
  bool wasFree = false;  // there were CPUs for more threads
};

}  // namespace talc
