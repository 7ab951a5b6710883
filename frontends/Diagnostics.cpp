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
    errorLines.push_back(printableLine(fmt::format("error[T{:04}]: {}", static_cast<int>(code), text)));
}

void Diagnostics::warning(std::string_view text) {
  std::string line = printableLine(fmt::format("warning: {}", text));
  if (std::find(warningLines.begin(), warningLines.end(), line) == warningLines.end())
    warningLines.push_back(std::move(line));
}

void Diagnostics::reportUnused(std::string_view place, const std::vector<std::string> &tensors, bool isAllowed) {
  constexpr size_t maxShown = 8;
  std::string list;
  for (size_t i = 0; i < tensors.size() && i < maxShown; ++i)
    list += (i == 0 ? "" : ", ") + quotedText(tensors[i]);
  if (tensors.empty())
    return;
  std::string text = fmt::format("{}: {} tensor{} the model does not use: {}{}", place, tensors.size(),
                                 tensors.size() == 1 ? "" : "s", list, tensors.size() > maxShown ? ", ..." : "");
  if (isAllowed)
    warning(text);
  else
    error(ImportError::TensorUnused, text + "; to compile without, add --unused=allow");
}

std::string quotedText(std::string_view text) {
  constexpr size_t limit = 120;
  std::string result = "'";
  for (unsigned char c : text.substr(0, limit))
    result += c >= 0x20 && c < 0x7f ? std::string(1, static_cast<char>(c)) : fmt::format("\\x{:02x}", c);
  return result + (text.size() > limit ? "...'" : "'");
}

// The length of the UTF-8 sequence at the start of `text` that must not reach a terminal: C0 and C1 controls, DEL, line
// separators and marks of direction. 0: there is none.
static size_t controlBytes(std::string_view text) {
  auto byte = [&](size_t at) { return at < text.size() ? static_cast<unsigned char>(text[at]) : 0; };
  if (byte(0) < 0x20 || byte(0) == 0x7f)
    return 1;
  if (byte(0) == 0xc2 && byte(1) >= 0x80 && byte(1) < 0xa0)
    return 2;
  bool isMark =
      byte(1) == 0x80 ? byte(2) >= 0xa8 && byte(2) <= 0xae : byte(1) == 0x81 && byte(2) >= 0xa6 && byte(2) <= 0xa9;
  return byte(0) == 0xe2 && isMark ? 3 : 0;
}

std::string printableLine(std::string_view text) {
  std::string result;
  while (!text.empty()) {
    size_t control = controlBytes(text);
    for (unsigned char c : text.substr(0, control))
      result += fmt::format("\\x{:02x}", c);
    if (control == 0)
      result += text.front();
    text.remove_prefix(std::max<size_t>(control, 1));
  }
  return result;
}

std::string shapeText(const std::vector<int64_t> &shape) {
  std::string result = "[";
  for (int64_t size : shape)
    result += (result.size() > 1 ? ", " : "") + std::to_string(size);
  return result + "]";
}

}  // namespace talc
