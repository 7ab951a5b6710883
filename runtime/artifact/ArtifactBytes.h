// SPDX-License-Identifier: Apache-2.0
// Where the bytes of an artifact are: in a mapped file, or in memory that others own.
#pragma once

#include "runtime/Status.h"
#include "runtime/memory/Mapping.h"

#include <string>

namespace talc {

// An empty range until one of the functions that fill it has succeeded. The range has a header whose sizes are right;
// all else is unchecked.
class ArtifactBytes {
public:
  ArtifactBytes() = default;
  ArtifactBytes(const ArtifactBytes &) = delete;
  ArtifactBytes &operator=(const ArtifactBytes &) = delete;
  ~ArtifactBytes();

  // Of a file, or of an open one, which stays the caller's: all of it, or what a program or library carries.
  Status openPath(const std::string &path);
  Status openDescriptor(int descriptor);
  // Memory with what such a file holds, which must outlive the object.
  Status useMemory(const void *bytes, uint64_t size);
  // What this program or library carries: see runtime/stub.
  Status useEmbedded(const unsigned char *begin);

  const unsigned char *data() const { return begin; }
  uint64_t size() const { return bytes; }
  // As messages call it.
  const std::string &name() const { return shownName; }
  // The open file and where the artifact begins in it; -1: only memory is there.
  int descriptor() const { return file; }
  uint64_t fileOffset() const { return offset; }
  // A descriptor of the file that has the bytes, for the caller to close; negative: nobody knows.
  int openFile() const;
  // Nobody reads the range soon, which others may hold in memory.
  void release(uint64_t at, uint64_t count) const;
  // What is not in memory yet shall come in huge pages, if the file system has such.
  void wantHugePages(uint64_t at, uint64_t count) const;

private:
  Status mapFile();
  Status find(const unsigned char *content, uint64_t count);
  Status checkHeader() const;
  Status noArtifact() const;
  void advise(uint64_t at, uint64_t count, int advice) const;

  std::string shownName;
  int file = -1;
  uint64_t offset = 0;
  Mapping mapped;
  bool pagesOfFile = false;  // memory that the system can read again
  const unsigned char *begin = nullptr;
  uint64_t bytes = 0;
};

}  // namespace talc
