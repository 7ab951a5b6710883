// SPDX-License-Identifier: Apache-2.0
// How kernels load values of a storage format: as f32, a vector or one at a time.
#pragma once

#include "compiler/passes/schedule/Emitter.h"

namespace talc {

// `at` counts values, as the shape of the buffer does. A null mask stands for all lanes; those of others are zero.
struct FormatLoads {
  mlir::Value (*vector)(Emitter &e, mlir::Value buffer, mlir::ValueRange at, mlir::Value mask);
  mlir::Value (*scalar)(Emitter &e, mlir::Value buffer, mlir::ValueRange at);
};

const FormatLoads &getLoads(mlir::Value buffer);

}  // namespace talc
