// SPDX-License-Identifier: Apache-2.0
// In the directory that TMPDIR names.
#include "compiler/TemporaryDirectory.h"

#include "compiler/Error.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

namespace talc {

llvm::Expected<std::unique_ptr<TemporaryDirectory>> TemporaryDirectory::make() {
  std::unique_ptr<TemporaryDirectory> directory(new TemporaryDirectory);
  if (std::error_code error = llvm::sys::fs::createUniqueDirectory("talc", directory->path)) {
    std::string wanted = directory->path.str().str();
    directory->path.clear();
    return makeError(ErrorCode::Output, "{}: cannot be made a temporary directory: {}; TMPDIR names another place",
                     wanted, error.message());
  }
  return directory;
}

TemporaryDirectory::~TemporaryDirectory() {
  if (!path.empty())
    llvm::sys::fs::remove_directories(path);
}

std::string TemporaryDirectory::file(llvm::StringRef name) const {
  llvm::SmallString<128> result(path);
  llvm::sys::path::append(result, name);
  return result.str().str();
}

llvm::Error writeTemporary(const std::string &path, llvm::StringRef bytes) {
  std::error_code error;
  llvm::raw_fd_ostream stream(path, error);
  if (!error) {
    stream << bytes;
    stream.close();
    error = stream.error();
    stream.clear_error();
  }
  if (error)
    return makeError(ErrorCode::Output,
                     "{}: {} bytes cannot be written: {}; TMPDIR names another directory for "
                     "temporary files",
                     path, bytes.size(), error.message());
  return llvm::Error::success();
}

}  // namespace talc
