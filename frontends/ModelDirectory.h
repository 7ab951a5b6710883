// SPDX-License-Identifier: Apache-2.0
// The directory of a model. Its files are untrusted: only regular files inside of it are opened, each of them once.
#pragma once

#include "frontends/Diagnostics.h"

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace talc {

// An open file, or none, of which nothing can be read. Copies share a file descriptor, which the last one closes.
class OpenFile {
public:
  OpenFile() = default;
  OpenFile(int descriptor, uint64_t size);

  explicit operator bool() const { return descriptor != nullptr; }
  uint64_t size() const { return bytes; }
  // The bytes that the file system stores: fewer than the size if the file has holes.
  uint64_t storedBytes() const;
  int descriptorNumber() const { return descriptor ? *descriptor : -1; }
  // Reads exactly `count` bytes from `offset` on; false if the file is too short.
  bool read(uint64_t offset, void *destination, size_t count) const;
  // Whether `count` bytes from `offset` on are those of `other` from `otherOffset` on.
  bool equals(uint64_t offset, const OpenFile &other, uint64_t otherOffset, uint64_t count) const;
  // Whether the file is a pointer of Git LFS to a file that was not fetched.
  bool isLfsPointer() const;

private:
  std::shared_ptr<const int> descriptor;
  uint64_t bytes = 0;
};

// The message for such a file, and its remedy.
extern const char *const lfsPointerText;

class ModelDirectory {
public:
  static std::optional<ModelDirectory> open(const std::string &path, Diagnostics &diagnostics);
  ModelDirectory(ModelDirectory &&other) noexcept;
  ~ModelDirectory();

  // The absolute path without links.
  const std::string &path() const { return absolutePath; }
  // The last part of the path.
  std::string name() const;

  // Opens a folder directly in this directory, by its plain name.
  std::optional<ModelDirectory> folder(const std::string &name, Diagnostics &diagnostics) const;

  // The files of a checkpoint: all tensors, or the files of a split one in which they lie.
  static constexpr const char *safetensorsFile = "model.safetensors",
                              *safetensorsIndex = "model.safetensors.index.json";

  bool contains(const std::string &file) const;
  bool hasSafetensors() const { return contains(safetensorsFile) || contains(safetensorsIndex); }
  // The plain names of at most 10,000 files and folders in it, in order.
  std::vector<std::string> names() const;
  // Opens a regular file of the directory by its plain name. Links are refused, except those to files of the Hugging
  // Face cache: "../../blobs/<hash>" in a snapshot, with one more "../" in each folder, or
  // ".../models--NAME/blobs/<hash>".
  // It is opened once, and stays open as long as the directory.
  OpenFile openFile(const std::string &file, Diagnostics &diagnostics) const;
  // By their plain names.
  const std::map<std::string, OpenFile> &openFiles() const { return opened; }
  // The text of a file of at most `limit` bytes.
  std::optional<std::string> readText(const std::string &file, uint64_t limit, Diagnostics &diagnostics) const;

  // Whether a name from an untrusted file names a file directly in a directory.
  static bool isPlainName(const std::string &file);

private:
  ModelDirectory(int descriptor, std::string path, std::string blobs)
      : descriptor(descriptor), absolutePath(std::move(path)), blobs(std::move(blobs)) {}
  int openBlob(const std::string &file, std::string &link) const;

  int descriptor = -1;
  std::string absolutePath;
  mutable std::map<std::string, OpenFile> opened;
  std::string blobs;  // the folder with the files of the Hugging Face cache, if this is a snapshot or in one
};

}  // namespace talc
