// SPDX-License-Identifier: Apache-2.0
// Branches, the ends of threads, barriers and fences.
#include "test/ptx/Decoder.h"
#include "test/ptx/Warp.h"

namespace talc::ptx {

static void nothing(Warp &, const Instruction &, uint32_t) {}

static void trap(Warp &warp, const Instruction &instruction, uint32_t mask) {
  warp.fail(instruction, __builtin_ctz(mask), "trap");
}

static bool decodeBranch(Decoder &decoder, const Statement &statement, Instruction &instruction) {
  instruction.kind = InstructionClass::Branch;
  if (statement.has("idx")) {
    instruction.flow = Flow::BranchTable;
    instruction.operands[0] = decoder.place(statement, statement.operands.at(0), 4);
    instruction.target = decoder.branchTable(statement, statement.operands.at(1).name);
  } else {
    instruction.flow = Flow::Branch;
    instruction.target = decoder.label(statement, statement.operands.at(0).name);
  }
  return true;
}

// bar.sync a: all threads of the workgroup; bar.sync a, b: so many.
static bool decodeBarrier(Decoder &decoder, const Statement &statement, Instruction &instruction) {
  instruction.kind = InstructionClass::Barrier;
  if (statement.opcode == "bar" && statement.has("warp")) {
    instruction.flow = Flow::Together;
    instruction.execute = nothing;
    instruction.members = decoder.place(statement, statement.operands.at(0), 4);
    return true;
  }
  if (statement.operands.empty() || statement.operands.size() > 2 || !statement.has("sync"))
    Decoder::fail(statement, "barriers other than bar.sync are not known to the emulator");
  instruction.operands[0] = decoder.place(statement, statement.operands[0], 4);
  instruction.operands[1] =
      statement.operands.size() > 1 ? decoder.place(statement, statement.operands[1], 4) : noPlace;
  instruction.flow = Flow::Barrier;
  return true;
}

bool decodeControl(Decoder &decoder, const Statement &statement, Instruction &instruction) {
  const std::string &opcode = statement.opcode;
  if (opcode == "bra" || opcode == "brx")
    return decodeBranch(decoder, statement, instruction);
  if (opcode == "bar" || opcode == "barrier")
    return decodeBarrier(decoder, statement, instruction);
  if (opcode == "ret" || opcode == "exit") {
    instruction.kind = InstructionClass::Branch;
    instruction.flow = Flow::Exit;
    return true;
  }
  // Memory is consistent here: a fence has nothing to do. What is prefetched is there already.
  const bool fence = opcode == "membar" || opcode == "fence";
  if (!fence && opcode != "prefetch" && opcode != "prefetchu" && opcode != "nanosleep" && opcode != "trap")
    return false;
  instruction.kind = fence ? InstructionClass::Barrier : InstructionClass::Branch;
  instruction.execute = opcode == "trap" ? trap : nothing;
  return true;
}

}  // namespace talc::ptx
