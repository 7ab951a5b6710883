// SPDX-License-Identifier: Apache-2.0
// Frees the registers of a task's coordinates while its loops run.
#pragma once

#include <cstdint>

namespace llvm {
class Instruction;
}  // namespace llvm

namespace talc::nvptx {

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
