// SPDX-License-Identifier: Apache-2.0
// Files for a program or library that takes nothing else.
#pragma once

#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <memory>
#include <string>

namespace talc {

// Goes with everything in it.
class TemporaryDirectory {
public:
  static llvm::Expected<std::unique_ptr<TemporaryDirectory>> make();
  TemporaryDirectory(const TemporaryDirectory &) = delete;
  ~TemporaryDirectory();

  // The path of a file in it.
  std::string file(llvm::StringRef name) const;

private:
  TemporaryDirectory() = default;

  llvm::SmallString<128> path;
};

llvm::Error writeTemporary(const std::string &path, llvm::StringRef bytes);

}  // namespace talc
