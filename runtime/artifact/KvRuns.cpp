// SPDX-License-Identifier: Apache-2.0
// Every run must fit the longest sequence, and all together must have the bytes of a token.
#include "runtime/artifact/KvRuns.h"

#include <algorithm>
#include <cstring>

namespace talc {

using namespace artifact;

static bool fits(const KvRun &run, const ModelInfo &facts) {
  uint64_t all = facts.segment ? facts.segment : facts.maxSequence, tokens = run.tokens > 0 ? run.tokens : all;
  uint64_t groups = isSummary(run) ? 1 : (tokens + facts.kvTokenGroup - 1) / facts.kvTokenGroup, bytes = 0;
  return run.kind <= static_cast<uint32_t>(KvRunKind::Recurrence) && run.tokens % facts.kvTokenGroup == 0 &&
         run.offset <= facts.kvBytesPerSlot && !__builtin_mul_overflow(groups, run.bytesPerGroup, &bytes) &&
         bytes <= facts.kvBytesPerSlot - run.offset;
}

const char *readKvRuns(const unsigned char *bytes, uint64_t size, const ModelInfo &facts, std::vector<KvRun> &runs) {
  constexpr uint64_t maxRuns = 1 << 16;
  if (size % sizeof(KvRun) != 0 || size / sizeof(KvRun) > maxRuns)
    return "it is not a list of runs";
  runs.resize(size / sizeof(KvRun));
  if (size > 0)
    memcpy(runs.data(), bytes, size);
  uint64_t perGroup[2] = {};
  for (const KvRun &run : runs) {
    if (!fits(run, facts))
      return "a run lies outside the slot";
    if (run.tokens == 0 && !isSummary(run))
      perGroup[run.kind] += run.bytesPerGroup;
  }
  bool agree = perGroup[0] == facts.kvBytesPerToken * facts.kvTokenGroup &&
               perGroup[1] == facts.sourceBytesPerToken * facts.kvTokenGroup;
  return agree ? nullptr : "its runs disagree with the bytes per token";
}

uint64_t kvBytes(const std::vector<KvRun> &runs, uint64_t group, uint64_t first, uint64_t end, bool ofSource) {
  uint64_t groups = end > first ? (end + group - 1) / group - first / group : 0, bytes = 0;
  for (const KvRun &run : runs) {
    if ((run.kind == static_cast<uint32_t>(KvRunKind::Source)) != ofSource)
      continue;
    uint64_t takenGroups = run.tokens > 0 ? std::min<uint64_t>(groups, run.tokens / group) : groups;
    bytes += run.bytesPerGroup * (isSummary(run) ? end > 0 : takenGroups);
  }
  return bytes;
}

}  // namespace talc
