// SPDX-License-Identifier: Apache-2.0
// Addresses of keys and values in a KV cache that is laid out in panels.
#include "compiler/passes/schedule/attention/KvLayout.h"

using namespace mlir;

namespace talc {

Value panelIndex(Emitter &e, const kernel::KvLayout &layout, Value panel) {
  return layout.isRing() ? e.add(e.rem(panel, layout.ringPanels), layout.sinkPanels) : panel;
}

void forEachPanelIndex(Emitter &e, const kernel::KvLayout &layout, Value panel, llvm::function_ref<void(Value)> body) {
  body(panelIndex(e, layout, panel));
  if (layout.sinkTokens > 0)
    e.when(e.less(panel, e.index(layout.sinkPanels)), [&] { body(panel); });
}

BlockAddress KvBlocks::keyAddress(Emitter &e, Value bytes, Emitter::Values outer, Value begin, Value feature,
                                  Value token) const {
  Value block = e.mul(e.div(feature, keys.blockValues), keys.blockBytes * layout.tokens);
  return {bytes, std::move(outer), e.add(begin, block), layout.tokens, token, e.rem(feature, keys.blockValues)};
}

BlockAddress KvBlocks::valueAddress(Emitter &e, Value bytes, Emitter::Values outer, Value begin, Value token,
                                    Value feature) const {
  Value block = e.mul(e.div(feature, values.blockValues), values.blockBytes);
  block = e.add(e.mul(token, values.byteSize(layout.paddedWidth)), block);
  return {bytes, std::move(outer), e.add(begin, block), 1, e.index(0), e.rem(feature, values.blockValues)};
}

}  // namespace talc
