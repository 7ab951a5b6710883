// SPDX-License-Identifier: Apache-2.0
// How the hidden states of a text become its embedding, from the files that sentence-transformers writes.
#pragma once

#include <string>

namespace talc {

class Diagnostics;
class ModelDirectory;

// A value of talc.pooling. Without modules.json mean, which is what sentence-transformers takes for such a model. What
// talc does not compute is warned of.
std::string readPooling(const ModelDirectory &directory, Diagnostics &diagnostics);

}  // namespace talc
