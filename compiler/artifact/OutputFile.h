// SPDX-License-Identifier: Apache-2.0
// A file that appears under its name only when it is complete: until then it is PATH.XXXXXXXX.partial, which failures
// and signals remove. The letters differ between writers, so that several may write one PATH; the last one wins.
#pragma once

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <memory>
#include <string>
#include <sys/types.h>
#include <vector>

namespace talc {

class OutputFile {
public:
  // Fails early when `path` is something other than a regular file, or its directory cannot be written. `mode`: who may
  // read, write and run the file, as far as the process's umask allows.
  static llvm::Expected<std::unique_ptr<OutputFile>> create(const std::string &path, mode_t mode = anyoneMayWrite);
  static constexpr mode_t anyoneMayWrite = 0666, anyoneMayRun = 0777, ownerMayWrite = 0644;
  OutputFile(const OutputFile &) = delete;
  OutputFile &operator=(const OutputFile &) = delete;
  ~OutputFile();

  // Reserves the space of the complete file, so that a full disk is noticed before any work is done.
  llvm::Error reserve(uint64_t bytes);
  llvm::Error write(llvm::ArrayRef<uint8_t> bytes);
  uint64_t position() const { return written + block.size(); }
  // Gives the file its name.
  llvm::Error commit();

private:
  explicit OutputFile(std::string path) : path(std::move(path)) {}
  llvm::Error openPartial(mode_t mode);
  llvm::Error writeNow(llvm::ArrayRef<uint8_t> bytes);
  llvm::Error cannotWrite(int reason) const;

  std::string path, partial;
  int file = -1;
  uint64_t written = 0, expected = 0;
  std::vector<uint8_t> block;  // the beginning of a block, to be written when it is full
};

// Writes a whole file through an OutputFile. (TextOutput.cpp)
llvm::Error writeBytes(llvm::ArrayRef<uint8_t> bytes, const std::string &path,
                       mode_t mode = OutputFile::anyoneMayWrite);
// The same for text; to standard output if `path` is "-".
llvm::Error writeText(llvm::StringRef text, const std::string &path);

}  // namespace talc
