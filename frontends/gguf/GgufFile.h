// SPDX-License-Identifier: Apache-2.0
// The header of a GGUF file, checked. Source: docs/gguf.md of github.com/ggml-org/ggml.
#pragma once

#include "dialects/talc/formats/StorageFormat.h"
#include "frontends/Diagnostics.h"
#include "frontends/ModelDirectory.h"

#include <nlohmann/json.hpp>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace talc {

// An element type of GGUF: its number, and the storage format of talc for it. Source: ggml's ggml.h.
struct GgufType {
  uint32_t number;
  std::string_view name;
  int64_t blockValues, blockBytes;
  std::string_view format = {};  // in which talc stores such values, if it does
};

// Returns null for an unknown number, or for a type that was withdrawn.
const GgufType *ggufType(uint32_t number);

// Returns null if weights cannot have it. All types that have one: "F32, F16 or BF16".
const StorageFormat *ggufFormat(const GgufType &type);
std::string ggufFormats();

// Row-major little-endian values, bytes [offset, offset + bytes) of the file, unaligned.
struct GgufTensor {
  std::string name;
  const GgufType *type;
  std::vector<int64_t> shape;  // the fastest dimension last, as talc has it; the file has it first
  uint64_t offset;
  uint64_t bytes;
};

struct GgufFile {
  // Keys and values. An f32 is the shortest decimal number that means it, which is what its writer had: 1e-5, not
  // 9.99999974e-6.
  std::map<std::string, nlohmann::json> metadata;
  std::vector<GgufTensor> tensors;  // in the order of their data
};

// Versions 2 and 3, little-endian. Accepted is what ggml's reader accepts: keys and names occur once, tensors follow
// each other without holes, and their data lies within the file. Also refused are empty dimensions, lists of more than
// 2^24 values, more than 1 000 000 tensors, 65536 keys or an alignment of 1 MiB, and text that is not UTF-8.
std::optional<GgufFile> readGguf(const OpenFile &file, const std::string &name, Diagnostics &diagnostics);

}  // namespace talc
