// SPDX-License-Identifier: Apache-2.0
// Which task a function does is forgotten while its loops run.
#pragma once

#include <cstdint>

namespace llvm {
class Instruction;
}  // namespace llvm

namespace talc::nvptx {

// What says which task a team does, and what a thread of it needs to leave that in shared memory.
struct TaskCoords {
  llvm::Instruction *column, *row;
  llvm::Instruction *thread;  // its number in the team
  bool isOfToken;             // of a step for one row
};

// What is computed of the task's place behind a loop that does without reads the place again, and in a token's task
// what is computed of the thread behind a barrier: each subgroup leaves what it needs in shared memory behind so many
// bytes. Returns how many more these are.
uint64_t rematerializeTaskCoords(const TaskCoords &place, llvm::Instruction &shared, uint64_t bytes, unsigned threads);

}  // namespace talc::nvptx
