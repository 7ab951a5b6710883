// SPDX-License-Identifier: Apache-2.0
// The directory of a model. Its files are untrusted: only regular files that lie in it are opened.
#pragma once

#include "frontends/Diagnostics.h"

#include <cstdint>
#include <optional>
#include <string>

namespace talc {

// An open file descriptor.
class OpenFile {
public:
  OpenFile() = default;
  OpenFile(int descriptor, uint64_t size) : descriptor(descriptor), bytes(size) {}
  OpenFile(OpenFile &&other) noexcept;
  OpenFile &operator=(OpenFile &&other) noexcept;
  ~OpenFile();

  explicit operator bool() const { return descriptor >= 0; }
  uint64_t size() const { return bytes; }
  // Exactly `count` bytes from `offset` on; false if the file does not have them.
  bool read(uint64_t offset, void *destination, size_t count) const;
  // Whether `count` bytes from `offset` on are those of `other` from `otherOffset` on.
  bool equals(uint64_t offset, const OpenFile &other, uint64_t otherOffset, uint64_t count) const;
  // Whether the file is what Git LFS leaves in place of a file that was not fetched.
  bool isLfsPointer() const;

private:
  int descriptor = -1;
  uint64_t bytes = 0;
};

// What is wrong with such a file, and what to do.
extern const char *const lfsPointerText;

class ModelDirectory {
public:
  static std::optional<ModelDirectory> open(const std::string &path, Diagnostics &diagnostics);
  ModelDirectory(ModelDirectory &&other) noexcept;
  ~ModelDirectory();

  // Absolute, without links.
  const std::string &path() const { return absolutePath; }
  // The last part of the path.
  std::string name() const;

  // A folder directly in this directory, by its plain name.
  std::optional<ModelDirectory> folder(const std::string &name, Diagnostics &diagnostics) const;

  bool contains(const std::string &file) const;
  // A regular file of the directory by its plain name. Links are refused, but for those that the Hugging Face cache
  // makes ("../../blobs/<hash>", with one more "../" in a folder).
  OpenFile openFile(const std::string &file, Diagnostics &diagnostics) const;
  // The text of a file of at most `limit` bytes.
  std::optional<std::string> readText(const std::string &file, uint64_t limit, Diagnostics &diagnostics) const;

  // Whether a name from an untrusted file names a file directly in a directory.
  static bool isPlainName(const std::string &file);

private:
  ModelDirectory(int descriptor, std::string path, std::string blobs)
      : descriptor(descriptor), absolutePath(std::move(path)), blobs(std::move(blobs)) {}
  int openBlob(const std::string &file) const;

  int descriptor = -1;
  std::string absolutePath;
  std::string blobs;  // where the Hugging Face cache keeps files
};

}  // namespace talc
