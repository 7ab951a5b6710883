// SPDX-License-Identifier: Apache-2.0
// Runs a process with all its threads, and does for it what its processor does not know.
#pragma once

#include "test/amx/Decoder.h"
#include "test/amx/Patches.h"

#include <csignal>
#include <optional>
#include <unordered_map>

namespace amx {

class Tracer {
public:
  // Takes a process that stopped where its program begins.
  explicit Tracer(pid_t process) : process(process), patches(process) {}

  // Until it ends; its exit status, or 128 and the signal that ended it.
  int run();

private:
  struct Thread {
    Tiles tiles;
    bool asking = false;  // for the registers, in a system call
  };

  void stopped(pid_t thread, int status);
  void systemCall(pid_t thread);
  // False: the instruction is none of AMX's.
  bool illegalInstruction(pid_t thread);
  bool execute(pid_t thread, const Instruction &instruction, const user_regs_struct &registers);
  bool moveRows(pid_t thread, const Instruction &instruction, const user_regs_struct &registers);
  bool moveConfiguration(Tiles &tiles, const Instruction &instruction, const user_regs_struct &registers);

  const pid_t process;
  const Patches patches;
  std::unordered_map<pid_t, Thread> threads;
  bool permitted = false;  // whether the process was given the registers
};

}  // namespace amx
