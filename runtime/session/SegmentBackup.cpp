// SPDX-License-Identifier: Apache-2.0
// The copies lie one after the other, in the order of the batch.
#include "runtime/session/SegmentBackup.h"

#include "runtime/session/SavedSlot.h"

namespace talc {

Status SegmentBackup::save(const Model &model, const Workspace &workspace, const Slots &slots, const Batch &batch) {
  uint64_t size = 0;
  for (const artifact::Span &span : batch.spans())
    size += kvBytes(model, {slots.length(span.slot), 0}, CopiedParts::Changed);
  bytes.resize(size);
  unsigned char *place = bytes.data();
  for (const artifact::Span &span : batch.spans()) {
    const SlotTokens tokens = {slots.length(span.slot), 0};
    if (Status status = readKvCache(model, workspace, span.slot, tokens, place, CopiedParts::Changed); status.failed())
      return status;
    place += kvBytes(model, tokens, CopiedParts::Changed);
  }
  return {};
}

Status SegmentBackup::restore(const Model &model, Workspace &workspace, const Slots &slots, const Batch &batch) const {
  const unsigned char *place = bytes.data();
  for (const artifact::Span &span : batch.spans()) {
    const SlotTokens tokens = {slots.length(span.slot), 0};
    if (Status status = writeKvCache(model, workspace, span.slot, tokens, place, CopiedParts::Changed); status.failed())
      return status;
    place += kvBytes(model, tokens, CopiedParts::Changed);
  }
  return {};
}

}  // namespace talc
