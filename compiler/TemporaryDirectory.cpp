// SPDX-License-Identifier: Apache-2.0
// Creates directories where TMPDIR says. LLVM's signal handlers remove files, but no directories.
#include "compiler/TemporaryDirectory.h"

#include "compiler/Error.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

#include <array>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

namespace talc {

// The paths of all temporary directories; whoever takes one out removes the directory. There are more slots than
// directories at a time. A directory without a slot is not removed if a signal ends the process.
static std::array<std::atomic<char *>, 64> paths;

static size_t registerPath(const char *path) {
  char *copy = strdup(path);
  for (size_t slot = 0; copy && slot < paths.size(); ++slot)
    if (char *empty = nullptr; paths[slot].compare_exchange_strong(empty, copy))
      return slot;
  free(copy);
  return paths.size();
}

// Does not allocate memory, unlike LLVM's functions. The directory has no subdirectories.
static void removeFiles(const char *path) {
  int directory = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (directory < 0)
    return;
  alignas(dirent64) char entries[4096];
  for (ssize_t size; (size = getdents64(directory, entries, sizeof(entries))) > 0;)
    for (ssize_t at = 0; at < size;) {
      auto *entry = reinterpret_cast<dirent64 *>(entries + at);
      unlinkat(directory, entry->d_name, 0);
      at += entry->d_reclen;
    }
  close(directory);
}

void TemporaryDirectory::removeAll() {
  constexpr int attempts = 100;  // another process may still write files
  for (std::atomic<char *> &entry : paths)
    if (const char *path = entry.exchange(nullptr))
      for (int i = 0; i < attempts && rmdir(path) != 0 && errno == ENOTEMPTY; ++i)
        removeFiles(path);
}

llvm::Expected<std::unique_ptr<TemporaryDirectory>> TemporaryDirectory::make() {
  std::unique_ptr<TemporaryDirectory> directory(new TemporaryDirectory);
  if (std::error_code error = llvm::sys::fs::createUniqueDirectory("talc", directory->path)) {
    std::string requested = directory->path.str().str();
    directory->path.clear();
    return makeError(ErrorCode::Output, "{}: cannot be made a temporary directory: {}; TMPDIR names another place",
                     requested, error.message());
  }
  directory->slot = registerPath(directory->path.c_str());
  return directory;
}

TemporaryDirectory::~TemporaryDirectory() {
  if (path.empty())
    return;
  llvm::sys::fs::remove_directories(path);
  if (slot < paths.size())
    free(paths[slot].exchange(nullptr));
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
