// SPDX-License-Identifier: Apache-2.0
// ld and st of all spaces, single values and vectors.
#include "test/ptx/Access.h"
#include "test/ptx/Decoder.h"
#include "test/ptx/Launch.h"

#include <algorithm>
#include <set>

namespace talc::ptx {

namespace {

constexpr uint8_t isSigned = 1;

template <typename Memory, typename Register>
void loadElement(Warp &warp, uint32_t place, const Request &request, uint32_t element, uint32_t mask) {
  Register values[warpLanes] = {};
  for (int lane = 0; lane < warpLanes; ++lane)
    if (mask >> lane & 1) {
      Memory value;
      memcpy(&value, request.host[lane] + element * sizeof(Memory), sizeof(Memory));
      values[lane] = static_cast<Register>(value);
    }
  warp.store(place, values, mask);
}

template <typename Memory>
void loadElements(Warp &warp, const Instruction &instruction, const Request &request, uint32_t mask) {
  auto load = instruction.registerBytes == 2   ? loadElement<Memory, uint16_t>
              : instruction.registerBytes == 4 ? loadElement<Memory, uint32_t>
                                               : loadElement<Memory, uint64_t>;
  for (uint32_t i = 0; i < instruction.count; ++i)
    if (instruction.operands[i + 1] != noPlace)
      load(warp, instruction.operands[i + 1], request, i, mask);
}

void load(Warp &warp, const Instruction &instruction, uint32_t mask) {
  Request request;
  findAddresses(warp, instruction, instruction.operands[0], request.addresses);
  resolve(warp, instruction, instruction.space, instruction.bytes * instruction.count, Purpose::Load, mask, request);
  bool sign = instruction.variant & isSigned;
  switch (instruction.bytes) {
  case 1:
    return sign ? loadElements<int8_t>(warp, instruction, request, mask)
                : loadElements<uint8_t>(warp, instruction, request, mask);
  case 2:
    return sign ? loadElements<int16_t>(warp, instruction, request, mask)
                : loadElements<uint16_t>(warp, instruction, request, mask);
  case 4:
    return sign ? loadElements<int32_t>(warp, instruction, request, mask)
                : loadElements<uint32_t>(warp, instruction, request, mask);
  default:
    return loadElements<uint64_t>(warp, instruction, request, mask);
  }
}

void loadParameter(Warp &warp, const Instruction &instruction, uint32_t mask) {
  const Launch &launch = warp.workgroup.launch;
  uint64_t address = warp.lanes<uint64_t>(instruction.operands[0])[0] + static_cast<uint64_t>(instruction.offset);
  uint32_t bytes = instruction.bytes * instruction.count;
  if (address > launch.kernel.parameterBytes || bytes > launch.kernel.parameterBytes - address)
    warp.fail(instruction, __builtin_ctz(mask), "behind the end of the parameters");
  for (uint32_t i = 0; i < instruction.count; ++i) {
    uint64_t value = 0, values[warpLanes];
    memcpy(&value, launch.parameters + address + i * instruction.bytes, instruction.bytes);
    uint32_t unused = 64 - 8 * instruction.bytes;
    if (instruction.variant & isSigned)
      value = static_cast<uint64_t>(static_cast<int64_t>(value << unused) >> unused);
    std::fill(std::begin(values), std::end(values), value);
    warp.write(instruction.operands[i + 1], instruction.registerBytes, values, mask);
  }
}

void store(Warp &warp, const Instruction &instruction, uint32_t mask) {
  Request request;
  findAddresses(warp, instruction, instruction.operands[0], request.addresses);
  resolve(warp, instruction, instruction.space, instruction.bytes * instruction.count, Purpose::Store, mask, request);
  for (uint32_t i = 0; i < instruction.count; ++i) {
    uint64_t values[warpLanes];
    warp.read(instruction.operands[i + 1], instruction.registerBytes, values);
    for (int lane = 0; lane < warpLanes; ++lane)
      if (mask >> lane & 1)
        memcpy(request.host[lane] + i * instruction.bytes, &values[lane], instruction.bytes);
  }
}

// Modifiers without an effect here, for caches and memory order, and state spaces, which getStateSpace() reads.
const std::set<std::string> ignored = {"volatile", "relaxed",     "acquire", "release", "weak",        "cta",
                                       "gpu",      "sys",         "nc",      "ca",      "cg",          "cs",
                                       "lu",       "cv",          "wb",      "wt",      "param",       "global",
                                       "shared",   "shared::cta", "local",   "const",   "param::entry"};

void checkModifiers(const Statement &statement) {
  for (size_t i = 0; i + 1 < statement.modifiers.size(); ++i) {
    const std::string &modifier = statement.modifiers[i];
    bool hint = modifier.compare(0, 4, "L1::") == 0 || modifier.compare(0, 4, "L2::") == 0;
    if (!hint && !ignored.count(modifier) && modifier != "v2" && modifier != "v4")
      Decoder::fail(statement, "not known to the emulator");
  }
}

InstructionClass getInstructionClass(Space space) {
  return space == Space::Parameter ? InstructionClass::Parameter
         : space == Space::Shared  ? InstructionClass::Shared
         : space == Space::Local   ? InstructionClass::Local
                                   : InstructionClass::Global;
}

}  // namespace

bool decodeAccess(Decoder &decoder, const Statement &statement, Instruction &instruction) {
  const bool loads = statement.opcode == "ld";
  if ((!loads && statement.opcode != "st") || statement.modifiers.empty() || statement.operands.size() != 2)
    return false;
  checkModifiers(statement);
  const std::string &type = statement.modifiers.back();
  const Operand &values = statement.operands[loads ? 0 : 1];
  std::vector<Operand> elements = values.kind == Operand::Kind::List ? values.elements : std::vector{values};
  instruction.space = getStateSpace(statement);
  instruction.yields = statement.has("acquire");
  instruction.kind = getInstructionClass(instruction.space);
  instruction.bytes = static_cast<uint8_t>(atoi(type.c_str() + type.find_first_of("0123456789")) / 8);
  instruction.registerBytes = std::max<uint8_t>(instruction.bytes, 2);
  instruction.variant = type[0] == 's' ? isSigned : 0;
  instruction.count = static_cast<uint8_t>(elements.size());
  instruction.execute = !loads ? store : instruction.space == Space::Parameter ? loadParameter : load;
  if (elements.size() > 8 || instruction.bytes == 0 || (!loads && instruction.space == Space::Parameter))
    Decoder::fail(statement, "not known to the emulator");
  decoder.address(statement, statement.operands[loads ? 1 : 0], instruction.operands[0], instruction);
  for (size_t i = 0; i < elements.size(); ++i)
    instruction.operands[i + 1] =
        elements[i].name == "_" ? noPlace : decoder.operandOffset(statement, elements[i], instruction.registerBytes);
  return true;
}

}  // namespace talc::ptx
