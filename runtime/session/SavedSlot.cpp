// SPDX-License-Identifier: Apache-2.0
// Numbers have this machine's byte order, as in the KV cache itself; only the same model can load the bytes.
#include "runtime/session/SavedSlot.h"

#include <algorithm>
#include <cstddef>
#include <cstring>

namespace talc {

namespace {

constexpr char savedMagic[8] = {'T', 'A', 'L', 'C', 'S', 'L', 'O', '1'};

struct Head {
  char magic[8];         // savedMagic
  uint64_t hash;         // of all that follows
  uint64_t fingerprint;  // of the model
  SlotTokens tokens;
};

uint64_t hashSlot(const unsigned char *bytes, uint64_t size) {
  constexpr uint64_t begin = offsetof(Head, fingerprint);
  return artifact::hashBytes(bytes + begin, size - begin);
}

// Calls visit(run, bytes) for the part of each run that the tokens take.
template <typename Visit> void forEachRun(const Model &model, SlotTokens tokens, CopiedParts parts, Visit visit) {
  const uint64_t group = model.info().kvTokenGroup;
  for (const artifact::KvRun &run : model.kvRuns()) {
    if (parts == CopiedParts::Changed && model.info().segment == 0 && !isSummary(run))
      continue;
    auto kind = static_cast<artifact::KvRunKind>(run.kind);
    uint64_t count = kind == artifact::KvRunKind::Source ? tokens.sourceLength : model.rowsOf(tokens.length);
    uint64_t groups = isSummary(run) ? tokens.length > 0 : (count + group - 1) / group;
    visit(run, (run.tokens > 0 ? std::min<uint64_t>(groups, run.tokens / group) : groups) * run.bytesPerGroup);
  }
}

}  // namespace

uint64_t kvBytes(const Model &model, SlotTokens tokens, CopiedParts parts) {
  uint64_t size = 0;
  forEachRun(model, tokens, parts, [&](const artifact::KvRun &, uint64_t bytes) { size += bytes; });
  return size;
}

Status readKvCache(const Model &model, const Workspace &workspace, int32_t slot, SlotTokens tokens,
                   unsigned char *bytes, CopiedParts parts) {
  Status status;
  forEachRun(model, tokens, parts, [&](const artifact::KvRun &run, uint64_t count) {
    if (!status.failed())
      status = workspace.readKvBytes(slot, run.offset, count, bytes);
    bytes += count;
  });
  return status;
}

Status writeKvCache(const Model &model, Workspace &workspace, int32_t slot, SlotTokens tokens,
                    const unsigned char *bytes, CopiedParts parts) {
  Status status;
  forEachRun(model, tokens, parts, [&](const artifact::KvRun &run, uint64_t count) {
    if (!status.failed())
      status = workspace.writeKvBytes(slot, run.offset, count, bytes);
    bytes += count;
  });
  return status;
}

uint64_t savedBytes(const Model &model, SlotTokens tokens) {
  return sizeof(Head) + kvBytes(model, tokens);
}

Status saveSlot(const Model &model, const Workspace &workspace, int32_t slot, SlotTokens tokens, unsigned char *bytes) {
  Head head = {{}, 0, model.fingerprint(), tokens};
  memcpy(head.magic, savedMagic, sizeof(savedMagic));
  memcpy(bytes, &head, sizeof(head));
  Status status = readKvCache(model, workspace, slot, tokens, bytes + sizeof(head));
  head.hash = hashSlot(bytes, savedBytes(model, tokens));
  memcpy(bytes + offsetof(Head, hash), &head.hash, sizeof(head.hash));
  return status;
}

Status readSaved(const Model &model, const unsigned char *bytes, uint64_t size, SlotTokens &tokens) {
  auto damaged = [&] {
    return Status::failure(TALC_ERROR_DAMAGED, "%s: the bytes are not a saved slot, or they are damaged",
                           model.name().c_str());
  };
  Head head;
  if (size < sizeof(head))
    return damaged();
  memcpy(&head, bytes, sizeof(head));
  if (memcmp(head.magic, savedMagic, sizeof(savedMagic)) != 0 || hashSlot(bytes, size) != head.hash)
    return damaged();
  if (head.fingerprint != model.fingerprint())
    return Status::failure(TALC_ERROR_KIND, "%s: the slot was saved from another model", model.name().c_str());
  auto longest = static_cast<int32_t>(model.info().maxSequence);
  int32_t longestSource = model.kind() == artifact::ModelKind::EncoderDecoder ? longest : 0;
  tokens = head.tokens;
  bool possible = tokens.length >= 0 && tokens.length <= longest && tokens.sourceLength >= 0 &&
                  tokens.sourceLength <= longestSource && size == savedBytes(model, tokens);
  return possible ? Status() : damaged();
}

Status loadSlot(const Model &model, Workspace &workspace, int32_t slot, SlotTokens tokens, const unsigned char *bytes) {
  return writeKvCache(model, workspace, slot, tokens, bytes + sizeof(Head));
}

}  // namespace talc
