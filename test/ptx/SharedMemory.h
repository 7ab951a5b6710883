// SPDX-License-Identifier: Apache-2.0
// The memory that the threads of a workgroup share. Two warps that touch the same byte, one of them writing, need a
// barrier between them: here a race is a fault, whatever the order in which warps happen to run.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace talc::ptx {

class SharedMemory {
public:
  explicit SharedMemory(uint64_t bytes);

  uint64_t size() const { return content.size(); }
  unsigned char *data() { return content.data(); }

  // Notes what a warp does between two barriers; false: it races with another warp. The bytes must be there.
  bool read(uint64_t address, uint64_t bytes, uint32_t warp);
  bool write(uint64_t address, uint64_t bytes, uint32_t warp);
  void passBarrier() { ++epoch; }

private:
  struct Trace {
    uint32_t readEpoch = 0, writeEpoch = 0;  // of the last access; 0: none
    uint16_t reader = 0, writer = 0;         // reader: severalWarps, if it was more than one
  };
  static constexpr uint16_t severalWarps = UINT16_MAX;

  std::vector<unsigned char> content;
  std::vector<Trace> traces;  // of every byte
  uint32_t epoch = 1;
};

}  // namespace talc::ptx
