// SPDX-License-Identifier: Apache-2.0
// Holds the bytes of an artifact: in a mapped file, or in memory of the caller.
#pragma once

#include "runtime/Status.h"
#include "runtime/memory/Mapping.h"

#include <string>

namespace talc {

// The range is empty until one of the functions that fill it has succeeded. Then it has a header whose sizes are right;
// everything else is unchecked.
class ArtifactBytes {
public:
  ArtifactBytes() = default;
  ArtifactBytes(const ArtifactBytes &) = delete;
  ArtifactBytes &operator=(const ArtifactBytes &) = delete;
  ~ArtifactBytes();

  // Maps a file, or an open one, which stays the caller's: all of it, or the artifact that is embedded in a program or
  // library.
  Status openPath(const std::string &path);
  Status openDescriptor(int descriptor);
  // Uses memory with the content of such a file, which must outlive the object.
  Status useMemory(const void *bytes, uint64_t size);
  // Uses the artifact that is embedded in this program or library (runtime/stub).
  Status useEmbedded(const unsigned char *begin);

  const unsigned char *data() const { return begin; }
  uint64_t size() const { return bytes; }
  // The name for messages.
  const std::string &name() const { return shownName; }
  // The open file and the offset of the artifact in it; -1: there is only memory.
  int descriptor() const { return file; }
  uint64_t fileOffset() const { return offset; }
  // Opens the file that has the bytes, for the caller to close; negative: the file is unknown.
  int openFile() const;
  // Tells the system that the range, which may be in memory, is not read soon.
  void release(uint64_t at, uint64_t count) const;
  // Asks for huge pages for what is not in memory yet, if the file system has them.
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
  bool pagesOfFile = false;  // whether the system can read the pages again from a file
  const unsigned char *begin = nullptr;
  uint64_t bytes = 0;
};

// Returns the path of the file that this code was loaded from, the program or the shared library with the runtime, for
// messages; "this program" when the system does not tell.
std::string thisBinaryName();

// Opens that file for the caller; negative when the system does not tell.
int openThisBinary();

}  // namespace talc
