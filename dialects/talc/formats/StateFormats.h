// SPDX-License-Identifier: Apache-2.0
// In which storage formats keys and values of sequences can be kept: those that kernels encode, too.
#pragma once

#include "dialects/talc/formats/StorageFormat.h"

#include <string>
#include <string_view>
#include <vector>

namespace mlir {
class ModuleOp;
}  // namespace mlir

namespace talc {

// A module's attribute: the name of the format in which its states of sequences and sources keep keys and values; f32
// without it. States of a step and memories are f32.
constexpr char stateFormatAttr[] = "talc.state_format";

std::vector<std::string> stateFormatNames();
// What a module says; null, and the text of an error, if that is no such format.
const StorageFormat *stateFormatOf(mlir::ModuleOp module, std::string &error);

}  // namespace talc
