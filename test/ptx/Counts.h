// SPDX-License-Identifier: Apache-2.0
// Counts what kernels do: instructions by class, MMA instructions, memory requests and what they cost a GPU.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>

namespace talc::ptx {

enum class InstructionClass : uint8_t {
  Integer,    // arithmetic and logic, comparisons, selections
  Float,      // f16, bf16, f32, f64
  Special,    // exponentials, roots, reciprocals
  Convert,    // between types
  Move,       // between registers
  Branch,     // and the end of a thread
  Parameter,  // of the kernel, loaded
  Global,     // loads and stores
  Shared,     // loads and stores
  Local,      // loads and stores
  CopyAsync,  // from global to shared memory
  Matrix,     // mma
  Fragment,   // ldmatrix
  Exchange,   // among the lanes of a warp
  Atomic,
  Barrier,  // and fences
};
constexpr size_t instructionClasses = 16;

const char *className(InstructionClass kind);

struct KernelCounts {
  uint64_t launches = 0, workgroups = 0, warps = 0;
  std::array<uint64_t, instructionClasses> instructions = {};  // of warps
  uint64_t threadInstructions = 0;
  // A request is an instruction of a warp. Sectors are 32 bytes; `globalBytes` is what threads asked for.
  uint64_t loadRequests = 0, loadSectors = 0, loadBytes = 0;
  uint64_t storeRequests = 0, storeSectors = 0, storeBytes = 0;
  // `sharedLoads` counts the shared requests that load, `bankConflicts` the passes beyond those that the bytes need.
  uint64_t sharedRequests = 0, sharedLoads = 0, bankConflicts = 0;
  uint64_t barriers = 0;  // that workgroups passed
};

// By the names of kernels.
using Counts = std::map<std::string, KernelCounts>;

// A table for people, a line for each kernel.
std::string countsTable(const Counts &counts);

// Sectors that a request's addresses touch, and passes beyond those that its bytes need.
uint32_t countSectors(const uint64_t *addresses, uint32_t mask, uint32_t bytes);
uint32_t countBankConflicts(const uint64_t *addresses, uint32_t mask, uint32_t bytes);

}  // namespace talc::ptx
