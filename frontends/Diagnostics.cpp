// SPDX-License-Identifier: Apache-2.0
// Formats errors and warnings.
#include "frontends/Diagnostics.h"

#include <fmt/format.h>

#include <algorithm>

namespace talc {

// More lines would not help the user.
constexpr size_t maxErrors = 20;

void Diagnostics::error(ImportError code, std::string_view text) {
  if (errorLines.size() < maxErrors)
    errorLines.push_back(fmt::format("error[T{:04}]: {}", static_cast<int>(code), text));
}

void Diagnostics::warning(std::string_view text) {
  std::string line = fmt::format("warning: {}", text);
  if (std::find(warningLines.begin(), warningLines.end(), line) == warningLines.end())
    warningLines.push_back(std::move(line));
}

void Diagnostics::warnOfUnused(std::string_view place, const std::vector<std::string> &tensors) {
  constexpr size_t maxShown = 8;
  std::string list;
  for (size_t i = 0; i < tensors.size() && i < maxShown; ++i)
    list += (i == 0 ? "" : ", ") + quotedText(tensors[i]);
  if (!tensors.empty())
    warning(fmt::format("{}: {} tensor{} the model does not use: {}{}", place, tensors.size(),
                        tensors.size() == 1 ? "" : "s", list, tensors.size() > maxShown ? ", ..." : ""));
}

std::string quotedText(std::string_view text) {
  constexpr size_t limit = 120;
  std::string result = "'";
  for (unsigned char c : text.substr(0, limit))
    result += c >= 0x20 && c < 0x7f ? std::string(1, static_cast<char>(c)) : fmt::format("\\x{:02x}", c);
  return result + (text.size() > limit ? "...'" : "'");
}

std::string shapeText(const std::vector<int64_t> &shape) {
  std::string result = "[";
  for (int64_t size : shape)
    result += (result.size() > 1 ? ", " : "") + std::to_string(size);
  return result + "]";
}

}  // namespace talc
