// SPDX-License-Identifier: Apache-2.0
// setp and selp. A comparison of floats is false for a NaN, or true if its name ends in u.
#include "test/ptx/instructions/HalfFloats.h"
#include "test/ptx/instructions/LaneLoops.h"

namespace talc::ptx {

namespace {

constexpr InstructionClass kind = InstructionClass::Integer;

#define COMPARISON(Name, expression)                                                                                   \
  struct Name {                                                                                                        \
    template <typename T> bool operator()(T a, T b) const { return expression; }                                       \
  }
COMPARISON(Equal, a == b);
COMPARISON(NotEqual, a<b || a> b);
COMPARISON(Less, a < b);
COMPARISON(LessEqual, a <= b);
COMPARISON(Greater, a > b);
COMPARISON(GreaterEqual, a >= b);
COMPARISON(EqualOrNan, !(a < b || a > b));
COMPARISON(NotEqualOrNan, !(a == b));
COMPARISON(LessOrNan, !(a >= b));
COMPARISON(LessEqualOrNan, !(a > b));
COMPARISON(GreaterOrNan, !(a <= b));
COMPARISON(GreaterEqualOrNan, !(a < b));
COMPARISON(Numbers, a == a && b == b);
COMPARISON(Nan, a != a || b != b);
#undef COMPARISON

// Types of operands: what a register holds, and the value that is compared.
template <typename T> struct Same {
  using Register = T;
  static T value(T bits) { return bits; }
};
template <typename Format> struct Half {
  using Register = uint16_t;
  static float value(uint16_t bits) { return Format::value(bits); }
};

template <typename Type, typename Function> struct Compare {
  using Register = typename Type::Register;
  bool operator()(Register a, Register b) const { return Function()(Type::value(a), Type::value(b)); }
};

template <typename Type, typename Function>
void addSetp(LaneTable &table, const std::string &comparison, const std::string &type) {
  using Register = typename Type::Register;
  constexpr uint8_t width = sizeof(Register);
  table["setp." + comparison + "." + type] = {
      PredicateLoop<Compare<Type, Function>, Register, Register>::execute, kind, {0, width, width}};
}

template <typename Type> void addOrdered(LaneTable &table, const std::string &type) {
  addSetp<Type, Equal>(table, "eq", type);
  addSetp<Type, NotEqual>(table, "ne", type);
  addSetp<Type, Less>(table, "lt", type);
  addSetp<Type, LessEqual>(table, "le", type);
  addSetp<Type, Greater>(table, "gt", type);
  addSetp<Type, GreaterEqual>(table, "ge", type);
}

template <typename T> void addUnsigned(LaneTable &table, const std::string &bits) {
  for (const char *letter : {"u", "b"})
    addOrdered<Same<T>>(table, letter + bits);
  addSetp<Same<T>, Less>(table, "lo", "u" + bits);
  addSetp<Same<T>, LessEqual>(table, "ls", "u" + bits);
  addSetp<Same<T>, Greater>(table, "hi", "u" + bits);
  addSetp<Same<T>, GreaterEqual>(table, "hs", "u" + bits);
}

template <typename Type> void addFloating(LaneTable &table, const std::string &type) {
  addOrdered<Type>(table, type);
  addSetp<Type, EqualOrNan>(table, "equ", type);
  addSetp<Type, NotEqualOrNan>(table, "neu", type);
  addSetp<Type, LessOrNan>(table, "ltu", type);
  addSetp<Type, LessEqualOrNan>(table, "leu", type);
  addSetp<Type, GreaterOrNan>(table, "gtu", type);
  addSetp<Type, GreaterEqualOrNan>(table, "geu", type);
  addSetp<Type, Numbers>(table, "num", type);
  addSetp<Type, Nan>(table, "nan", type);
}

template <typename T> void select(Warp &warp, const Instruction &instruction, uint32_t mask) {
  const uint32_t *o = instruction.operands;
  const T *yes = warp.lanes<T>(o[1]), *no = warp.lanes<T>(o[2]);
  uint32_t choice = warp.predicate(o[3]);
  T results[warpLanes];
  for (int lane = 0; lane < warpLanes; ++lane)
    results[lane] = choice >> lane & 1 ? yes[lane] : no[lane];
  warp.store(o[0], results, mask);
}

template <typename T> void addSelp(LaneTable &table, const std::string &bits) {
  constexpr uint8_t width = sizeof(T);
  for (const char *letter : {"b", "s", "u", "f", "bf"})
    table["selp." + (letter + bits)] = {select<T>, kind, {width, width, width, 0}};
}

}  // namespace

void addComparisons(LaneTable &table) {
  addUnsigned<uint16_t>(table, "16");
  addUnsigned<uint32_t>(table, "32");
  addUnsigned<uint64_t>(table, "64");
  addOrdered<Same<int16_t>>(table, "s16");
  addOrdered<Same<int32_t>>(table, "s32");
  addOrdered<Same<int64_t>>(table, "s64");
  addFloating<Same<float>>(table, "f32");
  addFloating<Same<double>>(table, "f64");
  addFloating<Half<F16>>(table, "f16");
  addFloating<Half<Bf16>>(table, "bf16");
  addSelp<uint16_t>(table, "16");
  addSelp<uint32_t>(table, "32");
  addSelp<uint64_t>(table, "64");
}

}  // namespace talc::ptx
