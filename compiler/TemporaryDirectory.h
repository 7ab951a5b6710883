// SPDX-License-Identifier: Apache-2.0
// Files for a program or library that takes nothing else.
#pragma once

#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <memory>
#include <string>

namespace talc {

// Goes with everything in it, also when a signal ends the process whose handler calls removeAll().
class TemporaryDirectory {
public:
  static llvm::Expected<std::unique_ptr<TemporaryDirectory>> make();
  TemporaryDirectory(const TemporaryDirectory &) = delete;
  ~TemporaryDirectory();

  // The path of a file in it.
  std::string file(llvm::StringRef name) const;

  // Removes all that there are, with files of the process and of those that it started. Handlers of signals may call
  // it.
  static void removeAll();

private:
  TemporaryDirectory() = default;

  llvm::SmallString<128> path;
  size_t place = 0;  // in the table of those that removeAll() knows
};

llvm::Error writeTemporary(const std::string &path, llvm::StringRef bytes);

}  // namespace talc
