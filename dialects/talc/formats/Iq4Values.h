// SPDX-License-Identifier: Apache-2.0
// The values that the codes of iq4_nl and iq4_xs stand for, times a scale: dense around zero. Source: llama.cpp.
#pragma once

#include <cstdint>

namespace talc {

constexpr int8_t iq4Values[16] = {-127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113};

}  // namespace talc
