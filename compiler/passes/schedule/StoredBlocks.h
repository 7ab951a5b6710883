// SPDX-License-Identifier: Apache-2.0
// How kernels load values that are stored in blocks.
#pragma once

#include "compiler/passes/schedule/BlockPlace.h"
#include "compiler/passes/schedule/StoredLoads.h"

namespace talc {

// A vector of neighbouring lanes or, of one lane, of neighbouring values.
mlir::Value loadFrom(Emitter &e, const StorageFormat &format, const BlockPlace &place);
// One value.
mlir::Value loadScalarFrom(Emitter &e, const StorageFormat &format, const BlockPlace &place);

// Of the format of this name; null if it stores no blocks.
const StoredLoads *blockLoads(std::string_view format);

}  // namespace talc
