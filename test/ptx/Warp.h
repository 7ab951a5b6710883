// SPDX-License-Identifier: Apache-2.0
// 32 threads in lock step. Where they part, the ones that are furthest behind go first, so that they meet again; lanes
// that need each other wait for each other.
#pragma once

#include "test/ptx/Program.h"

#include <cstring>
#include <vector>

namespace talc::ptx {

class Workgroup;

// An asynchronous copy to shared memory that has not been waited for.
struct PendingCopy {
  uint32_t lane, group;       // group: number of the thread's groups before this one
  uint64_t target, source;    // source: on the device
  uint32_t bytes, readBytes;  // the rest is zero
};

class Warp {
public:
  Warp(Workgroup &workgroup, uint32_t number, uint32_t lanes);

  // Executes instructions until no lane can go on, or `maxInstructions` are done. Returns whether any was.
  bool run(uint64_t maxInstructions);
  // The lanes that wait at a barrier go on.
  void passBarrier(uint32_t number);

  bool ended() const { return alive == 0; }
  uint32_t living() const { return alive; }
  uint32_t waiting(uint32_t barrier) const;  // lanes
  // At the lowest barrier where lanes wait; false: nowhere. `threads`: that it is for, 0: all.
  bool findBarrier(uint32_t from, uint32_t &barrier, uint32_t &threads) const;

  // ---- For instructions

  template <typename T> T *lanes(uint32_t place) { return reinterpret_cast<T *>(registers.get() + place); }
  uint32_t &predicate(uint32_t place) { return *lanes<uint32_t>(place); }
  // Writes the lanes of a mask.
  template <typename T> void store(uint32_t place, const T *values, uint32_t mask) {
    T *target = lanes<T>(place);
    if (mask == UINT32_MAX) {
      memcpy(target, values, warpLanes * sizeof(T));
      return;
    }
    for (int lane = 0; lane < warpLanes; ++lane)
      target[lane] = mask >> lane & 1 ? values[lane] : target[lane];
  }
  void storePredicate(uint32_t place, uint32_t bits, uint32_t mask) {
    predicate(place) = (predicate(place) & ~mask) | (bits & mask);
  }
  // Values of registers of so many bytes, and back; upper bits of a value are dropped.
  void read(uint32_t place, uint32_t bytes, uint64_t *values);
  void write(uint32_t place, uint32_t bytes, const uint64_t *values, uint32_t mask);

  [[noreturn]] void fail(const Instruction &instruction, int lane, const std::string &what) const;

  Workgroup &workgroup;
  const Kernel &kernel;
  const uint32_t number;
  std::vector<unsigned char> local;  // of all lanes, one after the other
  std::vector<PendingCopy> copies;
  uint32_t copyGroups[warpLanes] = {};  // that a lane has closed

private:
  // Lanes at the same instruction.
  struct Group {
    uint32_t pc, mask;
    enum { Ready, Waiting, AtBarrier } state;
    uint32_t barrier = 0, barrierThreads = 0;  // where it waits
  };

  void fillSpecials();
  Group *lowest();
  void mergeInto(size_t index);
  void wake();
  bool step(Group &group);
  void comeToBarrier(Group &group, const Instruction &instruction, uint32_t mask);
  bool meets(const Group &group, const Instruction &instruction, uint32_t mask);
  void branch(size_t index, uint32_t branchingLanes, uint32_t target);
  void branchByTable(size_t index, const Instruction &instruction, uint32_t branchingLanes);
  [[noreturn]] void failApart() const;
  uint32_t guarded(const Instruction &instruction, uint32_t mask);

  std::unique_ptr<unsigned char[]> storage;
  struct Aligned {
    unsigned char *at = nullptr;
    unsigned char *get() const { return at; }
  } registers;
  uint32_t alive;
  bool pauses = false;  // an instruction gave others their turn
  std::vector<Group> groups;
};

}  // namespace talc::ptx
