// SPDX-License-Identifier: Apache-2.0
// The interface of a model: its kind, the ids and types that it takes, and the results that it yields.
#pragma once

#include "mlir/IR/BuiltinOps.h"

namespace talc {

// Checks that the results agree with talc.outputs, and sets the attribute `talc.interface`, a dictionary:
//   kind               decoder, encoder or encoder_decoder, by the names of the entries
//   outputs            for each result its kind (talc.outputs) and width
//   vocabulary         exclusive bound of token ids of sequences
//   source_vocabulary  exclusive bound of token ids of sources (encoder-decoders)
//   token_types        exclusive bound of token types; 0: the model has none
//   uses_prefix        whether an attention has a prefix mask
mlir::LogicalResult describeInterface(mlir::ModuleOp module);

}  // namespace talc
