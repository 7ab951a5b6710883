// SPDX-License-Identifier: Apache-2.0
// What a model's callers must know: the kind of model, the ids and types that it takes, the results that it gives.
#pragma once

#include "mlir/IR/BuiltinOps.h"

namespace talc {

// Checks that the results fit what the module says of them, and writes the attribute `talc.interface`, a dictionary:
//   kind               decoder, encoder or encoder_decoder, from the names of the entries
//   outputs            for each result its kind (talc.outputs) and width
//   vocabulary         token ids of sequences are less
//   source_vocabulary  token ids of sources are less (encoder-decoders)
//   token_types        token types are less; 0: the model has none
//   uses_prefix        whether an attention has a prefix mask
mlir::LogicalResult describeInterface(mlir::ModuleOp module);

}  // namespace talc
