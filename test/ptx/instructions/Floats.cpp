// SPDX-License-Identifier: Apache-2.0
// f32 and f64. What GPUs approximate is computed as exactly as the C library does.
#include "test/ptx/instructions/LaneLoops.h"

#include <cmath>

namespace talc::ptx {

namespace {

constexpr InstructionClass arithmetic = InstructionClass::Float, special = InstructionClass::Special;

struct Add {
  template <typename T> T operator()(T a, T b) const { return a + b; }
};
struct Subtract {
  template <typename T> T operator()(T a, T b) const { return a - b; }
};
struct Multiply {
  template <typename T> T operator()(T a, T b) const { return a * b; }
};
struct Divide {
  template <typename T> T operator()(T a, T b) const { return a / b; }
};
struct MultiplyAdd {
  float operator()(float a, float b, float c) const { return __builtin_fmaf(a, b, c); }
  double operator()(double a, double b, double c) const { return __builtin_fma(a, b, c); }
};
// Returns the number if one operand is NaN.
struct Minimum {
  template <typename T> T operator()(T a, T b) const { return std::isnan(a) || b < a ? b : a; }
};
struct Maximum {
  template <typename T> T operator()(T a, T b) const { return std::isnan(a) || b > a ? b : a; }
};
// Returns NaN if one operand is.
struct MinimumNan {
  template <typename T> T operator()(T a, T b) const { return std::isnan(a) ? a : !(b >= a) ? b : a; }
};
struct MaximumNan {
  template <typename T> T operator()(T a, T b) const { return std::isnan(a) ? a : !(b <= a) ? b : a; }
};
struct Negate {
  template <typename T> T operator()(T a) const { return -a; }
};
struct Absolute {
  template <typename T> T operator()(T a) const { return std::fabs(a); }
};
struct CopySign {  // that of the first
  template <typename T> T operator()(T a, T b) const { return std::copysign(b, a); }
};
struct Reciprocal {
  template <typename T> T operator()(T a) const { return 1 / a; }
};
struct Root {
  template <typename T> T operator()(T a) const { return std::sqrt(a); }
};
struct ReciprocalRoot {
  template <typename T> T operator()(T a) const { return 1 / std::sqrt(a); }
};
struct Exponential {
  float operator()(float a) const { return std::exp2(a); }
};
struct Logarithm {
  float operator()(float a) const { return std::log2(a); }
};
struct Sine {
  float operator()(float a) const { return std::sin(a); }
};
struct Cosine {
  float operator()(float a) const { return std::cos(a); }
};
struct Tangent {
  float operator()(float a) const { return std::tanh(a); }
};

// A function that is written with a rounding, or without.
template <typename Function, typename T, typename... More>
void addRounded(LaneTable &table, const std::string &name, const std::string &type) {
  addLanes<Function, T, More...>(table, name + "." + type, arithmetic);
  addLanes<Function, T, More...>(table, name + ".rn." + type, arithmetic);
}

template <typename T> void addType(LaneTable &table, const std::string &type) {
  addRounded<Add, T, T, T>(table, "add", type);
  addRounded<Subtract, T, T, T>(table, "sub", type);
  addRounded<Multiply, T, T, T>(table, "mul", type);
  addRounded<MultiplyAdd, T, T, T, T>(table, "fma", type);
  addLanes<Minimum, T, T, T>(table, "min." + type, arithmetic);
  addLanes<Maximum, T, T, T>(table, "max." + type, arithmetic);
  addLanes<Negate, T, T>(table, "neg." + type, arithmetic);
  addLanes<Absolute, T, T>(table, "abs." + type, arithmetic);
  addLanes<CopySign, T, T, T>(table, "copysign." + type, arithmetic);
  addLanes<Divide, T, T, T>(table, "div.rn." + type, special);
  addLanes<Reciprocal, T, T>(table, "rcp.rn." + type, special);
  addLanes<Root, T, T>(table, "sqrt.rn." + type, special);
}

}  // namespace

void addFloats(LaneTable &table) {
  addType<float>(table, "f32");
  addType<double>(table, "f64");
  addLanes<MinimumNan, float, float, float>(table, "min.NaN.f32", arithmetic);
  addLanes<MaximumNan, float, float, float>(table, "max.NaN.f32", arithmetic);
  addLanes<Divide, float, float, float>(table, "div.approx.f32", special);
  addLanes<Divide, float, float, float>(table, "div.full.f32", special);
  addLanes<Reciprocal, float, float>(table, "rcp.approx.f32", special);
  addLanes<Root, float, float>(table, "sqrt.approx.f32", special);
  addLanes<ReciprocalRoot, float, float>(table, "rsqrt.approx.f32", special);
  addLanes<ReciprocalRoot, double, double>(table, "rsqrt.approx.f64", special);
  addLanes<Exponential, float, float>(table, "ex2.approx.f32", special);
  addLanes<Logarithm, float, float>(table, "lg2.approx.f32", special);
  addLanes<Sine, float, float>(table, "sin.approx.f32", special);
  addLanes<Cosine, float, float>(table, "cos.approx.f32", special);
  addLanes<Tangent, float, float>(table, "tanh.approx.f32", special);
}

}  // namespace talc::ptx
