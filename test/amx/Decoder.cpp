// SPDX-License-Identifier: Apache-2.0
// Instructions of AMX: C4, two bytes of VEX of map 0F38, an opcode, ModRM, and SIB with a displacement.
//
//   opcode   prefix none   66            F3            F2
//   49       ldtilecfg     sttilecfg                   tilezero       tilerelease is ldtilecfg without memory
//   4B                     tileloaddt1   tilestored    tileloadd
//   5C                                   tdpbf16ps
//   5E       tdpbuud       tdpbusd       tdpbsud       tdpbssd
#include "test/amx/Decoder.h"

namespace amx {

namespace {

enum Prefix { None, P66, F3, F2 };

// The parts of an encoding, once it is known to be one of AMX's.
struct Encoding {
  const uint8_t *code;
  uint8_t opcode;
  Prefix prefix;
  int vector;  // VEX.vvvv
  int mode, reg, rm;

  explicit Encoding(const uint8_t *code)
      : code(code), opcode(code[3]), prefix(static_cast<Prefix>(code[2] & 3)), vector(~(code[2] >> 3) & 15),
        mode(code[4] >> 6), reg(code[4] >> 3 & 7), rm(code[4] & 7) {}

  // VEX's bits are inverted: X and B are the fourth bits of numbers of registers.
  int fourth(int bit) const { return code[1] >> bit & 1 ? 0 : 8; }
};

template <typename T> int64_t number(const uint8_t *from) {
  T value;
  memcpy(&value, from, sizeof value);
  return value;
}

// Sets the length, too.
bool readAddress(const Encoding &e, Instruction &to) {
  const uint8_t *next = e.code + 5;
  bool noBase = e.mode == 0 && e.rm == 5;
  Address &at = to.address;
  if (e.rm == 4) {
    uint8_t sib = *next++;
    int index = (sib >> 3 & 7) | e.fourth(6);
    at.index = index == 4 ? -1 : index;
    at.scale = int64_t{1} << (sib >> 6);
    at.base = (sib & 7) | e.fourth(5);
    if (e.mode == 0 && (sib & 7) == 5)
      at.base = -1;
  } else {
    at.base = e.rm | e.fourth(5);
    if (noBase)  // relative to the next instruction, which no code of tiles is
      return false;
  }
  int bytes = e.mode == 1 ? 1 : e.mode == 2 || at.base < 0 ? 4 : 0;
  at.displacement = bytes == 1 ? number<int8_t>(next) : bytes == 4 ? number<int32_t>(next) : 0;
  to.length = static_cast<int>(next + bytes - e.code);
  return true;
}

std::optional<Instruction> ofMemory(const Encoding &e, Kind kind) {
  Instruction result{kind, 0, e.reg};
  bool isTile = kind == Kind::Load || kind == Kind::Store;
  if (e.mode == 3 || (isTile && e.rm != 4) || (!isTile && e.reg != 0) || !readAddress(e, result))
    return std::nullopt;
  return result;
}

std::optional<Instruction> ofConfiguration(const Encoding &e) {
  if (e.mode == 3 && e.rm == 0 && e.prefix == F2)
    return Instruction{Kind::Zero, 5, e.reg};
  if (e.mode == 3 && e.rm == 0 && e.reg == 0 && e.prefix == None)
    return Instruction{Kind::Release, 5};
  if (e.prefix == None || e.prefix == P66)
    return ofMemory(e, e.prefix == None ? Kind::LoadConfiguration : Kind::StoreConfiguration);
  return std::nullopt;
}

std::optional<Instruction> ofProduct(const Encoding &e) {
  constexpr Product integers[] = {Product::UnsignedUnsigned, Product::UnsignedSigned, Product::SignedUnsigned,
                                  Product::SignedSigned};
  if (e.mode != 3 || (e.opcode == 0x5c && e.prefix != F3))
    return std::nullopt;
  return Instruction{Kind::Multiply, 5, e.reg, e.rm, e.vector, e.opcode == 0x5c ? Product::Bf16 : integers[e.prefix]};
}

}  // namespace

std::optional<Instruction> decode(const uint8_t *code) {
  constexpr uint8_t map = 2, mapBits = 0x1f, wideOrLong = 0x84;
  if (code[0] != 0xc4 || (code[1] & mapBits) != map || (code[2] & wideOrLong) != 0)
    return std::nullopt;
  Encoding e(code);
  switch (e.opcode) {
  case 0x49:
    return ofConfiguration(e);
  case 0x4b:
    return e.prefix == None ? std::nullopt : ofMemory(e, e.prefix == F3 ? Kind::Store : Kind::Load);
  case 0x5c:
  case 0x5e:
    return ofProduct(e);
  default:
    return std::nullopt;
  }
}

}  // namespace amx
