// SPDX-License-Identifier: Apache-2.0
// A program's questions about its processor: CPUID and XGETBV, which no system lets others answer, become undefined
// instructions while it is traced.
#pragma once

#include <cstdint>
#include <map>
#include <sys/types.h>
#include <sys/user.h>

namespace amx {

class Patches {
public:
  // Reads the program's own code, once it is loaded.
  explicit Patches(pid_t process);

  // Answers the question that a thread stopped at: a processor that has what this one has, and AMX. False: there is
  // none.
  bool answer(user_regs_struct &registers) const;

private:
  enum class Question { Cpuid, Xgetbv };
  void replace(int memory, uint64_t begin, uint64_t end);

  std::map<uint64_t, Question> questions;  // by address
};

}  // namespace amx
