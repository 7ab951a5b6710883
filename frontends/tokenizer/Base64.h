// SPDX-License-Identifier: Apache-2.0
// Reads base64, in which tokenizer files store bytes.
#pragma once

#include <string>

namespace talc::frontend {

// Appends the bytes of a text in base64. False if a character is not of its alphabet.
bool decodeBase64(const std::string &text, std::string &bytes);

}  // namespace talc::frontend
