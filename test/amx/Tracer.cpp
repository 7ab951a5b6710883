// SPDX-License-Identifier: Apache-2.0
// Waits for signals of undefined instructions and for one system call: the request for the registers of AMX.
#include "test/amx/Tracer.h"

#include <cstdio>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <vector>

namespace amx {

static uint64_t registerValue(const user_regs_struct &r, int number) {
  const unsigned long long values[] = {r.rax, r.rcx, r.rdx, r.rbx, r.rsp, r.rbp, r.rsi, r.rdi,
                                       r.r8,  r.r9,  r.r10, r.r11, r.r12, r.r13, r.r14, r.r15};
  return number < 0 ? 0 : values[number];
}

// For tiles the index is the distance of rows.
static uint64_t firstByte(const Address &at, const user_regs_struct &r, bool withIndex) {
  uint64_t place = registerValue(r, at.base) + static_cast<uint64_t>(at.displacement);
  return withIndex ? place + registerValue(r, at.index) * static_cast<uint64_t>(at.scale) : place;
}

static bool refuse(const char *why) {
  fprintf(stderr, "amx-run: %s\n", why);
  return false;
}

int Tracer::run() {
  constexpr long options = PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACECLONE | PTRACE_O_EXITKILL;
  ptrace(PTRACE_SETOPTIONS, process, nullptr, options);
  ptrace(PTRACE_SYSCALL, process, nullptr, nullptr);
  for (int status = 0;;) {
    pid_t thread = waitpid(-1, &status, __WALL);
    if (thread < 0)
      return 1;
    if (WIFSTOPPED(status)) {
      stopped(thread, status);
      continue;
    }
    threads.erase(thread);
    if (thread == process)
      return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }
}

void Tracer::stopped(pid_t thread, int status) {
  int signal = WSTOPSIG(status);
  bool isNew = threads.try_emplace(thread).second;
  if (signal == (SIGTRAP | 0x80)) {
    systemCall(thread);
    signal = 0;
  } else if ((signal == SIGTRAP && status >> 16 != 0) || (signal == SIGSTOP && isNew) ||
             (signal == SIGILL && illegalInstruction(thread))) {
    signal = 0;
  }
  ptrace(PTRACE_SYSCALL, thread, nullptr, static_cast<long>(signal));
}

// Linux of a processor without AMX refuses the request; it is granted on the way back.
void Tracer::systemCall(pid_t thread) {
  constexpr unsigned long requestPermission = 0x1023, tileData = 18;
  __ptrace_syscall_info info;
  if (ptrace(PTRACE_GET_SYSCALL_INFO, thread, sizeof info, &info) <= 0)
    return;
  if (info.op == PTRACE_SYSCALL_INFO_ENTRY) {
    threads[thread].asking =
        info.entry.nr == SYS_arch_prctl && info.entry.args[0] == requestPermission && info.entry.args[1] == tileData;
  } else if (info.op == PTRACE_SYSCALL_INFO_EXIT && threads[thread].asking) {
    user_regs_struct registers;
    ptrace(PTRACE_GETREGS, thread, nullptr, &registers);
    registers.rax = 0;
    permitted = true;
    ptrace(PTRACE_SETREGS, thread, nullptr, &registers);
  }
}

bool Tracer::illegalInstruction(pid_t thread) {
  user_regs_struct registers;
  ptrace(PTRACE_GETREGS, thread, nullptr, &registers);
  if (!patches.answer(registers)) {
    uint8_t code[mostBytes] = {};
    iovec here{code, sizeof code}, there{reinterpret_cast<void *>(registers.rip), sizeof code};
    if (process_vm_readv(process, &here, 1, &there, 1, 0) <= 0)
      return false;
    std::optional<Instruction> instruction = decode(code);
    if (!instruction)
      return false;
    if (!permitted)
      return refuse("the program has not asked for the registers");
    if (!execute(thread, *instruction, registers))
      return false;
    registers.rip += static_cast<unsigned long long>(instruction->length);
  }
  ptrace(PTRACE_SETREGS, thread, nullptr, &registers);
  return true;
}

bool Tracer::execute(pid_t thread, const Instruction &instruction, const user_regs_struct &registers) {
  Tiles &tiles = threads[thread].tiles;
  switch (instruction.kind) {
  case Kind::LoadConfiguration:
  case Kind::StoreConfiguration:
    return moveConfiguration(tiles, instruction, registers);
  case Kind::Release:
    tiles.release();
    return true;
  case Kind::Zero:
    tiles[instruction.tile] = Tile();
    return tiles.isConfigured() || refuse("the tiles are not configured");
  case Kind::Load:
  case Kind::Store:
    return moveRows(thread, instruction, registers);
  case Kind::Multiply:
    break;
  }
  const char *why = tiles.multiply(instruction.product, instruction.tile, instruction.a, instruction.b);
  return !why || refuse(why);
}

bool Tracer::moveConfiguration(Tiles &tiles, const Instruction &instruction, const user_regs_struct &registers) {
  Bytes bytes = tiles.configuration();
  iovec here{bytes.data(), bytes.size()};
  iovec there{reinterpret_cast<void *>(firstByte(instruction.address, registers, true)), bytes.size()};
  if (instruction.kind == Kind::StoreConfiguration)
    return process_vm_writev(process, &here, 1, &there, 1, 0) == rowBytes;
  if (process_vm_readv(process, &here, 1, &there, 1, 0) != rowBytes)
    return refuse("the configuration lies at no address");
  const char *why = tiles.configure(bytes);
  return !why || refuse(why);
}

bool Tracer::moveRows(pid_t thread, const Instruction &instruction, const user_regs_struct &registers) {
  Tiles &tiles = threads[thread].tiles;
  const Address &at = instruction.address;
  Shape shape = tiles.shape(instruction.tile);
  if (shape.rows == 0)
    return refuse("the tile has no shape");
  uint64_t first = firstByte(at, registers, false);
  uint64_t distance = registerValue(registers, at.index) * static_cast<uint64_t>(at.scale);
  const auto bytes = static_cast<size_t>(shape.bytes);
  Tile loaded;
  Tile &tile = instruction.kind == Kind::Load ? loaded : tiles[instruction.tile];
  std::vector<iovec> here, there;
  for (int r = 0; r < shape.rows; ++r) {
    here.push_back({tile.row[r].data(), bytes});
    there.push_back({reinterpret_cast<void *>(first + static_cast<uint64_t>(r) * distance), bytes});
  }
  auto move = instruction.kind == Kind::Load ? process_vm_readv : process_vm_writev;
  if (move(process, here.data(), here.size(), there.data(), there.size(), 0) !=
      static_cast<ssize_t>(bytes * here.size()))
    return refuse("a row lies at no address");
  if (instruction.kind == Kind::Load)
    tiles[instruction.tile] = loaded;
  return true;
}

}  // namespace amx
