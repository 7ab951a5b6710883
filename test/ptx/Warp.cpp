// SPDX-License-Identifier: Apache-2.0
// Groups of lanes stand at different instructions. The one that stands first in the kernel goes on; lanes that come to
// the same instruction become one group. Compilers place the block where ways meet behind those that lead to it.
#include "test/ptx/Warp.h"

#include "test/ptx/Fault.h"
#include "test/ptx/Launch.h"

#include <algorithm>

namespace talc::ptx {

Warp::Warp(Workgroup &workgroup, uint32_t number, uint32_t lanes)
    : workgroup(workgroup), kernel(workgroup.launch.kernel), number(number),
      local(kernel.localBytes * warpLanes, static_cast<unsigned char>(junk)),
      storage(new unsigned char[kernel.registerBytes + 64]),
      alive(lanes == warpLanes ? UINT32_MAX : (1u << lanes) - 1) {
  registers.at = storage.get() + (64 - reinterpret_cast<uintptr_t>(storage.get()) % 64);
  memcpy(registers.at, kernel.constants.data(), kernel.constants.size());
  memset(registers.at + kernel.constants.size(), junk, kernel.registerBytes - kernel.constants.size());
  fillSpecials();
  groups.push_back({0, alive, Group::Ready});
}

void Warp::fillSpecials() {
  const LaunchShape &shape = workgroup.launch.shape;
  for (const SpecialPlace &special : kernel.specials)
    for (uint32_t lane = 0; lane < warpLanes; ++lane) {
      uint32_t thread = number * warpLanes + lane, x = shape.block[0], y = shape.block[1];
      const uint32_t values[] = {thread % x,
                                 thread / x % y,
                                 thread / x / y,
                                 shape.block[0],
                                 shape.block[1],
                                 shape.block[2],
                                 workgroup.place[0],
                                 workgroup.place[1],
                                 workgroup.place[2],
                                 shape.grid[0],
                                 shape.grid[1],
                                 shape.grid[2],
                                 lane,
                                 number};
      lanes<uint32_t>(special.place)[lane] = values[static_cast<size_t>(special.which)];
    }
}

template <typename T> static void copyZeroExtended(const T *from, uint64_t *to) {
  for (int lane = 0; lane < warpLanes; ++lane)
    to[lane] = from[lane];
}

void Warp::read(uint32_t place, uint32_t bytes, uint64_t *values) {
  if (bytes == 2)
    copyZeroExtended(lanes<uint16_t>(place), values);
  else if (bytes == 4)
    copyZeroExtended(lanes<uint32_t>(place), values);
  else
    copyZeroExtended(lanes<uint64_t>(place), values);
}

template <typename T> static void narrow(const uint64_t *from, T *to) {
  for (int lane = 0; lane < warpLanes; ++lane)
    to[lane] = static_cast<T>(from[lane]);
}

void Warp::write(uint32_t place, uint32_t bytes, const uint64_t *values, uint32_t mask) {
  if (bytes == 8)
    return store(place, values, mask);
  uint32_t narrowed[warpLanes];
  if (bytes == 4) {
    narrow(values, narrowed);
    return store(place, narrowed, mask);
  }
  auto *halves = reinterpret_cast<uint16_t *>(narrowed);
  narrow(values, halves);
  store(place, halves, mask);
}

void Warp::fail(const Instruction &instruction, int lane, const std::string &what) const {
  const Extent &at = workgroup.place;
  throw Fault("kernel " + kernel.name + ", workgroup " + std::to_string(at[0]) + "," + std::to_string(at[1]) + "," +
              std::to_string(at[2]) + ", thread " + std::to_string(number * warpLanes + lane) + ", line " +
              std::to_string(instruction.line) + ": " + what + ": " + kernel.texts[instruction.statement]);
}

uint32_t Warp::waiting(uint32_t barrier) const {
  uint32_t mask = 0;
  for (const Group &group : groups)
    mask |= group.state == Group::AtBarrier && group.barrier == barrier ? group.mask : 0;
  return mask;
}

bool Warp::findBarrier(uint32_t from, uint32_t &barrier, uint32_t &threads) const {
  bool hasBarrier = false;
  for (const Group &group : groups)
    if (group.state == Group::AtBarrier && group.barrier >= from && (!hasBarrier || group.barrier < barrier)) {
      hasBarrier = true;
      barrier = group.barrier;
      threads = group.barrierThreads;
    }
  return hasBarrier;
}

void Warp::comeToBarrier(Group &group, const Instruction &instruction, uint32_t mask) {
  constexpr uint32_t barriers = 16;
  const int lane = __builtin_ctz(mask);
  group.barrier = lanes<uint32_t>(instruction.operands[0])[lane];
  group.barrierThreads = instruction.operands[1] == noPlace ? 0 : lanes<uint32_t>(instruction.operands[1])[lane];
  if (group.barrier >= barriers || group.barrierThreads % warpLanes != 0)
    fail(instruction, lane, "there is no such barrier");
  group.state = meets(group, instruction, mask) ? Group::AtBarrier : Group::Waiting;
}

void Warp::passBarrier(uint32_t number) {
  for (Group &group : groups)
    if (group.state == Group::AtBarrier && group.barrier == number) {
      group.state = Group::Ready;
      ++group.pc;
    }
}

Warp::Group *Warp::lowest() {
  Group *result = nullptr;
  for (Group &group : groups)
    if (group.state == Group::Ready && (!result || group.pc < result->pc))
      result = &group;
  return result;
}

// Lanes that have come to where others stand join them.
void Warp::mergeInto(size_t index) {
  for (size_t other = 0; other < groups.size(); ++other)
    if (other != index && groups[other].pc == groups[index].pc && groups[other].state != Group::AtBarrier) {
      groups[index].mask |= groups[other].mask;
      groups[other] = groups.back();
      groups.pop_back();
      return mergeInto(index == groups.size() ? other : index);
    }
}

uint32_t Warp::guarded(const Instruction &instruction, uint32_t mask) {
  if (instruction.guard == noPlace)
    return mask;
  uint32_t bits = predicate(instruction.guard);
  return mask & (instruction.guardNegated ? ~bits : bits);
}

// Lanes have come or gone: who waited for them looks again.
void Warp::wake() {
  for (Group &group : groups)
    group.state = group.state == Group::Waiting ? Group::Ready : group.state;
}

// Whether all lanes that must execute the instruction together are here.
bool Warp::meets(const Group &group, const Instruction &instruction, uint32_t mask) {
  if (mask == 0)
    return true;
  uint32_t requiredLanes = alive;
  if (instruction.members != noPlace)
    requiredLanes &= lanes<uint32_t>(instruction.members)[__builtin_ctz(mask)];
  return (mask & requiredLanes) == requiredLanes;
}

void Warp::branch(size_t index, uint32_t branchingLanes, uint32_t target) {
  if (branchingLanes == 0) {
    ++groups[index].pc;
  } else if (branchingLanes == groups[index].mask) {
    groups[index].pc = target;
  } else {
    groups[index].mask &= ~branchingLanes;
    ++groups[index].pc;
    groups.push_back({target, branchingLanes, Group::Ready});
    mergeInto(groups.size() - 1);
  }
}

void Warp::branchByTable(size_t index, const Instruction &instruction, uint32_t branchingLanes) {
  const std::vector<uint32_t> &table = kernel.branchTables[instruction.target];
  const uint32_t *choice = lanes<uint32_t>(instruction.operands[0]);
  if (branchingLanes != groups[index].mask)
    fail(instruction, __builtin_ctz(groups[index].mask), "a guard of brx is not known to the emulator");
  groups.erase(groups.begin() + static_cast<long>(index));
  for (uint32_t lane = 0; lane < warpLanes; ++lane) {
    if (!(branchingLanes >> lane & 1))
      continue;
    if (choice[lane] >= table.size())
      fail(instruction, static_cast<int>(lane), "behind the end of the table");
    groups.push_back({table[choice[lane]], 1u << lane, Group::Ready});
    mergeInto(groups.size() - 1);
  }
}

// One instruction of a group; false: the group waits.
bool Warp::step(Group &group) {
  const Instruction &instruction = kernel.code[group.pc];
  const uint32_t mask = guarded(instruction, group.mask);
  const size_t index = &group - groups.data();
  if (KernelCounts *counts = workgroup.launch.counts; counts && mask) {
    ++counts->instructions[static_cast<size_t>(instruction.kind)];
    counts->threadInstructions += __builtin_popcount(mask);
  }
  switch (instruction.flow) {
  case Flow::Together:
    if (!meets(group, instruction, mask)) {
      group.state = Group::Waiting;
      return false;
    }
    [[fallthrough]];
  case Flow::Next:
    if (mask)
      instruction.execute(*this, instruction, mask);
    pauses |= instruction.yields;
    ++group.pc;
    return true;
  case Flow::Branch:
    branch(index, mask, instruction.target);
    return true;
  case Flow::BranchTable:
    branchByTable(index, instruction, mask);
    return true;
  case Flow::Exit:
    alive &= ~mask;
    ++workgroup.launch.progress;
    group.mask &= ~mask;
    ++group.pc;
    if (group.mask == 0)
      groups.erase(groups.begin() + static_cast<long>(index));
    wake();
    return true;
  case Flow::Barrier:
    if (mask == 0) {
      ++group.pc;
      return true;
    }
    comeToBarrier(group, instruction, mask);
    return false;
  }
  return false;
}

// Somebody waits for lanes that stand elsewhere and wait, too.
void Warp::failApart() const {
  for (const Group &group : groups)
    if (group.state == Group::Waiting)
      fail(kernel.code[group.pc], __builtin_ctz(group.mask), "the lanes of the warp do not come here together");
  throw Fault("a warp without lanes");
}

bool Warp::run(uint64_t maxInstructions) {
  uint64_t done = 0;
  pauses = false;
  while (done < maxInstructions && !pauses) {
    Group *group = lowest();
    if (!group)
      break;
    if (groups.size() == 1) {  // nobody to meet
      while (done < maxInstructions && !pauses && groups.size() == 1 && step(groups.front()))
        ++done;
      if (groups.size() == 1 && groups.front().state != Group::Ready)
        break;
      continue;
    }
    done += step(*group);
    for (size_t i = 0; i < groups.size(); ++i)
      if (size_t before = groups.size(); groups[i].state != Group::AtBarrier) {
        mergeInto(i);
        if (groups.size() != before)
          wake();
      }
  }
  bool waits = std::any_of(groups.begin(), groups.end(), [](const Group &g) { return g.state == Group::Waiting; });
  if (waits && !lowest())
    failApart();
  return done > 0;
}

}  // namespace talc::ptx
