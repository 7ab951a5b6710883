// SPDX-License-Identifier: Apache-2.0
// Temporary files, for programs and libraries that take their input from files only.
#pragma once

#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <memory>
#include <string>

namespace talc {

// The destructor removes the directory with all files in it, and so does removeAll() in the handler of a signal.
class TemporaryDirectory {
public:
  static llvm::Expected<std::unique_ptr<TemporaryDirectory>> make();
  TemporaryDirectory(const TemporaryDirectory &) = delete;
  ~TemporaryDirectory();

  // The path of a file in it.
  std::string file(llvm::StringRef name) const;

  // Removes all temporary directories of the process, with files that it or its children wrote. Signal handlers may
  // call it.
  static void removeAll();

private:
  TemporaryDirectory() = default;

  llvm::SmallString<128> path;
  size_t slot = 0;  // in the table that removeAll() goes through
};

llvm::Error writeTemporary(const std::string &path, llvm::StringRef bytes);

}  // namespace talc
