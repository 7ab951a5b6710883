// SPDX-License-Identifier: Apache-2.0
// A file that is mapped read-only.
#pragma once

#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/Error.h"

#include <memory>
#include <string>

namespace talc {

class MappedFile {
public:
  // Fails for anything but a regular file. Reading a file that was truncated while it is mapped raises SIGBUS.
  static llvm::Expected<std::shared_ptr<const MappedFile>> open(const std::string &path);
  // Maps a file that is open already. `path` is its name in messages.
  static llvm::Expected<std::shared_ptr<const MappedFile>> map(const std::string &path, int descriptor);
  MappedFile(const MappedFile &) = delete;
  MappedFile &operator=(const MappedFile &) = delete;
  ~MappedFile();

  llvm::ArrayRef<uint8_t> bytes() const { return {data, size}; }
  // Tells the system that the pages read so far are not needed soon, so that they do not count as used memory.
  void releasePages() const;

  // For a handler of signals: the path of the file that is mapped where `address` is, or null.
  static const char *pathAt(const void *address);

private:
  MappedFile(std::string path, const uint8_t *data, size_t size);

  std::string path;
  const uint8_t *data;
  size_t size;
};

}  // namespace talc
