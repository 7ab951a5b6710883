// SPDX-License-Identifier: Apache-2.0
// mov, also into parts of a register and out of them, and cvta, which changes what space an address counts in.
#include "test/ptx/Decoder.h"
#include "test/ptx/Warp.h"

namespace talc::ptx {

static uint32_t typeBytes(const Statement &statement) {
  const std::string type = statement.modifiers.empty() ? "" : statement.modifiers.back();
  return type == "pred" ? 0 : static_cast<uint32_t>(atoi(type.c_str() + std::min<size_t>(type.size(), 1)) / 8);
}

template <typename T> static void move(Warp &warp, const Instruction &instruction, uint32_t mask) {
  warp.store(instruction.operands[0], warp.lanes<T>(instruction.operands[1]), mask);
}

static void movePredicate(Warp &warp, const Instruction &instruction, uint32_t mask) {
  warp.storePredicate(instruction.operands[0], warp.predicate(instruction.operands[1]), mask);
}

// One register from `count` parts of `bytes`, the lowest first.
static void pack(Warp &warp, const Instruction &instruction, uint32_t mask) {
  uint64_t result[warpLanes] = {}, part[warpLanes];
  for (uint32_t i = 0; i < instruction.count; ++i) {
    warp.read(instruction.operands[i + 1], instruction.bytes, part);
    for (int lane = 0; lane < warpLanes; ++lane)
      result[lane] |= part[lane] << 8 * instruction.bytes * i;
  }
  warp.write(instruction.operands[0], instruction.registerBytes, result, mask);
}

static void unpack(Warp &warp, const Instruction &instruction, uint32_t mask) {
  uint64_t whole[warpLanes];
  warp.read(instruction.operands[0], instruction.registerBytes, whole);
  for (uint32_t i = 0; i < instruction.count; ++i) {
    if (instruction.operands[i + 1] != noPlace)  // _
      warp.write(instruction.operands[i + 1], instruction.bytes, whole, mask);
    for (uint64_t &value : whole)
      value >>= 8 * instruction.bytes;
  }
}

static void decodeParts(Decoder &decoder, const Statement &statement, const Operand &list, const Operand &single,
                        Instruction &instruction) {
  uint32_t bytes = typeBytes(statement);
  instruction.count = static_cast<uint8_t>(list.elements.size());
  instruction.bytes = static_cast<uint8_t>(bytes / instruction.count);
  instruction.registerBytes = static_cast<uint8_t>(bytes);
  if (instruction.bytes < 2 || instruction.count > 4)
    Decoder::fail(statement, "parts of this width are not known to the emulator");
  instruction.operands[0] = decoder.place(statement, single, bytes);
  for (size_t i = 0; i < list.elements.size(); ++i)
    instruction.operands[i + 1] =
        list.elements[i].name == "_" ? noPlace : decoder.place(statement, list.elements[i], instruction.bytes);
}

static void decodeMov(Decoder &decoder, const Statement &statement, Instruction &instruction) {
  const Operand &target = statement.operands[0], &source = statement.operands[1];
  if (target.kind == Operand::Kind::List) {
    instruction.execute = unpack;
    return decodeParts(decoder, statement, target, source, instruction);
  }
  if (source.kind == Operand::Kind::List) {
    instruction.execute = pack;
    return decodeParts(decoder, statement, source, target, instruction);
  }
  uint32_t bytes = typeBytes(statement);
  instruction.execute = bytes == 0   ? movePredicate
                        : bytes == 2 ? move<uint16_t>
                        : bytes == 4 ? move<uint32_t>
                                     : move<uint64_t>;
  instruction.operands[0] = decoder.place(statement, target, bytes);
  instruction.operands[1] = decoder.place(statement, source, bytes);
}

// ---- Addresses

static uint64_t window(const Statement &statement) {
  return statement.has("shared") ? sharedWindow : statement.has("local") ? localWindow : 0;
}

static void addOffset(Warp &warp, const Instruction &instruction, uint32_t mask) {
  uint64_t addresses[warpLanes];
  for (int lane = 0; lane < warpLanes; ++lane)
    addresses[lane] = warp.lanes<uint64_t>(instruction.operands[1])[lane] + static_cast<uint64_t>(instruction.offset);
  warp.store(instruction.operands[0], addresses, mask);
}

static void decodeCvta(Decoder &decoder, const Statement &statement, Instruction &instruction) {
  auto base = static_cast<int64_t>(window(statement));
  if (typeBytes(statement) != 8)
    Decoder::fail(statement, "addresses of 32 bits are not known to the emulator");
  instruction.execute = addOffset;
  instruction.offset = statement.has("to") ? -base : base;
  instruction.operands[0] = decoder.place(statement, statement.operands[0], 8);
  instruction.operands[1] = decoder.place(statement, statement.operands[1], 8);
}

bool decodeMove(Decoder &decoder, const Statement &statement, Instruction &instruction) {
  if (statement.opcode != "mov" && statement.opcode != "cvta")
    return false;
  if (statement.operands.size() != 2)
    Decoder::fail(statement, "expected 2 operands");
  instruction.kind = InstructionClass::Move;
  statement.opcode == "mov" ? decodeMov(decoder, statement, instruction) : decodeCvta(decoder, statement, instruction);
  return true;
}

}  // namespace talc::ptx
