// SPDX-License-Identifier: Apache-2.0
// Maps files of weights.
#include "compiler/artifact/weights/MappedFile.h"

#include "compiler/Error.h"

#include <atomic>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace talc {

llvm::Expected<std::shared_ptr<const MappedFile>> MappedFile::open(const std::string &path) {
  // O_NONBLOCK: opening a named pipe must not wait for a writer.
  int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (file < 0)
    return makeError(ErrorCode::WeightFile, "{}: cannot be opened: {}", path, strerror(errno));
  auto mapping = map(path, file);
  close(file);
  return mapping;
}

llvm::Expected<std::shared_ptr<const MappedFile>> MappedFile::map(const std::string &path, int descriptor) {
  struct stat facts;
  if (fstat(descriptor, &facts) != 0)
    return makeError(ErrorCode::WeightFile, "{}: cannot be opened: {}", path, strerror(errno));
  if (!S_ISREG(facts.st_mode))
    return makeError(ErrorCode::WeightFile, "{}: is not a regular file", path);
  auto size = static_cast<size_t>(facts.st_size);
  void *data = size == 0 ? nullptr : mmap(nullptr, size, PROT_READ, MAP_PRIVATE, descriptor, 0);
  if (data == MAP_FAILED && errno == ENOMEM)
    return llvm::createStringError(fmt::format(
        "error[T0408]: {}: the system refused {} bytes of address space; raise its limit (ulimit -v)", path, size));
  if (data == MAP_FAILED)
    return makeError(ErrorCode::WeightFile, "{}: {} bytes cannot be mapped: {}", path, size, strerror(errno));
  return std::shared_ptr<const MappedFile>(new MappedFile(path, static_cast<const uint8_t *>(data), size));
}

// A handler may interrupt at any place, so the mapped files are where they can be read without a lock. Files beyond
// these are not found; checkpoints have hundreds at most.
static std::atomic<const MappedFile *> mapped[1024];

MappedFile::MappedFile(std::string path, const uint8_t *data, size_t size)
    : path(std::move(path)), data(data), size(size) {
  for (std::atomic<const MappedFile *> &place : mapped) {
    const MappedFile *free = nullptr;
    if (place.compare_exchange_strong(free, this))
      return;
  }
}

const char *MappedFile::pathAt(const void *address) {
  for (const std::atomic<const MappedFile *> &place : mapped)
    if (const MappedFile *file = place.load())
      if (address >= file->data && address < file->data + file->size)
        return file->path.c_str();
  return nullptr;
}

MappedFile::~MappedFile() {
  for (std::atomic<const MappedFile *> &place : mapped) {
    const MappedFile *self = this;
    if (place.compare_exchange_strong(self, nullptr))
      break;
  }
  if (data)
    munmap(const_cast<uint8_t *>(data), size);
}

void MappedFile::releasePages() const {
  if (data)
    madvise(const_cast<uint8_t *>(data), size, MADV_DONTNEED);
}

}  // namespace talc
