// SPDX-License-Identifier: Apache-2.0
// Quotes words of commands.
#include "tools/talc/tune/ShellWord.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

namespace talc::tools {

static bool isControl(unsigned char c) {
  return c < 0x20 || c == 0x7f;
}

static bool isHarmless(unsigned char c) {
  constexpr std::string_view signs = "%+,-./:=@_";
  return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
         signs.find(static_cast<char>(c)) != std::string_view::npos;
}

// $'...' reads escapes; '...' reads none, and no quote.
std::string shellWord(const std::string &word) {
  if (!word.empty() && std::all_of(word.begin(), word.end(), isHarmless))
    return word;
  if (std::none_of(word.begin(), word.end(), [](unsigned char c) { return isControl(c) || c >= 0x80; })) {
    std::string quoted = "'";
    for (char c : word)
      quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
    return quoted + "'";
  }
  std::string quoted = "$'";
  for (unsigned char c : word) {
    if (c == '\'' || c == '\\')
      quoted += '\\';
    quoted += isControl(c) || c >= 0x80 ? fmt::format("\\x{:02x}", c) : std::string(1, static_cast<char>(c));
  }
  return quoted + "'";
}

}  // namespace talc::tools
