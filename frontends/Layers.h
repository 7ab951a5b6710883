// SPDX-License-Identifier: Apache-2.0
// Plain descriptions of layers, shared by model configurations and model definitions.
#pragma once

#include <cstdint>
#include <variant>

namespace talc {

// Formulas: talc.activation in dialects/talc/TalcOps.td.
enum class Activation { Relu, Gelu, GeluTanh, Silu, Tanh, Sigmoid, QuickGelu, ReluSquared };

// Frequencies divided by a factor (arXiv 2306.15595).
struct LinearScaling {
  double factor;
};

// Frequencies scaled by wavelength: #talc.llama3_scaling.
struct Llama3Scaling {
  double factor, low, high;
  int64_t original;  // context length before scaling
};

// Rotary position embedding of the first `rotary` features of every head, in half-split pairs (arXiv 2104.09864).
struct Rope {
  int64_t rotary;
  double base;
  std::variant<std::monostate, LinearScaling, Llama3Scaling> scaling;
};

// Where sines and cosines of sinusoidal positions stand: all sines before all cosines, or in turn
// (#talc.sinusoid_table).
enum class Sinusoids { Halves, Interleaved };

}  // namespace talc
