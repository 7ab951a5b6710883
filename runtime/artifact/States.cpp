// SPDX-License-Identifier: Apache-2.0
// Every run is checked for the longest sequence, and all together for the bytes of a token.
#include "runtime/artifact/States.h"

#include <algorithm>
#include <cstring>

namespace talc {

using namespace artifact;

static bool isMemory(const StateRun &run) {
  return run.kind == static_cast<uint32_t>(RunKind::Memory);
}

static bool fits(const StateRun &run, const ModelInfo &facts) {
  uint64_t all = facts.segment ? facts.segment : facts.maxSequence, tokens = run.tokens > 0 ? run.tokens : all;
  uint64_t groups = isMemory(run) ? 1 : (tokens + facts.stateTokenGroup - 1) / facts.stateTokenGroup, bytes = 0;
  return run.kind <= static_cast<uint32_t>(RunKind::Memory) && run.tokens % facts.stateTokenGroup == 0 &&
         run.offset <= facts.stateBytesPerSlot && !__builtin_mul_overflow(groups, run.bytesPerGroup, &bytes) &&
         bytes <= facts.stateBytesPerSlot - run.offset;
}

const char *readStates(const unsigned char *bytes, uint64_t size, const ModelInfo &facts, std::vector<StateRun> &runs) {
  constexpr uint64_t most = 1 << 16;
  if (size % sizeof(StateRun) != 0 || size / sizeof(StateRun) > most)
    return "it is no list of runs";
  runs.resize(size / sizeof(StateRun));
  if (size > 0)
    memcpy(runs.data(), bytes, size);
  uint64_t perGroup[2] = {};
  for (const StateRun &run : runs) {
    if (!fits(run, facts))
      return "a run lies outside the slot";
    if (run.tokens == 0 && !isMemory(run))
      perGroup[run.kind] += run.bytesPerGroup;
  }
  bool agree = perGroup[0] == facts.stateBytesPerToken * facts.stateTokenGroup &&
               perGroup[1] == facts.sourceBytesPerToken * facts.stateTokenGroup;
  return agree ? nullptr : "its tokens take another number of bytes";
}

uint64_t stateBytes(const std::vector<StateRun> &runs, uint64_t group, uint64_t first, uint64_t end, bool ofSource) {
  uint64_t groups = end > first ? (end + group - 1) / group - first / group : 0, bytes = 0;
  for (const StateRun &run : runs) {
    if ((run.kind == static_cast<uint32_t>(RunKind::Source)) != ofSource)
      continue;
    uint64_t taken = run.tokens > 0 ? std::min<uint64_t>(groups, run.tokens / group) : groups;
    bytes += run.bytesPerGroup * (isMemory(run) ? end > 0 : taken);
  }
  return bytes;
}

}  // namespace talc
