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
  // Bytes that an asynchronous copy is to bring, until it has.
  void setAwaited(uint64_t address, uint64_t bytes, bool awaited);
  bool isAwaited(uint64_t address, uint64_t bytes) const;
  // The warps of a mask were at a barrier.
  void passBarrier(uint32_t warps);

private:
  static constexpr uint32_t maxWarps = 32;

  struct Trace {
    uint32_t readEpoch = 0, writeEpoch = 0;  // of the last access; 0: none
    uint32_t readers = 0;                    // warps, since a barrier that the last of them passed
    uint32_t writer = 0;
    uint32_t awaited = 0;  // copies
  };
  bool hasSeen(uint32_t warp, uint32_t other, uint32_t when) const {
    return warp == other || when <= seen[warp][other];
  }
  bool hasSeenReads(uint32_t warp, const Trace &trace) const;

  std::vector<unsigned char> content;
  std::vector<Trace> traces;  // of every byte
  uint32_t epoch = 1;
  uint32_t seen[maxWarps][maxWarps] = {};  // up to which epoch the first warp comes behind the second
};

}  // namespace talc::ptx
