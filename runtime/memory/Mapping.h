// SPDX-License-Identifier: Apache-2.0
// Owns a range of memory: zero pages, a part of a file, or memory of an allocator.
#pragma once

#include "runtime/talc.h"

#include <cstddef>
#include <cstdint>

namespace talc {

// The page size of the file layout. The system's may be a multiple: 64-bit ARM has pages of 16 and 64 KiB.
constexpr uint64_t pageSize = 4096;
uint64_t systemPageSize();

class Mapping {
public:
  Mapping() = default;
  Mapping(Mapping &&other) noexcept;
  Mapping &operator=(Mapping &&other) noexcept;
  ~Mapping() { release(); }

  // All return an empty mapping on failure and leave the reason in errno.
  // Readable and writable; reads as zero; a page takes memory once it is written.
  static Mapping zeros(uint64_t bytes);
  // Inaccessible address space for others to map into.
  static Mapping reserve(uint64_t bytes);
  // Read-only; `offset` is a multiple of the system's page size.
  static Mapping file(int descriptor, uint64_t offset, uint64_t bytes);
  // A copy, read-only, in huge pages where the system has them.
  static Mapping copy(const unsigned char *source, uint64_t bytes);

  // Makes growZeros() use this allocator, whose `allocate` may be null. The mapping must be empty.
  void allocateFrom(const talc_allocator &allocator) { source = allocator; }
  // Allocates `bytes`. The content is lost when the mapping grows; the old memory is released first.
  bool growZeros(uint64_t bytes);
  // Tells the system that the content of the range is not needed: it takes pages when it runs short of memory, which
  // then read as zero; until then they stay as they are.
  void discard(uint64_t offset, uint64_t bytes);
  void release();

  bool empty() const { return !address; }
  unsigned char *data() const { return address; }
  uint64_t size() const { return bytes; }

private:
  Mapping(void *result, uint64_t size);
  bool alignTo(uint64_t alignment, uint64_t size);
  bool allocate(uint64_t size);

  unsigned char *address = nullptr;
  uint64_t bytes = 0;
  talc_allocator source = {};  // of the memory, unless it is the system's
};

}  // namespace talc
