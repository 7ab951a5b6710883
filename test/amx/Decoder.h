// SPDX-License-Identifier: Apache-2.0
// Instructions of AMX in their VEX encoding.
#pragma once

#include "test/amx/Tiles.h"

#include <optional>

namespace amx {

enum class Kind { LoadConfiguration, StoreConfiguration, Release, Zero, Load, Store, Multiply };

// Registers are numbered as encodings do: rax, rcx, rdx, rbx, rsp, rbp, rsi, rdi, r8 to r15; -1: none.
struct Address {
  int base = -1, index = -1;
  int64_t scale = 1, displacement = 0;
};

struct Instruction {
  Kind kind;
  int length;
  int tile = 0, a = 0, b = 0;  // the tile that is written, loaded or stored; factors
  Product product = Product::Bf16;
  Address address{};
};

// Decodes the first bytes of an instruction; returns nothing for another one.
std::optional<Instruction> decode(const uint8_t *code);

// The longest that an instruction is.
constexpr int mostBytes = 15;

}  // namespace amx
