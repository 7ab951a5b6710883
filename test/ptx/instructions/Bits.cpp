// SPDX-License-Identifier: Apache-2.0
// Logic, shifts, fields and counts of bits. Shifts by more than the width give zero, or the sign.
#include "test/ptx/instructions/LaneLoops.h"

#include <algorithm>
#include <type_traits>

namespace talc::ptx {

namespace {

constexpr InstructionClass kind = InstructionClass::Integer;

struct And {
  template <typename T> T operator()(T a, T b) const { return a & b; }
};
struct Or {
  template <typename T> T operator()(T a, T b) const { return a | b; }
};
struct Xor {
  template <typename T> T operator()(T a, T b) const { return a ^ b; }
};
struct Not {
  template <typename T> T operator()(T a) const { return static_cast<T>(~a); }
};
struct ShiftLeft {
  template <typename T> T operator()(T a, uint32_t by) const {
    return by >= 8 * sizeof(T) ? T(0) : static_cast<T>(a << by);
  }
};
template <typename T> struct ShiftRight {
  T operator()(T a, uint32_t by) const {
    constexpr uint32_t bits = 8 * sizeof(T);
    if (std::is_signed_v<T>)
      return static_cast<T>(a >> std::min(by, bits - 1));
    return by >= bits ? T(0) : static_cast<T>(a >> by);
  }
};
// Shifts both words as one: to the left for the high word, to the right for the low one.
struct FunnelLeft {
  uint32_t operator()(uint32_t low, uint32_t high, uint32_t by) const {
    return static_cast<uint32_t>(((static_cast<uint64_t>(high) << 32 | low) << (by & 31)) >> 32);
  }
};
struct FunnelRight {
  uint32_t operator()(uint32_t low, uint32_t high, uint32_t by) const {
    return static_cast<uint32_t>((static_cast<uint64_t>(high) << 32 | low) >> (by & 31));
  }
};
template <typename T> struct ExtractField {
  T operator()(T a, uint32_t position, uint32_t length) const {
    constexpr uint32_t bits = 8 * sizeof(T);
    position &= 255, length = std::min(length & 255, bits);
    if (length == 0)
      return 0;
    using Bits = std::make_unsigned_t<T>;
    Bits field = position >= bits ? 0 : static_cast<Bits>(a) >> position;
    if (std::is_signed_v<T> && position + length > bits && a < 0)  // the sign goes on above the word
      field |= position >= bits ? ~Bits(0) : static_cast<Bits>(~(~Bits(0) >> position));
    uint32_t unused = bits - length;
    return static_cast<T>(static_cast<T>(field << unused) >> unused);
  }
};
template <typename T> struct InsertField {
  T operator()(T a, T b, uint32_t position, uint32_t length) const {
    constexpr uint32_t bits = 8 * sizeof(T);
    position &= 255, length &= 255;
    if (position >= bits || length == 0)
      return b;
    T mask = static_cast<T>((length >= bits ? ~T(0) : (T(1) << length) - 1) << position);
    return (static_cast<T>(a << position) & mask) | (b & ~mask);
  }
};
// Bytes of b:a chosen by four selectors; the fourth bit of one repeats the sign.
struct Permute {
  uint32_t operator()(uint32_t a, uint32_t b, uint32_t selectors) const {
    uint64_t bytes = static_cast<uint64_t>(b) << 32 | a;
    uint32_t result = 0;
    for (uint32_t i = 0; i < 4; ++i) {
      uint32_t selector = selectors >> 4 * i & 15;
      auto byte = static_cast<uint8_t>(bytes >> 8 * (selector & 7));
      result |= static_cast<uint32_t>(selector & 8 ? (byte & 0x80 ? 0xff : 0) : byte) << 8 * i;
    }
    return result;
  }
};
struct AnyLogic {  // lop3: bit abc of the table
  uint32_t operator()(uint32_t a, uint32_t b, uint32_t c, uint32_t table) const {
    uint32_t result = 0;
    for (uint32_t i = 0; i < 8; ++i)
      if (table >> i & 1)
        result |= (i & 4 ? a : ~a) & (i & 2 ? b : ~b) & (i & 1 ? c : ~c);
    return result;
  }
};
struct CountOnes {
  template <typename T> uint32_t operator()(T a) const { return static_cast<uint32_t>(__builtin_popcountll(a)); }
};
struct CountLeadingZeros {
  template <typename T> uint32_t operator()(T a) const {
    return a ? static_cast<uint32_t>(__builtin_clzll(a)) - (64 - 8 * sizeof(T)) : 8 * sizeof(T);
  }
};
struct Reverse {
  template <typename T> T operator()(T a) const {
    T result = 0;
    for (uint32_t i = 0; i < 8 * sizeof(T); ++i)
      result |= (a >> i & 1) << (8 * sizeof(T) - 1 - i);
    return result;
  }
};

template <typename T> void addWidth(LaneTable &table, const std::string &bits) {
  addLanes<And, T, T, T>(table, "and.b" + bits, kind);
  addLanes<Or, T, T, T>(table, "or.b" + bits, kind);
  addLanes<Xor, T, T, T>(table, "xor.b" + bits, kind);
  addLanes<Not, T, T>(table, "not.b" + bits, kind);
  addLanes<ShiftLeft, T, T, uint32_t>(table, "shl.b" + bits, kind);
  addLanes<ShiftRight<T>, T, T, uint32_t>(table, "shr.u" + bits, kind);
  addLanes<ShiftRight<T>, T, T, uint32_t>(table, "shr.b" + bits, kind);
  addLanes<ShiftRight<std::make_signed_t<T>>, std::make_signed_t<T>, std::make_signed_t<T>, uint32_t>(
      table, "shr.s" + bits, kind);
}

template <typename T> void addFields(LaneTable &table, const std::string &bits) {
  using Signed = std::make_signed_t<T>;
  addLanes<ExtractField<T>, T, T, uint32_t, uint32_t>(table, "bfe.u" + bits, kind);
  addLanes<ExtractField<Signed>, Signed, Signed, uint32_t, uint32_t>(table, "bfe.s" + bits, kind);
  addLanes<InsertField<T>, T, T, T, uint32_t, uint32_t>(table, "bfi.b" + bits, kind);
  addLanes<CountOnes, uint32_t, T>(table, "popc.b" + bits, kind);
  addLanes<CountLeadingZeros, uint32_t, T>(table, "clz.b" + bits, kind);
  addLanes<Reverse, T, T>(table, "brev.b" + bits, kind);
}

template <typename Function> void predicateLogic(Warp &warp, const Instruction &instruction, uint32_t mask) {
  const uint32_t *o = instruction.operands;
  warp.storePredicate(o[0], Function()(warp.predicate(o[1]), warp.predicate(o[2])), mask);
}

void predicateNot(Warp &warp, const Instruction &instruction, uint32_t mask) {
  warp.storePredicate(instruction.operands[0], ~warp.predicate(instruction.operands[1]), mask);
}

}  // namespace

void addBits(LaneTable &table) {
  addWidth<uint16_t>(table, "16");
  addWidth<uint32_t>(table, "32");
  addWidth<uint64_t>(table, "64");
  addFields<uint32_t>(table, "32");
  addFields<uint64_t>(table, "64");
  addLanes<FunnelLeft, uint32_t, uint32_t, uint32_t, uint32_t>(table, "shf.l.wrap.b32", kind);
  addLanes<FunnelRight, uint32_t, uint32_t, uint32_t, uint32_t>(table, "shf.r.wrap.b32", kind);
  addLanes<Permute, uint32_t, uint32_t, uint32_t, uint32_t>(table, "prmt.b32", kind);
  addLanes<AnyLogic, uint32_t, uint32_t, uint32_t, uint32_t, uint32_t>(table, "lop3.b32", kind);
  table["and.pred"] = {predicateLogic<And>, kind, {0, 0, 0}};
  table["or.pred"] = {predicateLogic<Or>, kind, {0, 0, 0}};
  table["xor.pred"] = {predicateLogic<Xor>, kind, {0, 0, 0}};
  table["not.pred"] = {predicateNot, kind, {0, 0}};
}

}  // namespace talc::ptx
