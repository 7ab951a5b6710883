// SPDX-License-Identifier: Apache-2.0
// Barriers divide time into epochs. In one epoch a byte is written by one warp, or read by any.
#include "test/ptx/SharedMemory.h"

#include "test/ptx/Memory.h"

namespace talc::ptx {

SharedMemory::SharedMemory(uint64_t bytes) : content(bytes, junk), traces(bytes) {}

bool SharedMemory::read(uint64_t address, uint64_t bytes, uint32_t warp) {
  bool races = false;
  for (Trace *trace = &traces[address], *end = trace + bytes; trace != end; ++trace) {
    races |= trace->writeEpoch == epoch && trace->writer != warp;
    trace->reader = trace->readEpoch == epoch && trace->reader != warp ? severalWarps : static_cast<uint16_t>(warp);
    trace->readEpoch = epoch;
  }
  return !races;
}

bool SharedMemory::write(uint64_t address, uint64_t bytes, uint32_t warp) {
  bool races = false;
  for (Trace *trace = &traces[address], *end = trace + bytes; trace != end; ++trace) {
    races |= trace->writeEpoch == epoch && trace->writer != warp;
    races |= trace->readEpoch == epoch && trace->reader != warp;
    trace->writer = static_cast<uint16_t>(warp);
    trace->writeEpoch = epoch;
  }
  return !races;
}

}  // namespace talc::ptx
