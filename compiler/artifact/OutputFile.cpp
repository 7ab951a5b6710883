// SPDX-License-Identifier: Apache-2.0
// Writes beside PATH and renames.
#include "compiler/artifact/OutputFile.h"

#include "compiler/Error.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/Signals.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

namespace talc {

// Whether a path leads to an open file of the process, as /dev/stdout does: a new file cannot take its place.
static bool namesOpenFile(const std::string &path) {
  llvm::StringRef directory = llvm::sys::path::parent_path(path);
  llvm::SmallString<128> folder;
  if (!llvm::sys::fs::real_path(directory.empty() ? "." : directory, folder) && folder.starts_with("/proc/"))
    return true;
  char link[6];
  ssize_t length = readlink(path.c_str(), link, sizeof(link));
  return length > 0 && llvm::StringRef(link, length) == "/proc/";
}

llvm::Expected<std::unique_ptr<OutputFile>> OutputFile::create(const std::string &path, mode_t mode) {
  struct stat facts;
  if (stat(path.c_str(), &facts) == 0 && (!S_ISREG(facts.st_mode) || namesOpenFile(path)))
    return makeError(ErrorCode::Output, "{}: is not a regular file; name a file to write with -o", path);
  std::unique_ptr<OutputFile> result(new OutputFile(path));
  if (llvm::Error error = result->openPartial(mode))
    return std::move(error);
  return result;
}

// O_EXCL: neither another writer's file nor a link that somebody has put there is ever opened.
llvm::Error OutputFile::openPartial(mode_t mode) {
  for (int attempt = 0; attempt < 100; ++attempt) {
    partial = fmt::format("{}.{:08x}.partial", path, llvm::sys::Process::GetRandomNumber());
    llvm::sys::RemoveFileOnSignal(partial);
    file = open(partial.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);
    if (file >= 0)
      return llvm::Error::success();
    int reason = errno;
    llvm::sys::DontRemoveFileOnSignal(partial);
    if (reason != EEXIST)
      return makeError(ErrorCode::Output, "{}: cannot be created: {}", path, strerror(reason));
  }
  return makeError(ErrorCode::Output, "{}: cannot be created: all names beside it are taken", path);
}

OutputFile::~OutputFile() {
  if (file < 0)
    return;
  close(file);
  unlink(partial.c_str());
  llvm::sys::DontRemoveFileOnSignal(partial);
}

static std::string freeSpace(const std::string &path) {
  llvm::StringRef directory = llvm::sys::path::parent_path(path);
  struct statvfs facts;
  if (statvfs(directory.empty() ? "." : directory.str().c_str(), &facts) != 0)
    return "an unknown number of";
  return std::to_string(static_cast<uint64_t>(facts.f_bavail) * facts.f_frsize);
}

llvm::Error OutputFile::cannotWrite(int reason) const {
  uint64_t requiredBytes = std::max(expected, written);
  if (reason == ENOSPC || reason == EDQUOT)
    return makeError(ErrorCode::Output, "{}: the file needs {} bytes, but its file system has {} bytes left", path,
                     requiredBytes, freeSpace(path));
  if (reason == EFBIG)
    return makeError(ErrorCode::Output, "{}: the file needs {} bytes, more than a file may have (ulimit -f)", path,
                     requiredBytes);
  return makeError(ErrorCode::Output, "{}: the file of {} bytes cannot be written: {}", path, requiredBytes,
                   strerror(reason));
}

llvm::Error OutputFile::reserve(uint64_t bytes) {
  expected = bytes;
  while (fallocate(file, 0, 0, static_cast<off_t>(bytes)) != 0) {
    if (errno == EOPNOTSUPP || errno == ENOSYS)  // then writes notice
      break;
    if (errno != EINTR)
      return cannotWrite(errno);
  }
  return llvm::Error::success();
}

// File systems with large folios keep what is written at once in one page: whole blocks of huge pages' size and place
// are mapped as such, by every process that maps the file, for as long as they stay in the page cache.
constexpr size_t blockBytes = 2 << 20;

llvm::Error OutputFile::write(llvm::ArrayRef<uint8_t> bytes) {
  while (!bytes.empty()) {
    bool isWholeBlock = block.empty() && bytes.size() >= blockBytes;
    size_t count =
        isWholeBlock ? bytes.size() / blockBytes * blockBytes : std::min(bytes.size(), blockBytes - block.size());
    llvm::ArrayRef<uint8_t> first = bytes.take_front(count);
    bytes = bytes.drop_front(count);
    if (!isWholeBlock) {
      block.insert(block.end(), first.begin(), first.end());
      if (block.size() < blockBytes)
        continue;
      first = block;
    }
    if (llvm::Error error = writeNow(first))
      return error;
    block.clear();
  }
  return llvm::Error::success();
}

llvm::Error OutputFile::writeNow(llvm::ArrayRef<uint8_t> bytes) {
  while (!bytes.empty()) {
    ssize_t count = ::write(file, bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR)
      continue;
    if (count < 0)
      return cannotWrite(errno);
    written += count;
    bytes = bytes.drop_front(count);
  }
  return llvm::Error::success();
}

llvm::Error OutputFile::commit() {
  if (llvm::Error error = writeNow(block))
    return error;
  bool failed = ftruncate(file, static_cast<off_t>(written)) != 0;
  failed = close(file) != 0 || failed;
  file = -1;
  failed = failed || rename(partial.c_str(), path.c_str()) != 0;
  int reason = errno;
  if (failed)
    unlink(partial.c_str());
  llvm::sys::DontRemoveFileOnSignal(partial);
  return failed ? cannotWrite(reason) : llvm::Error::success();
}

}  // namespace talc
