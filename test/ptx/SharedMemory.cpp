// SPDX-License-Identifier: Apache-2.0
// Barriers divide time into epochs. Warps that pass one together know of what each of them did before, and of what it
// knew: a byte is touched again only by those who know of the last write, and written by those who know of reads, too.
#include "test/ptx/SharedMemory.h"

#include "test/ptx/Memory.h"

#include <algorithm>
#include <iterator>

namespace talc::ptx {

SharedMemory::SharedMemory(uint64_t bytes) : content(bytes, junk), traces(bytes) {}

bool SharedMemory::hasSeenReads(uint32_t warp, const Trace &trace) const {
  for (uint32_t others = trace.readers & ~(1u << warp); others; others &= others - 1)
    if (!hasSeen(warp, static_cast<uint32_t>(__builtin_ctz(others)), trace.readEpoch))
      return false;
  return true;
}

bool SharedMemory::read(uint64_t address, uint64_t bytes, uint32_t warp) {
  bool races = false;
  for (Trace *trace = &traces[address], *end = trace + bytes; trace != end; ++trace) {
    races |= !hasSeen(warp, trace->writer, trace->writeEpoch);
    if (trace->readEpoch != epoch && hasSeenReads(warp, *trace))
      trace->readers = 0;
    trace->readers |= 1u << warp;
    trace->readEpoch = epoch;
  }
  return !races;
}

bool SharedMemory::write(uint64_t address, uint64_t bytes, uint32_t warp) {
  bool races = false;
  for (Trace *trace = &traces[address], *end = trace + bytes; trace != end; ++trace) {
    races |= !hasSeen(warp, trace->writer, trace->writeEpoch) || !hasSeenReads(warp, *trace);
    trace->writer = warp;
    trace->writeEpoch = epoch;
  }
  return !races;
}

void SharedMemory::setAwaited(uint64_t address, uint64_t bytes, bool awaited) {
  for (Trace *trace = &traces[address], *end = trace + bytes; trace != end; ++trace)
    awaited ? ++trace->awaited : --trace->awaited;
}

bool SharedMemory::isAwaited(uint64_t address, uint64_t bytes) const {
  return std::any_of(&traces[address], &traces[address] + bytes, [](const Trace &trace) { return trace.awaited > 0; });
}

void SharedMemory::passBarrier(uint32_t warps) {
  uint32_t joined[maxWarps] = {};
  for (uint32_t other = 0; other < maxWarps; ++other) {
    for (uint32_t remaining = warps; remaining; remaining &= remaining - 1)
      joined[other] = std::max(joined[other], seen[__builtin_ctz(remaining)][other]);
    joined[other] = warps >> other & 1 ? epoch : joined[other];
  }
  for (uint32_t remaining = warps; remaining; remaining &= remaining - 1)
    std::copy(std::begin(joined), std::end(joined), seen[__builtin_ctz(remaining)]);
  ++epoch;
}

}  // namespace talc::ptx
