// SPDX-License-Identifier: Apache-2.0
// Tensors that checkpoints hold although their models compute nothing with them.
#pragma once

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"

#include <set>
#include <string>

namespace talc {

// Whether a tensor of `rank` dimensions, which nothing uses, is a buffer that versions of transformers saved, part of
// what pools a text, or of a head of which none of the `used` tensors is a part: programs load such a checkpoint for
// other heads, too.
bool isLeftover(llvm::StringRef name, size_t rank, const std::set<std::string> &used);

}  // namespace talc
