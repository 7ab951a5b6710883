// SPDX-License-Identifier: Apache-2.0
// Writes whole files, or standard output.
#pragma once

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <string>

namespace talc {

// Writes a file that appears only when complete.
llvm::Error writeBytes(llvm::ArrayRef<uint8_t> bytes, const std::string &path);
// "-": standard output.
llvm::Error writeText(llvm::StringRef text, const std::string &path);

}  // namespace talc
