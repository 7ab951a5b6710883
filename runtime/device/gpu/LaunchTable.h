// SPDX-License-Identifier: Apache-2.0
// CONTRACT between code for GPUs and runtime: a step as a table of launches.
//
// A Code section of a family of GPUs (CodeHeader::family: nvptx, vulkan) has, behind its head:
//
//   LaunchHeader | LaunchModule[] | LaunchKernel[] | LaunchEntry[] | Launch[] | LaunchArgument[] | ... | modules
//
// The code of kernels is in modules: one for each entry, with the kernels that no entry before it launches, and one for
// its persistent kernel. So a device can load each when a step first needs it.
//
// The launches of an entry run in their order. One that waits sees what all before it wrote, and they are done with
// what it writes; launches that follow it without waiting may run beside it. A launch runs grid.x * grid.y workgroups
// of its kernel; one whose grid.x is 0 is left out. All arguments of kernels have 64 bits, addresses on the device or
// numbers:
//
//   value = base + fixed + perToken * tokenCount of the step
//
// What a launch reads of the step itself lies in one buffer of 32-bit words, StepTables and behind it the arrays; a
// step is one copy to the device. The arena is sized for one worker, since no workgroup has memory of its own in it. The KV cache
// of a slot lies as on CPUs, at ModelInfo::kvBytesPerSlot * slot, and is zero where no step has written.
#pragma once

#include "runtime/device/Step.h"

#include <algorithm>

namespace talc::artifact {

constexpr char launchMagic[8] = {'T', 'A', 'L', 'C', 'G', 'P', 'U', '6'};

struct LaunchHeader {
  char magic[8];  // launchMagic
  uint32_t kernelCount, entryCount, launchCount, argumentCount;
  uint32_t moduleCount, reserved;
};

// PTX without a NUL; or SPIR-V modules in the order of the module's kernels, each behind its number of words, with
// the kernel's name for the entry point, whose one push constant is the address of the arguments.
struct LaunchModule {
  uint64_t offset, bytes;  // from the LaunchHeader, behind the module before it; at least one byte
};

// The base of a value. Buffers are at least 256-byte aligned.
enum class LaunchBase : uint32_t {
  Number = 0,   // zero
  Weights = 1,  // the section of the layout that the code reads
  KvCache = 2,  // slot 0; perToken is 0
  Arena = 3,
  Step = 4,     // StepTables; fixed and perToken are 0
  Result0 = 5,  // [wanted tokens][width] of the first result, then of the others; fixed and perToken are 0
  Wanted0 = Result0 + maxOutputs,  // a number: how many tokens' first result is wanted, then of the others
};
constexpr uint32_t launchBases = static_cast<uint32_t>(LaunchBase::Wanted0) + maxOutputs;

// Returns the base of a result; `first`: Result0 or Wanted0.
constexpr LaunchBase resultBase(LaunchBase first, int64_t result) {
  return static_cast<LaunchBase>(static_cast<uint32_t>(first) + result);
}

struct LaunchArgument {
  uint32_t base;  // LaunchBase
  uint32_t reserved;
  int64_t fixed, perToken;  // not negative
};

constexpr uint32_t noArgument = UINT32_MAX;

// x = plus + ceil(n / divisor); n: the value of argument `rows` of the launch, whose base is a number (Number, or
// from Wanted0 on), or 0 if that is noArgument.
struct LaunchGrid {
  uint32_t rows, divisor, plus;  // divisor >= 1
  uint32_t y;                    // 1 to 65535
};

constexpr uint32_t noKernel = UINT32_MAX;

struct LaunchKernel {
  char name[64];           // in its module; NUL-terminated
  uint32_t threads;        // of a workgroup, in x; 1 to 1024
  uint32_t sharedBytes;    // that the code declares
  uint32_t dynamicBytes;   // of shared memory that the launch adds
  uint32_t argumentCount;  // at least 1
  LaunchGrid grid;
  uint32_t module, reserved;  // index of the module that has its code
};

struct LaunchEntry {
  char name[32];  // encode, prefill, decode; NUL-terminated
  uint32_t firstLaunch, launchCount;
  uint32_t persistentKernel;  // does the same as the launches; noKernel: there is none
  uint32_t persistentTokens;  // of a step for which it is meant, at most
};

struct Launch {
  uint32_t kernel, firstArgument;  // its arguments are the kernel's argumentCount from there on
  uint32_t mark;                   // its place in the manifest's list of kernels, for tools; UINT32_MAX: none
  uint32_t waits;                  // 1: it waits for all before it; 0: it does not
};

// ---- Persistent kernels
//
// A step may also be one launch, of as many workgroups as are on the device at the same time. These do what the entry's
// launches would do, one after the other: the tasks of a launch are its workgroups. Arguments:
//
//   address of PersistentLaunch[count] | count | address of uint32_t[1 + count], all 0
//
// Between two launches workgroups wait for each other if the second one waits. The last are counters: how often
// workgroups have come to such a barrier, and how many tasks of each launch were taken beyond those that workgroups
// begin with. A launch with fewer threads than the kernel is done by teams of so many, each with an equal part of the
// kernel's dynamic shared memory, but for the kernel's own bytes in front. Threads of no team wait for the others.
constexpr uint32_t persistentArguments = 3;
constexpr uint32_t persistentOwnBytes = 16;
constexpr uint32_t maxTeams = 15;  // each has a barrier, beside that of the workgroup

// Returns how many teams for a kernel a workgroup of so many threads and bytes has; 0: it is too small for one.
constexpr uint32_t teamsFor(const LaunchKernel &kernel, uint32_t threads, uint32_t dynamicBytes) {
  if (kernel.threads == 0 || dynamicBytes < persistentOwnBytes)
    return 0;
  const uint32_t teams = std::min(threads / kernel.threads, maxTeams), bytes = dynamicBytes - persistentOwnBytes;
  return kernel.sharedBytes == 0 ? teams : std::min(teams, bytes / kernel.sharedBytes);
}

struct PersistentLaunch {
  uint32_t kernel;     // number of the kernel whose tasks they are
  uint32_t columns;    // workgroups in x of the launch, at least 1: task t is workgroup (t % columns, t / columns)
  uint32_t tasks;      // workgroups of the launch
  uint32_t threads;    // of a team
  uint32_t teams;      // of a workgroup: teamsFor()
  uint32_t barrier;    // number of the one in front of it, from 1 on; 0: none
  uint64_t arguments;  // address of the values of its arguments
};

// ---- Steps

// Counts, and offsets in the step's buffer; these are counted in words from the beginning of this struct. The size of a
// struct of an array is that of Step.h in words.
struct StepTables {
  int32_t tokenCount, spanCount;
  int32_t tokenIds;  // [tokenCount]
  int32_t tokens;    // StepToken [tokenCount]
  int32_t spans;     // Span [spanCount]
  int32_t history;   // slots; see Span::history
  int32_t wantedCount[maxOutputs];
  int32_t wanted[maxOutputs];  // [wantedCount], tokens of the step
};

}  // namespace talc::artifact
