// SPDX-License-Identifier: Apache-2.0
// The header of a safetensors file, checked. Source: github.com/huggingface/safetensors.
#pragma once

#include "dialects/talc/formats/StorageFormat.h"
#include "frontends/Diagnostics.h"
#include "frontends/ModelDirectory.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace talc {

// One tensor: row-major little-endian values, bytes [offset, offset + bytes) of the file, unaligned.
struct SafetensorsEntry {
  std::string name;
  std::string type;  // as in the file: F32, BF16, I64, ...
  std::vector<int64_t> shape;
  uint64_t offset;
  uint64_t bytes;
};

// The tensors of a file in the order of their data. Accepted is what the reference reader accepts: the header has at
// most 100 000 000 bytes of JSON without duplicate keys, and the tensors' data covers the rest of the file exactly,
// without holes or overlap. Also refused are more than 1 000 000 tensors, names of more than 64 KiB, and more than 16
// dimensions.
std::optional<std::vector<SafetensorsEntry>> readSafetensors(const OpenFile &file, const std::string &name,
                                                             Diagnostics &diagnostics);

// The storage format of a dtype; null if weights cannot have it. All dtypes that have one: "F32, F16 or BF16".
const StorageFormat *safetensorsFormat(std::string_view dtype);
std::string safetensorsFormats();

}  // namespace talc
