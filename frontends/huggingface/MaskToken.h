// SPDX-License-Identifier: Apache-2.0
// The token that stands for a token to be guessed, as the files of a model's tokenizer name it.
#pragma once

#include <cstdint>

namespace talc {

class ModelDirectory;

// Its id; -1 if the files name none. Damaged files are left to the reader of tokenizers.
int64_t findMaskToken(const ModelDirectory &directory);

}  // namespace talc
