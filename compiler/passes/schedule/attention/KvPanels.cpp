// SPDX-License-Identifier: Apache-2.0
// Where the panels of a state lie.
#include "compiler/passes/schedule/attention/KvPanels.h"

using namespace mlir;

namespace talc {

Value panelIndex(Emitter &e, const kernel::KvLayout &layout, Value number) {
  return layout.isRing() ? e.add(e.rem(number, layout.ringPanels), layout.sinkPanels) : number;
}

void forEachPanelIndex(Emitter &e, const kernel::KvLayout &layout, Value number, llvm::function_ref<void(Value)> body) {
  body(panelIndex(e, layout, number));
  if (layout.sinkTokens > 0)
    e.when(e.less(number, e.index(layout.sinkPanels)), [&] { body(number); });
}

}  // namespace talc
