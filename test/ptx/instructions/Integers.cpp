// SPDX-License-Identifier: Apache-2.0
// Integer arithmetic. Sums and products wrap around, so they are computed without sign.
#include "test/ptx/instructions/LaneLoops.h"

#include <type_traits>

namespace talc::ptx {

namespace {

template <typename T>
using Wider =
    std::conditional_t<sizeof(T) == 2, std::conditional_t<std::is_signed_v<T>, int32_t, uint32_t>,
                       std::conditional_t<sizeof(T) == 4, std::conditional_t<std::is_signed_v<T>, int64_t, uint64_t>,
                                          std::conditional_t<std::is_signed_v<T>, __int128, unsigned __int128>>>;

struct Add {
  template <typename T> T operator()(T a, T b) const { return static_cast<T>(a + b); }
};
struct Subtract {
  template <typename T> T operator()(T a, T b) const { return static_cast<T>(a - b); }
};
struct MultiplyLow {
  template <typename T> T operator()(T a, T b) const { return static_cast<T>(static_cast<Wider<T>>(a) * b); }
};
struct MultiplyAddLow {
  template <typename T> T operator()(T a, T b, T c) const { return static_cast<T>(static_cast<Wider<T>>(a) * b + c); }
};
template <typename T> struct MultiplyHigh {
  T operator()(T a, T b) const { return static_cast<T>((static_cast<Wider<T>>(a) * b) >> (8 * sizeof(T))); }
};
template <typename T> struct MultiplyWide {
  Wider<T> operator()(T a, T b) const { return static_cast<Wider<T>>(a) * b; }
};
template <typename T> struct MultiplyAddWide {
  Wider<T> operator()(T a, T b, Wider<T> c) const {
    return static_cast<Wider<T>>(static_cast<std::make_unsigned_t<Wider<T>>>(static_cast<Wider<T>>(a) * b) + c);
  }
};
// By zero a GPU yields something; here it is junk. The lowest number divided by -1 must not trap.
template <typename T> struct Divide {
  T operator()(T a, T b) const {
    if (b == 0)
      return static_cast<T>(-1);
    return std::is_signed_v<T> && b == static_cast<T>(-1) ? static_cast<T>(-static_cast<Wider<T>>(a)) : a / b;
  }
};
template <typename T> struct Remainder {
  T operator()(T a, T b) const { return b == 0 ? a : std::is_signed_v<T> && b == static_cast<T>(-1) ? 0 : a % b; }
};
template <typename T> struct Minimum {
  T operator()(T a, T b) const { return a < b ? a : b; }
};
template <typename T> struct Maximum {
  T operator()(T a, T b) const { return a > b ? a : b; }
};
template <typename T> struct Negate {
  T operator()(T a) const { return static_cast<T>(-static_cast<Wider<T>>(a)); }
};
template <typename T> struct Absolute {
  T operator()(T a) const { return a < 0 ? static_cast<T>(-static_cast<Wider<T>>(a)) : a; }
};

constexpr InstructionClass kind = InstructionClass::Integer;

// s32 and u32
template <typename T> void addWithSign(LaneTable &table, const std::string &type) {
  using Bits = std::make_unsigned_t<T>;
  addLanes<Add, Bits, Bits, Bits>(table, "add." + type, kind);
  addLanes<Subtract, Bits, Bits, Bits>(table, "sub." + type, kind);
  addLanes<MultiplyLow, Bits, Bits, Bits>(table, "mul.lo." + type, kind);
  addLanes<MultiplyAddLow, Bits, Bits, Bits, Bits>(table, "mad.lo." + type, kind);
  addLanes<MultiplyHigh<T>, T, T, T>(table, "mul.hi." + type, kind);
  addLanes<Divide<T>, T, T, T>(table, "div." + type, kind);
  addLanes<Remainder<T>, T, T, T>(table, "rem." + type, kind);
  addLanes<Minimum<T>, T, T, T>(table, "min." + type, kind);
  addLanes<Maximum<T>, T, T, T>(table, "max." + type, kind);
  if constexpr (std::is_signed_v<T>) {
    addLanes<Negate<T>, T, T>(table, "neg." + type, kind);
    addLanes<Absolute<T>, T, T>(table, "abs." + type, kind);
  }
  if constexpr (sizeof(T) < 8) {
    addLanes<MultiplyWide<T>, Wider<T>, T, T>(table, "mul.wide." + type, kind);
    addLanes<MultiplyAddWide<T>, Wider<T>, T, T, Wider<T>>(table, "mad.wide." + type, kind);
  }
}

}  // namespace

void addIntegers(LaneTable &table) {
  addWithSign<int16_t>(table, "s16");
  addWithSign<uint16_t>(table, "u16");
  addWithSign<int32_t>(table, "s32");
  addWithSign<uint32_t>(table, "u32");
  addWithSign<int64_t>(table, "s64");
  addWithSign<uint64_t>(table, "u64");
}

}  // namespace talc::ptx
