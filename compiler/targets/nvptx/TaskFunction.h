// SPDX-License-Identifier: Apache-2.0
// Adds to a kernel a function that does one of its tasks, for persistent kernels.
#pragma once

#include <cstdint>
#include <optional>

namespace llvm {
class Function;
class Instruction;
}  // namespace llvm

namespace talc::nvptx {

// Adds void <kernel>_task(), whose body a team of neighboring threads runs, as many as a workgroup of the kernel has.
// Returns the bytes of shared memory that a team needs, a multiple of 16. Returns nothing, and adds nothing, if the
// kernel asks for more than a task can be given. `manyRows`: the body keeps as little as possible in registers while
// loops run, since accumulators of many rows take all.
std::optional<uint64_t> addTaskFunction(llvm::Function &kernel, unsigned threads, bool manyRows);

// The registers that say which task a team does.
struct TaskCoords {
  llvm::Instruction *column, *row;
  llvm::Instruction *thread;  // index in the team
  bool isDecode;              // the step has one row
};

// Reloads the coordinates behind loops that do not use them, and in decode tasks also the thread's index behind
// barriers. Each warp stores them in shared memory from byte `bytes` on. Returns how many bytes that takes.
uint64_t rematerializeTaskCoords(const TaskCoords &coords, llvm::Instruction &shared, uint64_t bytes, unsigned threads);

}  // namespace talc::nvptx
