// SPDX-License-Identifier: Apache-2.0
// Addresses are given out once, so that one of released memory is recognized.
#include "test/ptx/Memory.h"

#include <cstdio>
#include <cstring>
#include <new>

namespace talc::ptx {

constexpr uint64_t alignment = 512, gap = 1 << 20;

uint64_t Memory::allocate(uint64_t bytes) {
  uint64_t rounded = (bytes + alignment - 1) / alignment * alignment;
  if (bytes == 0 || rounded < bytes || rounded > capacity - inUse)
    return 0;
  std::unique_ptr<unsigned char[]> content(new (std::nothrow) unsigned char[bytes]);
  if (!content)
    return 0;
  memset(content.get(), junk, bytes);
  uint64_t begin = next;
  next += rounded + gap;
  inUse += rounded;
  allocations[begin] = {begin, bytes, std::move(content)};
  return begin;
}

bool Memory::release(uint64_t address) {
  auto it = allocations.find(address);
  if (it == allocations.end())
    return false;
  inUse -= (it->second.bytes + alignment - 1) / alignment * alignment;
  allocations.erase(it);
  return true;
}

const Allocation *Memory::holder(uint64_t address) const {
  auto after = allocations.upper_bound(address);
  if (after == allocations.begin())
    return nullptr;
  const Allocation &before = std::prev(after)->second;
  return before.holds(address, 1) ? &before : nullptr;
}

unsigned char *Memory::find(uint64_t address, uint64_t bytes) {
  const Allocation *allocation = holder(address);
  return allocation && allocation->holds(address, bytes) ? allocation->content.get() + (address - allocation->begin)
                                                         : nullptr;
}

std::string Memory::describe(uint64_t address) const {
  char text[160];
  auto after = allocations.upper_bound(address);
  if (after == allocations.begin()) {
    snprintf(text, sizeof(text), "0x%llx, in no allocation", static_cast<unsigned long long>(address));
    return text;
  }
  const Allocation &before = std::prev(after)->second;
  snprintf(text, sizeof(text), "0x%llx, byte %llu of the allocation of %llu bytes before it",
           static_cast<unsigned long long>(address), static_cast<unsigned long long>(address - before.begin),
           static_cast<unsigned long long>(before.bytes));
  return text;
}

}  // namespace talc::ptx
