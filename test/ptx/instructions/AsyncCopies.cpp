// SPDX-License-Identifier: Apache-2.0
// cp.async. A copy lands as late as it may, when its group is waited for; whoever reads its target before that is found
// out.
#include "test/ptx/Access.h"
#include "test/ptx/Decoder.h"
#include "test/ptx/Launch.h"

#include <algorithm>

namespace talc::ptx {

// The instruction's own size is `bytes`; operand 2 is the register of the size that is read, or noPlace.
static void copy(Warp &warp, const Instruction &instruction, uint32_t mask) {
  Request target, source;
  Instruction addressed = instruction;
  findAddresses(warp, addressed, instruction.operands[0], target.addresses);
  addressed.offset = instruction.sourceOffset;
  addressed.wide = true;
  findAddresses(warp, addressed, instruction.operands[1], source.addresses);
  resolve(warp, instruction, Space::Shared, instruction.bytes, Purpose::Store, mask, target);
  uint32_t reads = 0;  // lanes that read anything
  for (uint32_t lane = 0; lane < warpLanes; ++lane) {
    if (!(mask >> lane & 1))
      continue;
    uint32_t bytes = instruction.operands[2] == noPlace
                         ? instruction.bytes
                         : std::min<uint32_t>(warp.lanes<uint32_t>(instruction.operands[2])[lane], instruction.bytes);
    reads |= bytes > 0 ? 1u << lane : 0;
    memset(target.host[lane], junk, instruction.bytes);
    warp.workgroup.shared.setAwaited(target.addresses[lane], instruction.bytes, true);
    warp.copies.push_back(
        {lane, warp.copyGroups[lane], target.addresses[lane], source.addresses[lane], instruction.bytes, bytes});
  }
  if (reads)
    resolve(warp, instruction, Space::Global, instruction.bytes, Purpose::Load, reads, source);
}

static void commit(Warp &warp, const Instruction &, uint32_t mask) {
  for (uint32_t lane = 0; lane < warpLanes; ++lane)
    warp.copyGroups[lane] += mask >> lane & 1;
}

static void land(Warp &warp, const Instruction &instruction, const PendingCopy &pending) {
  unsigned char *target =
      resolveShared(warp, instruction, pending.target, pending.bytes, Purpose::Store, static_cast<int>(pending.lane));
  warp.workgroup.shared.setAwaited(pending.target, pending.bytes, false);
  memset(target, 0, pending.bytes);
  if (pending.readBytes == 0)
    return;
  const unsigned char *source = warp.workgroup.launch.memory.find(pending.source, pending.readBytes);
  memcpy(target, source, pending.readBytes);
}

// All but the last `count` groups of a lane land.
static void wait(Warp &warp, const Instruction &instruction, uint32_t mask) {
  auto lands = [&](const PendingCopy &pending) {
    return mask >> pending.lane & 1 && pending.group + instruction.operands[0] < warp.copyGroups[pending.lane];
  };
  for (const PendingCopy &pending : warp.copies)
    if (lands(pending))
      land(warp, instruction, pending);
  warp.copies.erase(std::remove_if(warp.copies.begin(), warp.copies.end(), lands), warp.copies.end());
}

static void waitAll(Warp &warp, const Instruction &instruction, uint32_t mask) {
  commit(warp, instruction, mask);
  wait(warp, instruction, mask);
}

static uint32_t number(const Statement &statement, size_t operand) {
  if (operand >= statement.operands.size() || statement.operands[operand].kind != Operand::Kind::Number)
    Decoder::fail(statement, "expected a number");
  return static_cast<uint32_t>(statement.operands[operand].number);
}

static void decodeCopy(Decoder &decoder, const Statement &statement, Instruction &instruction) {
  instruction.execute = copy;
  instruction.bytes = static_cast<uint8_t>(number(statement, 2));
  if (instruction.bytes != 4 && instruction.bytes != 8 && instruction.bytes != 16)
    Decoder::fail(statement, "copies 4, 8 or 16 bytes");
  Instruction source;
  decoder.address(statement, statement.operands[0], instruction.operands[0], instruction);
  decoder.address(statement, statement.operands[1], instruction.operands[1], source);
  instruction.sourceOffset = source.offset;
  instruction.operands[2] =
      statement.operands.size() > 3 ? decoder.place(statement, statement.operands[3], 4) : noPlace;
}

bool decodeAsyncCopy(Decoder &decoder, const Statement &statement, Instruction &instruction) {
  if (statement.opcode != "cp" || !statement.has("async") || statement.has("bulk") || statement.has("mbarrier"))
    return false;
  instruction.kind = InstructionClass::CopyAsync;
  if (statement.has("commit_group")) {
    instruction.execute = commit;
  } else if (statement.has("wait_group")) {
    instruction.execute = wait;
    instruction.operands[0] = number(statement, 0);
  } else if (statement.has("wait_all")) {
    instruction.execute = waitAll;
  } else {
    decodeCopy(decoder, statement, instruction);
  }
  return true;
}

}  // namespace talc::ptx
