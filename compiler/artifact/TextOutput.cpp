// SPDX-License-Identifier: Apache-2.0
// Output that needs no streaming.
#include "compiler/artifact/OutputFile.h"

#include "compiler/Error.h"

#include <cerrno>
#include <cstring>
#include <unistd.h>

namespace talc {

llvm::Error writeBytes(llvm::ArrayRef<uint8_t> bytes, const std::string &path, mode_t mode) {
  auto file = OutputFile::create(path, mode);
  if (!file)
    return file.takeError();
  if (llvm::Error error = (*file)->reserve(bytes.size()))
    return error;
  if (llvm::Error error = (*file)->write(bytes))
    return error;
  return (*file)->commit();
}

llvm::Error writeText(llvm::StringRef text, const std::string &path) {
  if (path != "-")
    return writeBytes({text.bytes_begin(), text.size()}, path);
  while (!text.empty()) {
    ssize_t count = write(STDOUT_FILENO, text.data(), text.size());
    if (count < 0 && errno != EINTR)
      return makeError(ErrorCode::Output, "standard output: {} bytes cannot be written: {}", text.size(),
                       strerror(errno));
    text = text.drop_front(std::max<ssize_t>(count, 0));
  }
  return llvm::Error::success();
}

}  // namespace talc
