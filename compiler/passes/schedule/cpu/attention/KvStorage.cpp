// SPDX-License-Identifier: Apache-2.0
// Keys and values of a state side by side.
#include "compiler/passes/schedule/cpu/attention/KvStorage.h"

namespace talc {

using mlir::Value;

KvBlock KvStorage::memoryOf(Value step, Value state, Value slot) {
  return {kernel::KeysOp::create(e.b, e.loc, layout.keysType(), step, state, slot),
          kernel::ValuesOp::create(e.b, e.loc, layout.valuesType(), step, state, slot)};
}

KvBlock KvStorage::panelsOf(const KvBlock &memory, Value head, Value firstPanel, int64_t heads, int64_t panels) {
  Value first = e.add(e.mul(firstPanel, heads), head);
  return {keys->view(memory.keys, first, heads, panels), values->view(memory.values, first, heads, panels)};
}

KvBlock KvStorage::copies(int64_t panels) {
  return {keys->copies(panels), values->copies(panels)};
}

KvBlock KvStorage::choose(Value condition, const KvBlock &yes, const KvBlock &no) {
  return {keys->choose(condition, yes.keys, no.keys), values->choose(condition, yes.values, no.values)};
}

void KvStorage::copyToken(const KvBlock &memory, const TokenAddress &from, const KvBlock &copies, Value to) {
  keys->copyToken(memory.keys, from, copies.keys, to);
  values->copyToken(memory.values, from, copies.values, to);
}

}  // namespace talc
