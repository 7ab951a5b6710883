// SPDX-License-Identifier: Apache-2.0
// Compiles a tokenizer to the tokenizer section of an artifact.
//
// What is compiled is described as in a tokenizer.json, which any frontend can make: by reading one, or from whatever
// its files hold, with a TokenizerDraft.
#pragma once

#include "frontends/tokenizer/JsonFields.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace talc::frontend {

// The bytes of a section as described in runtime/tokenizer/TokenizerFormat.h. The description is untrusted; on failure
// the context has the error.
std::optional<std::vector<uint8_t>> compileTokenizer(CompileContext &context, const Json &description);

// Compiles the text of a tokenizer.json; `name` stands for the file in messages.
std::optional<std::vector<uint8_t>> compileTokenizer(std::string_view json, const std::string &name,
                                                     std::string &error);

}  // namespace talc::frontend
