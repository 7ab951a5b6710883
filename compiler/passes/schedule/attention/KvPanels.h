// SPDX-License-Identifier: Apache-2.0
// Where the panels of a state lie: in their order, or in a ring behind those of the tokens that are kept.
//
//   kept 1 panel, ring of 3      panel number   0   1   2   3   4   5   6
//                                place        0 1   2   3   1   2   3   1      panel 0 has two: one is never
//                                overwritten
#pragma once

#include "compiler/passes/schedule/Emitter.h"

namespace talc {

// Where the panel of a number lies that is not read as one that is kept.
mlir::Value panelIndex(Emitter &e, const kernel::KvLayout &layout, mlir::Value number);

// body(place) for all places where the panel of a number is stored.
void forEachPanelIndex(Emitter &e, const kernel::KvLayout &layout, mlir::Value number,
                       llvm::function_ref<void(mlir::Value)> body);

}  // namespace talc
