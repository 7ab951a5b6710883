// SPDX-License-Identifier: Apache-2.0
// In which storage formats keys and values of sequences can be kept: those that kernels encode, too.
#pragma once

#include "dialects/talc/formats/StorageFormat.h"

#include <optional>
#include <string>
#include <vector>

namespace mlir {
class ModuleOp;
}  // namespace mlir

namespace talc {

// A module's attributes: the names of the formats in which its states of sequences and sources keep keys, and values;
// f32 without them. States of a step and memories are f32.
constexpr char keyFormatAttr[] = "talc.key_format", valueFormatAttr[] = "talc.value_format";

struct KvFormats {
  FormatRef keys, values;
};

std::vector<std::string> kvFormatNames();
// What a module says; none, and the text of an error, if those are no such formats.
std::optional<KvFormats> getKvFormats(mlir::ModuleOp module, std::string &error);

}  // namespace talc
