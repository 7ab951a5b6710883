// SPDX-License-Identifier: Apache-2.0
// SentencePiece's precompiled_charsmap: a Darts double array over NUL-terminated replacements, unfolded to a plain
// trie.
#include "frontends/tokenizer/Base64.h"
#include "frontends/tokenizer/stages/PipelineStages.h"
#include "frontends/tokenizer/unicode/Utf8Text.h"

#include <cstring>

namespace talc::frontend {

using namespace tokenizer;

namespace {

constexpr size_t maxRules = 1u << 20, maxKeySize = 64, maxVisits = 1u << 22;

// Bit fields of a unit: leaf flag 8, label 0-7 and 31, offset 10-30 scaled by bit 9, value 0-30.
class DoubleArray {
public:
  explicit DoubleArray(std::vector<uint32_t> units) : units(std::move(units)) {}

  // Every key with its value; false if the array leads outside or round in circles.
  bool unfold(std::vector<std::pair<std::string, uint32_t>> &keys) {
    return !units.empty() && visit(offset(units[0]), std::string(), keys);
  }

private:
  std::vector<uint32_t> units;
  size_t visits = 0;

  static size_t offset(uint32_t unit) { return static_cast<size_t>(unit >> 10) << ((unit & 0x200) >> 6); }

  bool visit(size_t base, const std::string &key, std::vector<std::pair<std::string, uint32_t>> &keys) {
    if (key.size() > maxKeySize || ++visits > maxVisits)
      return false;
    for (uint32_t byte = 1; byte < 256; ++byte) {
      size_t at = base ^ byte;
      if (at >= units.size() || (units[at] & 0x800000FF) != byte)
        continue;
      std::string longer = key + static_cast<char>(byte);
      size_t next = at ^ offset(units[at]);
      if (units[at] >> 8 & 1) {
        if (next >= units.size() || keys.size() >= maxRules)
          return false;
        keys.push_back({longer, units[next] & 0x7FFFFFFF});
      }
      if (!visit(next, longer, keys))
        return false;
    }
    return true;
  }
};

}  // namespace

uint32_t compileCharsmap(CompileContext &context, const Json &rules, const std::string &path) {
  auto damaged = [&](const char *what) {
    context.errors.fail(TokenizerError::Charsmap, path, std::string("the rules are damaged: ") + what);
    return none;
  };
  std::string bytes;
  uint32_t size = 0;
  if (rules.is_binary())
    bytes.assign(rules.get_binary().begin(), rules.get_binary().end());
  else if (!decodeBase64(rules.get_ref<const std::string &>(), bytes))
    return damaged("no base64 of a charsmap");
  if (bytes.size() < sizeof size)
    return damaged("no base64 of a charsmap");
  std::memcpy(&size, bytes.data(), sizeof size);
  if (size > bytes.size() - sizeof size || size % 4 != 0)
    return damaged("the trie is longer than the rules");
  std::vector<uint32_t> units(size / 4);
  if (size > 0)
    std::memcpy(units.data(), bytes.data() + sizeof size, size);
  std::string replacements = bytes.substr(sizeof size + size);
  std::vector<std::pair<std::string, uint32_t>> keys;
  if (!DoubleArray(std::move(units)).unfold(keys))
    return damaged("the trie leads nowhere");
  for (auto &[key, value] : keys) {
    size_t end = value < replacements.size() ? replacements.find('\0', value) : std::string::npos;
    if (end == std::string::npos)
      return damaged("a replacement lies outside");
    if (!isUtf8(std::string_view(replacements).substr(value, end - value)))
      return damaged("a replacement is not UTF-8");
    value = context.section.addExpansion(std::string_view(replacements).substr(value, end - value));
  }
  return context.section.addTrie(std::move(keys));
}

}  // namespace talc::frontend
