// SPDX-License-Identifier: Apache-2.0
// Runs lld inside the process, on files in a fresh temporary directory.
#include "compiler/targets/cpu/SharedObject.h"

#include "compiler/Error.h"

#include "lld/Common/Driver.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

LLD_HAS_DRIVER(elf)

namespace talc::cpu {

namespace {

class TemporaryDirectory {
public:
  TemporaryDirectory() { error = llvm::sys::fs::createUniqueDirectory("talc", path); }
  ~TemporaryDirectory() {
    if (!error)
      llvm::sys::fs::remove_directories(path);
  }
  std::string file(llvm::StringRef name) const {
    llvm::SmallString<128> result(path);
    llvm::sys::path::append(result, name);
    return result.str().str();
  }

  std::error_code error;
  llvm::SmallString<128> path;
};

}  // namespace

static llvm::Error writeFile(const std::string &path, llvm::ArrayRef<uint8_t> bytes) {
  std::error_code error;
  llvm::raw_fd_ostream stream(path, error);
  if (!error) {
    stream.write(reinterpret_cast<const char *>(bytes.data()), bytes.size());
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

static llvm::Error link(const std::string &object, const std::string &output) {
  const char *arguments[] = {
      "ld.lld",        "-shared", object.c_str(), "-o", output.c_str(), "--no-undefined",    "-z",
      "separate-code", "-z",      "noexecstack",  "-z", "now",          "--hash-style=both", "--build-id=none",
      "--threads=1"};
  std::string messages;
  llvm::raw_string_ostream stream(messages);
  lld::Result result = lld::lldMain(arguments, llvm::nulls(), stream, {{lld::Gnu, &lld::elf::link}});
  if (result.retCode == 0)
    return llvm::Error::success();
  return internalError("the generated code cannot be linked: {}", llvm::StringRef(messages).split('\n').first.str());
}

llvm::Expected<std::vector<uint8_t>> linkSharedObject(llvm::ArrayRef<uint8_t> object) {
  TemporaryDirectory directory;
  if (directory.error)
    return makeError(ErrorCode::Output, "{}: cannot be made a temporary directory: {}; TMPDIR names another place",
                     directory.path.str().str(), directory.error.message());
  std::string input = directory.file("code.o"), output = directory.file("code.so");
  if (llvm::Error error = writeFile(input, object))
    return std::move(error);
  if (llvm::Error error = link(input, output))
    return std::move(error);
  auto linked = llvm::MemoryBuffer::getFile(output, false, false);
  if (!linked)
    return makeError(ErrorCode::Output, "{}: cannot be read: {}", output, linked.getError().message());
  llvm::StringRef bytes = (*linked)->getBuffer();
  return std::vector<uint8_t>(bytes.bytes_begin(), bytes.bytes_end());
}

}  // namespace talc::cpu
