// SPDX-License-Identifier: Apache-2.0
// Thin ownership over mmap.
#include "runtime/memory/Mapping.h"

#include <cerrno>
#include <sys/mman.h>
#include <unistd.h>
#include <utility>

namespace talc {

Mapping::Mapping(void *result, uint64_t size) {
  if (result == MAP_FAILED)
    return;
  address = static_cast<unsigned char *>(result);
  bytes = size;
}

Mapping::Mapping(Mapping &&other) noexcept
    : address(std::exchange(other.address, nullptr)), bytes(std::exchange(other.bytes, 0)) {}

Mapping &Mapping::operator=(Mapping &&other) noexcept {
  std::swap(address, other.address);
  std::swap(bytes, other.bytes);
  return *this;
}

static bool mappable(uint64_t bytes) {
  if (bytes > 0 && bytes <= PTRDIFF_MAX)
    return true;
  errno = ENOMEM;
  return false;
}

Mapping Mapping::zeros(uint64_t bytes) {
  if (!mappable(bytes))
    return {};
  return {mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0), bytes};
}

Mapping Mapping::reserve(uint64_t bytes) {
  if (!mappable(bytes))
    return {};
  return {mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0), bytes};
}

Mapping Mapping::file(int descriptor, uint64_t offset, uint64_t bytes) {
  if (!mappable(bytes))
    return {};
  return {mmap(nullptr, bytes, PROT_READ, MAP_PRIVATE, descriptor, static_cast<off_t>(offset)), bytes};
}

// Keeps `size` bytes that begin at a multiple of `alignment`, and gives back what lies before and behind them.
bool Mapping::alignTo(uint64_t alignment, uint64_t size) {
  auto begin = reinterpret_cast<uintptr_t>(address);
  uint64_t before = -begin & (alignment - 1), behind = bytes - before - size;
  if (before > 0 && munmap(address, before) != 0)
    return false;
  address += before;
  bytes -= before;
  if (behind > 0 && munmap(address + size, behind) != 0)
    return false;
  bytes = size;
  return true;
}

bool Mapping::readAll(int descriptor, uint64_t offset) {
  for (uint64_t done = 0; done < bytes;) {
    ssize_t count = pread(descriptor, address + done, bytes - done, static_cast<off_t>(offset + done));
    if (count < 0 && errno == EINTR)
      continue;
    if (count == 0)
      errno = EIO;  // the file became shorter
    if (count <= 0)
      return false;
    done += count;
  }
  return true;
}

Mapping Mapping::copy(int descriptor, uint64_t offset, uint64_t bytes) {
  constexpr uint64_t hugePage = 2 << 20;
  if (!mappable(bytes))
    return {};
  uint64_t size = (bytes + pageSize - 1) & -pageSize;
  Mapping result = zeros(size + hugePage);
  if (result.empty() || !result.alignTo(hugePage, size))
    return {};
  madvise(result.address, size, MADV_HUGEPAGE);  // fails where there are none; then ordinary pages do
  result.bytes = bytes;
  if (!result.readAll(descriptor, offset) || mprotect(result.address, size, PROT_READ) != 0) {
    int reason = errno;
    result.release();
    errno = reason;
  }
  return result;
}

bool Mapping::growZeros(uint64_t needed) {
  if (needed <= bytes)
    return true;
  release();
  *this = zeros(needed);
  return !empty();
}

void Mapping::discard(uint64_t offset, uint64_t count) {
  uintptr_t begin = reinterpret_cast<uintptr_t>(address) + offset, end = (begin + count) & -pageSize;
  begin = (begin + pageSize - 1) & -pageSize;
  if (begin < end)
    madvise(reinterpret_cast<void *>(begin), end - begin, MADV_FREE);  // advice: nothing is lost if it is not taken
}

void Mapping::release() {
  if (address)
    munmap(address, bytes);
  address = nullptr;
  bytes = 0;
}

}  // namespace talc
