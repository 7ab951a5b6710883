// SPDX-License-Identifier: Apache-2.0
// Loads of values of any storage format as f32, as a vector or one at a time.
#pragma once

#include "compiler/passes/schedule/Emitter.h"

namespace talc {

// Indices count values, as the shape of the buffer does. A null mask stands for all lanes; masked lanes are zero.
struct FormatLoads {
  mlir::Value (*vector)(Emitter &e, mlir::Value buffer, mlir::ValueRange at, mlir::Value mask);
  mlir::Value (*scalar)(Emitter &e, mlir::Value buffer, mlir::ValueRange at);
};

const FormatLoads &getLoads(mlir::Value buffer);

}  // namespace talc
