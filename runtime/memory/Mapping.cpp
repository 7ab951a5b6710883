// SPDX-License-Identifier: Apache-2.0
// Thin ownership over mmap.
#include "runtime/memory/Mapping.h"

#include <cerrno>
#include <cstring>
#include <sys/mman.h>
#include <unistd.h>
#include <utility>

namespace talc {

uint64_t systemPageSize() {
  return static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
}

Mapping::Mapping(void *result, uint64_t size) {
  if (result == MAP_FAILED)
    return;
  address = static_cast<unsigned char *>(result);
  bytes = size;
}

Mapping::Mapping(Mapping &&other) noexcept
    : address(std::exchange(other.address, nullptr)), bytes(std::exchange(other.bytes, 0)), source(other.source) {}

Mapping &Mapping::operator=(Mapping &&other) noexcept {
  std::swap(address, other.address);
  std::swap(bytes, other.bytes);
  std::swap(source, other.source);
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

// Keeps `size` bytes that begin at a multiple of `alignment`, and unmaps the rest on both sides.
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

Mapping Mapping::copy(const unsigned char *source, uint64_t bytes) {
  constexpr uint64_t hugePage = 2 << 20;
  if (!mappable(bytes) || bytes > PTRDIFF_MAX - 2 * hugePage) {
    errno = ENOMEM;
    return {};
  }
  uint64_t page = systemPageSize(), size = (bytes + page - 1) & -page;
  Mapping result = zeros(size + hugePage);
  if (result.empty() || !result.alignTo(hugePage, size))
    return {};
  madvise(result.address, size, MADV_HUGEPAGE);  // fails where there are none; then ordinary pages do
  result.bytes = bytes;
  memcpy(result.address, source, bytes);
  mprotect(result.address, size, PROT_READ);  // only a precaution
  return result;
}

bool Mapping::growZeros(uint64_t newBytes) {
  if (newBytes <= bytes)
    return true;
  release();
  if (source.allocate)
    return allocate(newBytes);
  *this = zeros(newBytes);
  return !empty();
}

bool Mapping::allocate(uint64_t size) {
  address = static_cast<unsigned char *>(source.allocate(source.user, size, pageSize));
  if (!address) {
    errno = ENOMEM;
    return false;
  }
  bytes = size;
  memset(address, 0, size);
  return true;
}

void Mapping::discard(uint64_t offset, uint64_t count) {
  uint64_t page = systemPageSize();
  uintptr_t begin = reinterpret_cast<uintptr_t>(address) + offset, end = (begin + count) & -page;
  begin = (begin + page - 1) & -page;
  if (begin < end && !source.allocate)
    madvise(reinterpret_cast<void *>(begin), end - begin, MADV_FREE);  // advice: nothing is lost if it is not taken
}

void Mapping::release() {
  if (address && source.allocate)
    source.release(source.user, address, bytes);
  else if (address)
    munmap(address, bytes);
  address = nullptr;
  bytes = 0;
}

}  // namespace talc
