// SPDX-License-Identifier: Apache-2.0
// The mixes of storage formats that llama.cpp knows by name, such as q4_k_m: most matrices have one format, and those
// to whose errors predictions are most sensitive have better ones. It includes no header of MLIR.
//
// Source: the rules by tensor of llama.cpp's quantizer (llama-quant.cpp), without an importance matrix.
#pragma once

#include "dialects/talc/formats/StorageFormat.h"

namespace talc {

// A role says what a matrix is for.
enum class MatrixRole {
  Other,
  Router,           // of MoE; it is not quantized
  Keys,             // makes the keys of attention
  Values,           // makes the values of attention, perhaps with queries and keys
  AttentionOutput,  // multiplies the result of attention
  Down,             // the last of a feed-forward layer
  Output,           // makes logits; a tied embedding table does, too
};

// These facts of a model decide, beside the roles of its matrices.
struct MixedModel {
  int64_t layers;
  int64_t queryGroup;  // query heads that share a key-value head
  int64_t experts;     // of a layer; 0: none
};

struct FormatMix;

// Null: no mix has this name.
const FormatMix *findFormatMix(std::string_view name);
std::vector<std::string> formatMixNames();

// The format of a matrix, the index-th of `count` with its role, in the order of layers. Null: it is not quantized.
FormatRef mixedFormat(const FormatMix &mix, const MixedModel &model, MatrixRole role, int64_t index, int64_t count);

// The format that llama.cpp takes instead for rows of `values` values, which may not be whole blocks; whether they are
// those of that format is for formatForRows to say.
const StorageFormat &mixedFormatForRows(const StorageFormat &format, int64_t values);

}  // namespace talc
