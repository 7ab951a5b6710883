// SPDX-License-Identifier: Apache-2.0
// The bytes of talc_slot_save and talc_slot_load: a head, then for each run of the KV cache the part that the tokens
// take. These parts also serve to copy a slot to another.
#pragma once

#include "runtime/artifact/Model.h"
#include "runtime/device/Device.h"

namespace talc {

struct SlotTokens {
  int32_t length, sourceLength;
};

// The parts of a slot that are copied: all, or what a step changes that later steps read. With segments this is all.
enum class CopiedParts { All, Changed };

// The KV cache of the tokens, copied out of a slot and into one.
uint64_t kvBytes(const Model &model, SlotTokens tokens, CopiedParts parts = CopiedParts::All);
Status readKvCache(const Model &model, const Workspace &workspace, int32_t slot, SlotTokens tokens,
                   unsigned char *bytes, CopiedParts parts = CopiedParts::All);
Status writeKvCache(const Model &model, Workspace &workspace, int32_t slot, SlotTokens tokens,
                    const unsigned char *bytes, CopiedParts parts = CopiedParts::All);

uint64_t savedBytes(const Model &model, SlotTokens tokens);

// Fills savedBytes() bytes.
Status saveSlot(const Model &model, const Workspace &workspace, int32_t slot, SlotTokens tokens, unsigned char *bytes);

// Fails for anything except what saveSlot() made of a slot of this model.
Status readSaved(const Model &model, const unsigned char *bytes, uint64_t size, SlotTokens &tokens);

// Takes bytes that readSaved() has checked.
Status loadSlot(const Model &model, Workspace &workspace, int32_t slot, SlotTokens tokens, const unsigned char *bytes);

}  // namespace talc
