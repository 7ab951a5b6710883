// SPDX-License-Identifier: Apache-2.0
// The values of blocks, computed in double precision and rounded once.
#pragma once

#include "llvm/ADT/StringRef.h"

#include <vector>

namespace talc::reference {

// Whether values of a format are blocks that the interpreter knows.
bool knowsBlocks(llvm::StringRef format);
uint64_t blockBytes(llvm::StringRef format, uint64_t values);
// Blocks one after the other, as files have them.
void decodeBlocks(llvm::StringRef format, llvm::StringRef bytes, std::vector<float> &values);

}  // namespace talc::reference
