// SPDX-License-Identifier: Apache-2.0
// The element types of GGUF: their numbers, and which of them talc stores. Source: ggml's ggml.h.
#pragma once

#include "dialects/talc/formats/StorageFormat.h"

#include <cstdint>
#include <string>
#include <string_view>

namespace talc {

struct GgufType {
  uint32_t number;
  std::string_view name;
  int64_t blockValues, blockBytes;
  std::string_view format = {};  // in which talc stores such values, if it does
};

// Null for a number that stands for no type, or for one that was withdrawn.
const GgufType *ggufType(uint32_t number);

// Null if weights cannot have it. All types that have one: "F32, F16 or BF16".
const StorageFormat *ggufFormat(const GgufType &type);
std::string ggufFormats();

}  // namespace talc
