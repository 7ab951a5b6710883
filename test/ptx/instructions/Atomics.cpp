// SPDX-License-Identifier: Apache-2.0
// atom and red: lanes one after the other.
#include "test/ptx/Access.h"
#include "test/ptx/Decoder.h"
#include "test/ptx/Launch.h"
#include "test/ptx/instructions/HalfFloats.h"

#include <algorithm>

namespace talc::ptx {

namespace {

enum class Update : uint8_t { Add, Minimum, Maximum, And, Or, Xor, Exchange, Compare, Increase, Decrease };
constexpr const char *updateNames[] = {"add", "min", "max", "and", "or", "xor", "exch", "cas", "inc", "dec"};

template <typename T> T update(Update how, T old, T value, T other) {
  switch (how) {
  case Update::Add:
    return old + value;
  case Update::Minimum:
    return std::min(old, value);
  case Update::Maximum:
    return std::max(old, value);
  case Update::Exchange:
    return value;
  case Update::Compare:
    return old == value ? other : old;
  case Update::Increase:
    return old >= value ? T(0) : old + 1;
  case Update::Decrease:
    return old == 0 || old > value ? value : old - 1;
  default:
    break;
  }
  if constexpr (std::is_integral_v<T>)
    return how == Update::And ? old & value : how == Update::Or ? old | value : old ^ value;
  return old;
}

// Operands: base, value, the second value of cas, result (noPlace: none).
template <typename T> void execute(Warp &warp, const Instruction &instruction, uint32_t mask) {
  Request request;
  const uint32_t *o = instruction.operands;
  findAddresses(warp, instruction, o[0], request.addresses);
  resolve(warp, instruction, instruction.space, sizeof(T), Purpose::Atomic, mask, request);
  const T *values = warp.lanes<T>(o[1]), *others = warp.lanes<T>(o[2] == noPlace ? o[1] : o[2]);
  T results[warpLanes] = {};
  for (int lane = 0; lane < warpLanes; ++lane) {
    if (!(mask >> lane & 1))
      continue;
    T old;
    memcpy(&old, request.host[lane], sizeof(T));
    results[lane] = old;
    T now = update(static_cast<Update>(instruction.variant), old, values[lane], others[lane]);
    memcpy(request.host[lane], &now, sizeof(T));
  }
  if (o[3] != noPlace)
    warp.store(o[3], results, mask);
}

Execute selectExecute(const std::string &type) {
  static const std::pair<const char *, Execute> types[] = {
      {"u32", execute<uint32_t>}, {"s32", execute<int32_t>}, {"b32", execute<uint32_t>},
      {"u64", execute<uint64_t>}, {"s64", execute<int64_t>}, {"b64", execute<uint64_t>},
      {"f32", execute<float>},    {"f64", execute<double>},  {"b16", execute<uint16_t>}};
  for (const auto &[name, function] : types)
    if (type == name)
      return function;
  return nullptr;
}

}  // namespace

bool decodeAtomic(Decoder &decoder, const Statement &statement, Instruction &instruction) {
  const bool returns = statement.opcode == "atom";
  if ((!returns && statement.opcode != "red") || statement.operands.size() < (returns ? 3u : 2u) ||
      statement.modifiers.size() < 2)
    return false;
  const std::string &type = statement.modifiers.back(), &how = *(statement.modifiers.end() - 2);
  auto *it = std::find_if(std::begin(updateNames), std::end(updateNames), [&](const char *n) { return how == n; });
  instruction.execute = selectExecute(type);
  if (it == std::end(updateNames) || !instruction.execute)
    return false;
  instruction.kind = InstructionClass::Atomic;
  instruction.space = getStateSpace(statement);
  instruction.variant = static_cast<uint8_t>(it - std::begin(updateNames));
  const uint32_t bytes = static_cast<uint32_t>(atoi(type.c_str() + 1)) / 8;
  const Operand *operands = statement.operands.data() + (returns ? 1 : 0);
  decoder.address(statement, operands[0], instruction.operands[0], instruction);
  instruction.operands[1] = decoder.place(statement, operands[1], bytes);
  bool compares = statement.operands.size() > (returns ? 3u : 2u);
  if (compares != (how == "cas"))
    Decoder::fail(statement, "has another number of operands than expected");
  instruction.operands[2] = compares ? decoder.place(statement, operands[2], bytes) : noPlace;
  bool sink = !returns || statement.operands[0].name == "_";
  instruction.operands[3] = sink ? noPlace : decoder.place(statement, statement.operands[0], bytes);
  return true;
}

}  // namespace talc::ptx
