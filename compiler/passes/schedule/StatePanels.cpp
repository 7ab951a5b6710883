// SPDX-License-Identifier: Apache-2.0
// Where the panels of a state lie.
#include "compiler/passes/schedule/StatePanels.h"

using namespace mlir;

namespace talc {

Value panelPlace(Emitter &e, const kernel::StateLayout &layout, Value number) {
  return layout.isRing() ? e.add(e.rem(number, layout.ringPanels), layout.keptPanels) : number;
}

void eachPanelPlace(Emitter &e, const kernel::StateLayout &layout, Value number, llvm::function_ref<void(Value)> body) {
  body(panelPlace(e, layout, number));
  if (layout.kept > 0)
    e.when(e.less(number, e.index(layout.keptPanels)), [&] { body(number); });
}

}  // namespace talc
