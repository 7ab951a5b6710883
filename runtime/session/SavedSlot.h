// SPDX-License-Identifier: Apache-2.0
// The bytes that talc_slot_save makes of a slot and talc_slot_load takes: a head, then of each run of the model's
// states what its tokens take.
#pragma once

#include "runtime/artifact/Model.h"
#include "runtime/device/Device.h"

namespace talc {

struct SlotTokens {
  int32_t length, sourceLength;
};

uint64_t savedBytes(const Model &model, SlotTokens tokens);

// Fills savedBytes() bytes.
Status saveSlot(const Model &model, const Workspace &workspace, int32_t slot, SlotTokens tokens, unsigned char *bytes);

// Fails for anything but what saveSlot() made of a slot of this model.
Status readSaved(const Model &model, const unsigned char *bytes, uint64_t size, SlotTokens &tokens);

// Of bytes that are checked.
Status loadSlot(const Model &model, Workspace &workspace, int32_t slot, SlotTokens tokens, const unsigned char *bytes);

}  // namespace talc
