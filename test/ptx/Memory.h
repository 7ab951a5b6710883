// SPDX-License-Identifier: Apache-2.0
// The memory of the device: allocations, far from each other and from any address of the host, full of junk at first.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>

namespace talc::ptx {

// Generic addresses: what lies in these windows of 2^40 bytes is shared or local memory.
constexpr uint64_t sharedWindow = 1ull << 56, localWindow = 2ull << 56, windowBytes = 1ull << 40;
// Floats of this are NaN, and addresses of it lie nowhere.
constexpr int junk = 0xff;

struct Allocation {
  uint64_t begin = 0, bytes = 0;
  std::unique_ptr<unsigned char[]> content;

  bool holds(uint64_t address, uint64_t count) const {
    return address >= begin && address - begin <= bytes && count <= bytes - (address - begin);
  }
};

class Memory {
public:
  explicit Memory(uint64_t capacity) : capacity(capacity) {}

  // Returns 0 when too little memory is left.
  uint64_t allocate(uint64_t bytes);
  bool release(uint64_t address);  // takes what allocate() returned
  uint64_t used() const { return inUse; }
  uint64_t total() const { return capacity; }
  size_t count() const { return allocations.size(); }

  // The bytes at an address; null unless `bytes` of them are in one allocation.
  unsigned char *find(uint64_t address, uint64_t bytes);
  // The allocation that holds an address, or null.
  const Allocation *holder(uint64_t address) const;
  // For messages: "16 bytes behind the allocation of 4096 bytes at 0x...".
  std::string describe(uint64_t address) const;

private:
  uint64_t capacity, inUse = 0, next = 0x7100'0000'0000;
  std::map<uint64_t, Allocation> allocations;  // by their begins
};

}  // namespace talc::ptx
