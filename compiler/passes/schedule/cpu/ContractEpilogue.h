// SPDX-License-Identifier: Apache-2.0
// The end of a contraction: what its epilogue makes of the sums goes to the result.
#pragma once

#include "compiler/passes/schedule/cpu/ContractTile.h"

namespace talc {

// For the first rows of a block, and panels [panel, + panels).
void emitEpilogue(const ContractCode &c, const WaitingSums &sums, mlir::Value rows, mlir::Value panels,
                  mlir::Value panel);

}  // namespace talc
