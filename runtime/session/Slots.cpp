// SPDX-License-Identifier: Apache-2.0
// Counts for every slot how much of its memory other slots use.
#include "runtime/session/Slots.h"

#include "runtime/artifact/KvRuns.h"

#include <cerrno>
#include <cinttypes>
#include <climits>
#include <cstring>

namespace talc {

static Status outOfMemory(const Model &model, const char *what, uint64_t bytes) {
  return Status::failure(TALC_ERROR_MEMORY, "%s: no memory for %s: %" PRIu64 " bytes: %s", model.name().c_str(), what,
                         bytes, strerror(errno));
}

Slots::Slots(const Model &model, Workspace &workspace, int32_t count)
    : model(&model), workspace(&workspace), slots(count), staged(count), inList(count) {}

// ---- Steps

void Slots::appended(int32_t slot, int32_t tokens) {
  Slot &used = slots[slot];
  if (used.written == 0)
    used.firstWritten = used.length;
  if (used.scattered)
    for (int32_t p = used.length; p < used.length + tokens; ++p)
      slotHistory(places, slot)[p] = slot;
  used.length += tokens;
  used.written = std::min(used.length, model->capacity());
  used.reached = std::max(used.reached, used.length);
}

void Slots::attempted(int32_t slot, int32_t tokens) {
  slots[slot].reached = std::max(slots[slot].reached, slots[slot].length + tokens);
}

void Slots::encoded(int32_t slot, int32_t tokens) {
  slots[slot].source = slot;
  slots[slot].sourceTokens = tokens;
}

void Slots::touched(int32_t slot, int32_t tokens) {
  slots[slot].written = std::max(slots[slot].written, tokens);
}

// ---- Resets

void Slots::reset(int32_t slot) {
  dropUses(slot);
  slots[slot].length = 0;
  slots[slot].source = -1;
  slots[slot].scattered = false;
  slots[slot].retained = isUsed(slot);
  if (!slots[slot].retained)
    giveBack(slot);
}

// Forgets that the sequence in `slot` uses other slots.
void Slots::dropUses(int32_t slot) {
  dropTokens(slot, 0);
  if (slots[slot].source >= 0)
    dropUse(slot, slots[slot].source);
}

// Forgets it for the tokens from `length` on.
void Slots::dropTokens(int32_t slot, int32_t length) {
  const Slot &user = slots[slot];
  if (user.scattered)
    for (int32_t p = length; p < user.length; ++p)
      dropUse(slot, slotHistory(places, slot)[p]);
}

bool Slots::isUsedFrom(int32_t slot, int32_t length) const {
  if (!isUsed(slot))
    return false;
  for (int32_t other = 0; other < count(); ++other)
    if (other != slot && slots[other].scattered)
      for (int32_t p = length; p < slots[other].length; ++p)
        if (slotHistory(places, other)[p] == slot)
          return true;
  return false;
}

// Tokens before length + tokens - ring are overwritten; a next token needs those from the first of its window on.
bool Slots::overwritesUsed(int32_t slot, int32_t tokens) const {
  const artifact::ModelInfo &info = model->info();
  int64_t overwritten = int64_t(length(slot)) + tokens - info.ringTokens;
  if (info.ringTokens == 0 || overwritten <= 0 || !isUsed(slot))
    return false;
  for (int32_t other = 0; other < count(); ++other)
    if (other != slot && slots[other].scattered)
      for (int64_t p = std::max<int64_t>(int64_t(length(other)) - info.window + 1, 0);
           p < overwritten && p < length(other); ++p)
        if (slotHistory(places, other)[p] == slot)
          return true;
  return false;
}

bool Slots::lostBefore(int32_t slot, int32_t length) const {
  const artifact::ModelInfo &info = model->info();
  if (info.ringTokens == 0)
    return false;
  for (int64_t p = std::max<int64_t>(int64_t(length) - info.window + 1, 0); p < length; ++p) {
    int32_t owner = slots[slot].scattered ? slotHistory(places, slot)[p] : slot;
    if (p < int64_t(slots[owner].reached) - info.ringTokens)
      return true;
  }
  return false;
}

void Slots::truncate(int32_t slot, int32_t length) {
  Slot &target = slots[slot];
  dropTokens(slot, length);
  target.length = length;
  if (length == 0)
    target.reached = 0;
  target.written = std::min(target.written, length);
  if (target.written <= target.firstWritten)
    target.firstWritten = target.written = 0;
}

void Slots::dropUse(int32_t user, int32_t owner) {
  consistent &= owner >= 0 && owner < count() && (owner == user || slots[owner].users > 0);
  if (!consistent)
    return;
  if (owner != user && --slots[owner].users == 0 && slots[owner].retained)
    giveBack(owner);
}

// Lets the system take the memory when it runs short; until then the next text finds it in place, since unmapping and
// mapping pages costs more than a short text. A very short text is not worth a call.
void Slots::giveBack(int32_t slot) {
  constexpr uint64_t little = 1 << 20;
  Slot &empty = slots[slot];
  if (model->kvBytes(empty.written, false) + model->kvBytes(empty.sourceTokens, true) > little)
    workspace->discard(slot);
  empty.firstWritten = empty.written = empty.reached = empty.sourceTokens = 0;
  empty.retained = false;
}

// ---- Reordering

Status Slots::reorder(const int32_t *list, const int32_t *parents, int32_t listed) {
  if (Status status = checkReorder(list, parents, listed); status.failed())
    return status;
  if (Status status = reservePlaces(); status.failed())
    return status;
  for (int32_t i = 0; i < listed; ++i)
    stage(list[i], parents[i]);
  // New uses are counted before old ones are dropped, so that no memory in use is released.
  for (int32_t i = 0; i < listed; ++i)
    dropUses(list[i]);
  for (int32_t i = 0; i < listed; ++i)
    commit(list[i]);
  return {};
}

Status Slots::checkReorder(const int32_t *list, const int32_t *parents, int32_t listed) {
  const char *file = model->name().c_str();
  ++reorderings;
  for (int32_t i = 0; i < listed; ++i) {
    if (list[i] < 0 || list[i] >= count())
      return Status::failure(TALC_ERROR_BATCH, "%s: reordering: slot %d, but the session has slots 0 to %d", file,
                             list[i], count() - 1);
    if (inList[list[i]] == reorderings)
      return Status::failure(TALC_ERROR_BATCH, "%s: reordering: slot %d stands in the list twice", file, list[i]);
    if (isRetained(list[i]))
      return Status::failure(TALC_ERROR_SHARED,
                             "%s: reordering: slot %d was reset, but other slots still use its memory; reset those",
                             file, list[i]);
    inList[list[i]] = reorderings;
  }
  for (int32_t i = 0; i < listed; ++i) {
    if (parents[i] < 0 || parents[i] >= count() || inList[parents[i]] != reorderings)
      return Status::failure(TALC_ERROR_BATCH, "%s: reordering: the parent %d of slot %d is none of the slots listed",
                             file, parents[i], list[i]);
    if (length(list[i]) != 0 && length(list[i]) != length(parents[i]))
      return Status::failure(
          TALC_ERROR_BATCH,
          "%s: reordering: slot %d holds %d tokens, but its parent %d holds %d; expected as many, or "
          "an empty slot",
          file, list[i], length(list[i]), parents[i], length(parents[i]));
    if (!model->hasSummaries() && length(parents[i]) > listedTokens())
      return Status::failure(TALC_ERROR_STATE_FULL,
                             "%s: reordering: slot %d holds %d tokens; sequences of more than %d cannot be reordered",
                             file, parents[i], length(parents[i]), listedTokens());
  }
  return {};
}

Status Slots::checkHistories() const {
  if (int64_t(count()) * listedTokens() <= INT_MAX)
    return {};
  return Status::failure(TALC_ERROR_MEMORY,
                         "%s: reordering: %d slots of %d tokens are beyond 2^31; create the session with fewer slots",
                         model->name().c_str(), count(), listedTokens());
}

Status Slots::reservePlaces() {
  if (Status status = checkHistories(); status.failed())
    return status;
  uint64_t bytes = uint64_t(count()) * listedTokens() * sizeof(int32_t);
  return places.growZeros(bytes) && nextPlaces.growZeros(bytes) ? Status() : outOfMemory(*model, "reordering", bytes);
}

// Notes what `slot` becomes, and counts what it will use.
void Slots::stage(int32_t slot, int32_t parent) {
  const Slot &from = slots[parent];
  staged[slot] = {from.length, from.source, false};
  int32_t *next = slotHistory(nextPlaces, slot);
  for (int32_t p = 0; p < from.length; ++p) {
    next[p] = from.scattered ? slotHistory(places, parent)[p] : parent;
    if (next[p] == slot)
      continue;
    staged[slot].scattered = true;
    ++slots[next[p]].users;
  }
  if (from.source >= 0 && from.source != slot)
    ++slots[from.source].users;
}

void Slots::commit(int32_t slot) {
  const Next &next = staged[slot];
  if (next.scattered)
    memcpy(slotHistory(places, slot), slotHistory(nextPlaces, slot), next.length * sizeof(int32_t));
  slots[slot].length = next.length;
  slots[slot].source = next.source;
  slots[slot].scattered = next.scattered;
}

uint64_t Slots::usedBytes() const {
  const uint64_t group = model->info().kvTokenGroup;
  uint64_t bytes = 0;
  for (const Slot &slot : slots)
    bytes += talc::kvBytes(model->kvRuns(), group, slot.firstWritten, slot.written, false) +
             talc::kvBytes(model->kvRuns(), group, 0, slot.sourceTokens, true);
  return bytes;
}

}  // namespace talc
