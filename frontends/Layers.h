// SPDX-License-Identifier: Apache-2.0
// Plain descriptions of layers, shared by model configurations and model definitions.
#pragma once

#include <cstdint>
#include <variant>
#include <vector>

namespace talc {

// Formulas: talc.activation in dialects/talc/TalcOps.td.
enum class Activation { Relu, Gelu, GeluTanh, Silu, Tanh, Sigmoid, QuickGelu, ReluSquared, Softplus };

// Frequencies divided by a factor (arXiv 2306.15595).
struct LinearScaling {
  double factor;
};

// Frequencies scaled by wavelength: #talc.llama3_scaling.
struct Llama3Scaling {
  double factor, low, high;
  int64_t original;  // context length before scaling
};

// Frequencies scaled by the number of turns in the original context: #talc.yarn_scaling.
struct YarnScaling {
  double factor, fast, slow;
  int64_t original;
  bool truncate;
  double amplitude;
};

// A base that grows with texts longer than `original`: #talc.dynamic_scaling.
struct DynamicScaling {
  double factor;
  int64_t original;
};

// Every frequency divided by a factor of its own: #talc.listed_scaling. The long factors are for models that are
// compiled for sequences of more than `original` tokens.
struct LongScaling {
  std::vector<double> shortFactors, longFactors;
  int64_t original;
  double amplitude;
};

// Rotary position embedding of the first `rotary` features of every head, in half-split pairs (arXiv 2104.09864).
struct Rope {
  int64_t rotary;
  double base;
  std::variant<std::monostate, LinearScaling, Llama3Scaling, YarnScaling, DynamicScaling, LongScaling> scaling;
};

// The order of sines and cosines in sinusoidal positions: all sines before all cosines, interleaved, or in halves with
// frequencies down to 1/10000 (#talc.sinusoid_table).
enum class Sinusoids { Halves, Interleaved, Spread };

}  // namespace talc
