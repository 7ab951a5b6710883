// SPDX-License-Identifier: Apache-2.0
// Finds and answers a program's questions about its processor.
#include "test/amx/Patches.h"

#include <cpuid.h>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <fstream>
#include <string>
#include <unistd.h>
#include <vector>

namespace amx {

Patches::Patches(pid_t process) {
  const std::string folder = "/proc/" + std::to_string(process);
  char program[4096] = {};
  if (readlink((folder + "/exe").c_str(), program, sizeof program - 1) < 0)
    return;
  int memory = open((folder + "/mem").c_str(), O_RDWR | O_CLOEXEC);
  std::ifstream maps(folder + "/maps");
  for (std::string line; std::getline(maps, line);) {
    unsigned long begin = 0, end = 0;
    char rights[5] = {};
    bool isCode = sscanf(line.c_str(), "%lx-%lx %4s", &begin, &end, rights) == 3 && rights[2] == 'x';
    if (isCode && line.size() > strlen(program) && line.substr(line.size() - strlen(program)) == program)
      replace(memory, begin, end);
  }
  close(memory);
}

void Patches::replace(int memory, uint64_t begin, uint64_t end) {
  constexpr uint8_t undefined[] = {0x0f, 0x0b};
  std::vector<uint8_t> code(end - begin);
  if (pread(memory, code.data(), code.size(), static_cast<off_t>(begin)) != static_cast<ssize_t>(code.size()))
    return;
  for (size_t i = 0; i + 2 < code.size(); ++i) {
    bool cpuid = code[i] == 0x0f && code[i + 1] == 0xa2;
    bool xgetbv = code[i] == 0x0f && code[i + 1] == 0x01 && code[i + 2] == 0xd0;
    if ((cpuid || xgetbv) && pwrite(memory, undefined, sizeof undefined, static_cast<off_t>(begin + i)) == 2)
      questions[begin + i] = cpuid ? Question::Cpuid : Question::Xgetbv;
  }
}

static void answerCpuid(user_regs_struct &registers) {
  constexpr unsigned tile = 1u << 24, bf16 = 1u << 22, int8 = 1u << 25;
  const auto leaf = static_cast<unsigned>(registers.rax), part = static_cast<unsigned>(registers.rcx);
  unsigned eax, ebx, ecx, edx;
  __cpuid_count(leaf, part, eax, ebx, ecx, edx);
  if (leaf == 7 && part == 0)
    edx |= tile | bf16 | int8;
  registers.rax = eax;
  registers.rbx = ebx;
  registers.rcx = ecx;
  registers.rdx = edx;
}

static void answerXgetbv(user_regs_struct &registers) {
  constexpr unsigned tiles = 0x60000;
  unsigned low, high;
  __asm__("xgetbv" : "=a"(low), "=d"(high) : "c"(static_cast<unsigned>(registers.rcx)));
  registers.rax = low | (registers.rcx == 0 ? tiles : 0);
  registers.rdx = high;
}

bool Patches::answer(user_regs_struct &registers) const {
  auto match = questions.find(registers.rip);
  if (match == questions.end())
    return false;
  bool cpuid = match->second == Question::Cpuid;
  cpuid ? answerCpuid(registers) : answerXgetbv(registers);
  registers.rip += cpuid ? 2 : 3;
  return true;
}

}  // namespace amx
