// SPDX-License-Identifier: Apache-2.0
// The attribute of talc.weight for the origin that a frontend found.
#pragma once

#include "frontends/WeightSource.h"

#include "mlir/IR/Builders.h"

namespace talc {

// One of #talc.file, #talc.random, #talc.fill, #talc.quantized and #talc.lookup.
mlir::Attribute sourceAttr(mlir::OpBuilder &builder, const WeightOrigin &origin);

}  // namespace talc
