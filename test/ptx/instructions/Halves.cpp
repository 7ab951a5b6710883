// SPDX-License-Identifier: Apache-2.0
// Arithmetic on f16 and bf16, alone and in pairs: each result is rounded once.
#include "test/ptx/instructions/HalfFloats.h"
#include "test/ptx/instructions/LaneLoops.h"

namespace talc::ptx {

namespace {

constexpr InstructionClass kind = InstructionClass::Float;

struct Add {
  double operator()(double a, double b) const { return a + b; }
};
struct Subtract {
  double operator()(double a, double b) const { return a - b; }
};
struct Multiply {
  double operator()(double a, double b) const { return a * b; }
};
struct MultiplyAdd {
  double operator()(double a, double b, double c) const { return a * b + c; }
};
struct Minimum {
  double operator()(double a, double b) const { return std::fmin(a, b); }
};
struct Maximum {
  double operator()(double a, double b) const { return std::fmax(a, b); }
};
struct MinimumNan {
  double operator()(double a, double b) const { return std::isnan(a) || std::isnan(b) ? NAN : std::fmin(a, b); }
};
struct MaximumNan {
  double operator()(double a, double b) const { return std::isnan(a) || std::isnan(b) ? NAN : std::fmax(a, b); }
};
struct Negate {
  double operator()(double a) const { return -a; }
};
struct Absolute {
  double operator()(double a) const { return std::fabs(a); }
};

template <typename Format, typename Function> struct Single {
  template <typename... T> uint16_t operator()(T... bits) const {
    return Format::round(Function()(static_cast<double>(Format::value(bits))...));
  }
};
template <typename Format, typename Function> struct Pair {
  template <typename... T> uint32_t operator()(T... bits) const {
    Single<Format, Function> single;
    return single(static_cast<uint16_t>(bits)...) | static_cast<uint32_t>(single(static_cast<uint16_t>(bits >> 16)...))
                                                        << 16;
  }
};

template <typename Format, typename Function, typename... Same>
void addBoth(LaneTable &table, const std::string &name, const std::string &type) {
  auto one = [](auto) { return uint16_t(); };
  auto two = [](auto) { return uint32_t(); };
  addLanes<Single<Format, Function>, uint16_t, decltype(one(Same()))...>(table, name + "." + type, kind);
  addLanes<Pair<Format, Function>, uint32_t, decltype(two(Same()))...>(table, name + "." + type + "x2", kind);
}

template <typename Format> void addType(LaneTable &table, const std::string &type) {
  for (const char *rounding : {"", ".rn"}) {
    addBoth<Format, Add, int, int>(table, std::string("add") + rounding, type);
    addBoth<Format, Subtract, int, int>(table, std::string("sub") + rounding, type);
    addBoth<Format, Multiply, int, int>(table, std::string("mul") + rounding, type);
    addBoth<Format, MultiplyAdd, int, int, int>(table, std::string("fma") + rounding, type);
  }
  addBoth<Format, Minimum, int, int>(table, "min", type);
  addBoth<Format, Maximum, int, int>(table, "max", type);
  addBoth<Format, MinimumNan, int, int>(table, "min.NaN", type);
  addBoth<Format, MaximumNan, int, int>(table, "max.NaN", type);
  addBoth<Format, Negate, int>(table, "neg", type);
  addBoth<Format, Absolute, int>(table, "abs", type);
}

}  // namespace

void addHalves(LaneTable &table) {
  addType<F16>(table, "f16");
  addType<Bf16>(table, "bf16");
}

}  // namespace talc::ptx
