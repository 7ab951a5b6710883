// SPDX-License-Identifier: Apache-2.0
// Compiles the tokenizer of a Hugging Face model to the tokenizer section of an artifact.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace talc::frontend {

// The bytes of a section as described in runtime/tokenizer/TokenizerFormat.h. The file is untrusted; on failure `error`
// is one line "error[T031n]: <file>: ...". Truncation, padding and dropout are not part of the section.
std::optional<std::vector<uint8_t>> compileTokenizerFile(const std::string &path, std::string &error);

// The same for the text of such a file; `name` stands for the file in messages.
std::optional<std::vector<uint8_t>> compileTokenizer(std::string_view json, const std::string &name,
                                                     std::string &error);

// The tokenizer of a model directory: tokenizer.json, or the vocabulary files that stand in for it (TokenizerFiles.h).
// An empty section: the directory has neither.
std::optional<std::vector<uint8_t>> compileTokenizerDirectory(const std::string &path, std::string &error);

}  // namespace talc::frontend
