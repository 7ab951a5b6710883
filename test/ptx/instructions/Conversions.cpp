// SPDX-License-Identifier: Apache-2.0
// cvt. A value goes through the widest type of its kind, an integer or a double, and is rounded once.
#include "test/ptx/Decoder.h"
#include "test/ptx/Warp.h"
#include "test/ptx/instructions/HalfFloats.h"

#include <algorithm>
#include <limits>

namespace talc::ptx {

namespace {

enum class Type : uint8_t { U8, U16, U32, U64, S8, S16, S32, S64, F16, Bf16, F32, F64, Count };
constexpr const char *typeNames[] = {"u8", "u16", "u32", "u64", "s8", "s16", "s32", "s64", "f16", "bf16", "f32", "f64"};
constexpr uint8_t typeSizes[] = {1, 2, 4, 8, 1, 2, 4, 8, 2, 2, 4, 8};

bool isFloat(Type type) {
  return type >= Type::F16;
}
bool isSigned(Type type) {
  return type >= Type::S8;
}

// Rounding modes, and flags that are added to one: the result is a whole number, is clamped to [0, 1], is not negative.
enum Rounding : uint8_t { Nearest = 0, Zero = 1, Down = 2, Up = 3, roundings = 3, Whole = 4, Saturate = 8, Relu = 16 };

Type parseType(const Statement &statement, const std::string &name) {
  auto *it = std::find_if(std::begin(typeNames), std::end(typeNames), [&](const char *n) { return name == n; });
  if (it == std::end(typeNames))
    Decoder::fail(statement, "not known to the emulator");
  return static_cast<Type>(it - std::begin(typeNames));
}

double readFloat(Type type, uint64_t bits) {
  if (type == Type::F16)
    return F16::value(static_cast<uint16_t>(bits));
  if (type == Type::Bf16)
    return Bf16::value(static_cast<uint16_t>(bits));
  if (type == Type::F32)
    return bitsToFloat(static_cast<uint32_t>(bits));
  double value;
  memcpy(&value, &bits, sizeof(value));
  return value;
}

uint64_t writeFloat(Type type, double value) {
  if (type == Type::F16)
    return F16::round(value);
  if (type == Type::Bf16)
    return Bf16::round(value);
  if (type == Type::F32)
    return floatToBits(static_cast<float>(value));
  uint64_t bits;
  memcpy(&bits, &value, sizeof(bits));
  return bits;
}

uint64_t readInteger(Type type, uint64_t bits) {
  uint32_t unused = 64 - 8 * typeSizes[static_cast<size_t>(type)];
  return isSigned(type) ? static_cast<uint64_t>(static_cast<int64_t>(bits << unused) >> unused)
                        : bits << unused >> unused;
}

double toWhole(double value, uint8_t how) {
  switch (how & roundings) {
  case Zero:
    return std::trunc(value);
  case Down:
    return std::floor(value);
  case Up:
    return std::ceil(value);
  default:
    return std::nearbyint(value);
  }
}

// Numbers beyond the type become its limits, NaN zero.
uint64_t toInteger(Type type, double value) {
  uint32_t bits = 8 * typeSizes[static_cast<size_t>(type)] - (isSigned(type) ? 1 : 0);
  double limit = std::ldexp(1.0, static_cast<int>(bits));
  if (std::isnan(value))
    return 0;
  if (isSigned(type))
    return value >= limit   ? (1ull << bits) - 1
           : value < -limit ? 0 - (1ull << bits)
                            : static_cast<uint64_t>(static_cast<int64_t>(value));
  return value >= limit ? (bits == 64 ? UINT64_MAX : (1ull << bits) - 1) : value < 0 ? 0 : static_cast<uint64_t>(value);
}

uint64_t saturate(Type from, Type to, uint64_t value) {
  uint32_t bits = 8 * typeSizes[static_cast<size_t>(to)];
  auto clamp = [&](auto v, auto low, auto high) { return static_cast<uint64_t>(std::min(std::max(v, low), high)); };
  __int128 low = isSigned(to) ? -(__int128(1) << (bits - 1)) : __int128(0);
  __int128 high = (__int128(1) << (isSigned(to) ? bits - 1 : bits)) - 1;
  return clamp(isSigned(from) ? __int128(static_cast<int64_t>(value)) : __int128(value), low, high);
}

uint64_t convert(Type to, Type from, uint8_t how, uint64_t bits) {
  if (!isFloat(from)) {
    uint64_t value = readInteger(from, bits);
    if (!isFloat(to))
      return how & Saturate ? saturate(from, to, value) : value;
    if (to == Type::F32)  // straight: a double would round 64 bits twice
      return floatToBits(isSigned(from) ? static_cast<float>(static_cast<int64_t>(value)) : static_cast<float>(value));
    return writeFloat(to,
                      isSigned(from) ? static_cast<double>(static_cast<int64_t>(value)) : static_cast<double>(value));
  }
  double value = readFloat(from, bits);
  if (!isFloat(to))
    return toInteger(to, toWhole(value, how));
  value = how & Whole ? toWhole(value, how) : value;
  if (how & Saturate)
    value = std::isnan(value) ? 0 : std::min(std::max(value, 0.0), 1.0);
  if (how & Relu)
    value = std::isnan(value) ? value : std::max(value, 0.0);
  return writeFloat(to, value);
}

template <Type to, Type from> void executeFixed(Warp &warp, const Instruction &instruction, uint32_t mask) {
  uint64_t values[warpLanes];
  warp.read(instruction.operands[1], instruction.bytes, values);
  for (uint64_t &value : values)
    value = convert(to, from, Nearest, value);
  warp.write(instruction.operands[0], instruction.registerBytes, values, mask);
}

void execute(Warp &warp, const Instruction &instruction, uint32_t mask) {
  uint64_t values[warpLanes];
  warp.read(instruction.operands[1], instruction.bytes, values);
  auto to = static_cast<Type>(instruction.count), from = static_cast<Type>(instruction.operands[2]);
  for (uint64_t &value : values)
    value = convert(to, from, instruction.variant, value);
  warp.write(instruction.operands[0], instruction.registerBytes, values, mask);
}

// cvt.rn.bf16x2.f32 d, high, low
template <typename Format> void executePair(Warp &warp, const Instruction &instruction, uint32_t mask) {
  const float *high = warp.lanes<float>(instruction.operands[1]), *low = warp.lanes<float>(instruction.operands[2]);
  uint32_t results[warpLanes];
  for (int lane = 0; lane < warpLanes; ++lane) {
    float h = high[lane], l = low[lane];
    if (instruction.variant & Relu)
      h = h < 0 ? 0 : h, l = l < 0 ? 0 : l;
    results[lane] = static_cast<uint32_t>(Format::round(h)) << 16 | Format::round(l);
  }
  warp.store(instruction.operands[0], results, mask);
}

uint8_t parseRounding(const Statement &statement) {
  uint8_t how = Nearest;
  const std::pair<const char *, uint8_t> words[] = {
      {"rn", Nearest},     {"rni", Nearest | Whole}, {"rzi", Zero | Whole}, {"rmi", Down | Whole},
      {"rpi", Up | Whole}, {"sat", Saturate},        {"relu", Relu}};
  for (size_t i = 0; i + 2 < statement.modifiers.size(); ++i) {
    const std::string &modifier = statement.modifiers[i];
    auto *it = std::find_if(std::begin(words), std::end(words), [&](auto &word) { return modifier == word.first; });
    if (it == std::end(words))
      Decoder::fail(statement, "not known to the emulator");
    how |= it->second;
  }
  return how;
}

Execute selectExecute(Type to, Type from, uint8_t how) {
  if (how != Nearest)
    return execute;
  struct Common {
    Type to, from;
    Execute execute;
  };
  static const Common common[] = {
      {Type::F32, Type::F16, executeFixed<Type::F32, Type::F16>},
      {Type::F32, Type::Bf16, executeFixed<Type::F32, Type::Bf16>},
      {Type::F16, Type::F32, executeFixed<Type::F16, Type::F32>},
      {Type::Bf16, Type::F32, executeFixed<Type::Bf16, Type::F32>},
      {Type::U64, Type::U32, executeFixed<Type::U64, Type::U32>},
      {Type::S64, Type::S32, executeFixed<Type::S64, Type::S32>},
      {Type::U32, Type::U64, executeFixed<Type::U32, Type::U64>},
      {Type::U32, Type::U16, executeFixed<Type::U32, Type::U16>},
  };
  for (const Common &one : common)
    if (one.to == to && one.from == from)
      return one.execute;
  return execute;
}

}  // namespace

bool decodeConversion(Decoder &decoder, const Statement &statement, Instruction &instruction) {
  if (statement.opcode != "cvt" || statement.modifiers.size() < 2 || statement.operands.size() < 2)
    return false;
  const std::string &to = *(statement.modifiers.end() - 2), &from = statement.modifiers.back();
  instruction.kind = InstructionClass::Convert;
  instruction.variant = parseRounding(statement);
  if (to == "bf16x2" || to == "f16x2") {
    if (from != "f32" || statement.operands.size() != 3)
      return false;
    instruction.execute = to == "f16x2" ? executePair<F16> : executePair<Bf16>;
    for (size_t i = 0; i < 3; ++i)
      instruction.operands[i] = decoder.place(statement, statement.operands[i], 4);
    return true;
  }
  Type toType = parseType(statement, to), fromType = parseType(statement, from);
  instruction.execute = selectExecute(toType, fromType, instruction.variant);
  instruction.count = static_cast<uint8_t>(toType);
  instruction.bytes = instruction.registerBytes = 4;
  instruction.operands[0] = decoder.operandOffset(statement, statement.operands[0], instruction.registerBytes);
  instruction.operands[1] = decoder.operandOffset(statement, statement.operands[1], instruction.bytes);
  instruction.operands[2] = static_cast<uint32_t>(fromType);
  return true;
}

}  // namespace talc::ptx
