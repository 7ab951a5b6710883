// SPDX-License-Identifier: Apache-2.0
// The storage formats of KV caches: those that kernels can also encode.
#pragma once

#include "dialects/talc/formats/StorageFormat.h"

#include <optional>
#include <string>
#include <vector>

namespace mlir {
class ModuleOp;
}  // namespace mlir

namespace talc {

// On a module: a dictionary with the names of the formats of keys and values in KV caches of sequences and sources, by
// default f32. Caches of a step and compressive memories are f32.
constexpr char kvFormatsAttr[] = "talc.kv_formats";
constexpr char keysKey[] = "keys", valuesKey[] = "values";

struct KvFormats {
  FormatRef keys, values;
};

std::vector<std::string> kvFormatNames();
// The formats of a module; none, and the text of an error, if they cannot be used for a KV cache.
std::optional<KvFormats> getKvFormats(mlir::ModuleOp module, std::string &error);

}  // namespace talc
