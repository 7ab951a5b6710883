// SPDX-License-Identifier: Apache-2.0
// The bytes that talc_slot_save makes of a slot and talc_slot_load takes: a head, then of each run of the model's
// states what its tokens take. The latter are also how the states of one slot come to another.
#pragma once

#include "runtime/artifact/Model.h"
#include "runtime/device/Device.h"

namespace talc {

struct SlotTokens {
  int32_t length, sourceLength;
};

// What the states of so many tokens take, out of a slot and into one.
uint64_t kvBytes(const Model &model, SlotTokens tokens);
Status readKvCache(const Model &model, const Workspace &workspace, int32_t slot, SlotTokens tokens,
                   unsigned char *bytes);
Status writeKvCache(const Model &model, Workspace &workspace, int32_t slot, SlotTokens tokens,
                    const unsigned char *bytes);

uint64_t savedBytes(const Model &model, SlotTokens tokens);

// Fills savedBytes() bytes.
Status saveSlot(const Model &model, const Workspace &workspace, int32_t slot, SlotTokens tokens, unsigned char *bytes);

// Fails for anything but what saveSlot() made of a slot of this model.
Status readSaved(const Model &model, const unsigned char *bytes, uint64_t size, SlotTokens &tokens);

// Of bytes that are checked.
Status loadSlot(const Model &model, Workspace &workspace, int32_t slot, SlotTokens tokens, const unsigned char *bytes);

}  // namespace talc
