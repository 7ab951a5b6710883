// SPDX-License-Identifier: Apache-2.0
// Replacement by the rules of a charsmap trie.
#include "runtime/tokenizer/TextOps.h"
#include "runtime/tokenizer/Utf8.h"

namespace talc::tokenizer {
namespace {

constexpr size_t clusterLimit = 6;  // bytes; longer clusters are looked at character by character

// The shortest rule that `part` begins with: its replacement stands for the whole part.
uint32_t findRule(const Section &section, uint32_t root, std::string_view part) {
  uint32_t node = root;
  for (size_t i = 0; i < part.size() && node != none; ++i) {
    node = section.child(node, static_cast<unsigned char>(part[i]));
    if (node != none && section.trie[node].value != none)
      return section.trie[node].value;
  }
  return none;
}

bool replacePart(const Section &section, uint32_t root, std::string_view part, std::string &out) {
  uint32_t rule = findRule(section, root, part);
  if (rule != none)
    out += section.text(section.expansions[rule]);
  return rule != none;
}

// Damaged rules may end within a character.
bool isBoundary(std::string_view text, size_t at) {
  return at == text.size() || (static_cast<unsigned char>(text[at]) & 0xC0) != 0x80;
}

}  // namespace

bool applyLongestRules(const Section &section, uint32_t root, std::string_view text, TextLimits &limits,
                       std::string &out) {
  for (size_t begin = 0; begin < text.size() && limits.admits(out.size());) {
    size_t length = 0;
    uint32_t rule = section.findLongest(root, text.substr(begin), length);
    if (rule == none || !isBoundary(text, begin + length)) {
      length = sequenceLength(text[begin]);
      out += text.substr(begin, length);
    } else {
      out += section.text(section.expansions[rule]);
    }
    begin += length;
  }
  return !limits.tooLong;
}

bool applyCharsmap(const Section &section, uint32_t root, std::string_view text, TextLimits &limits, std::string &out) {
  if (root == none) {
    out += text;
    return true;
  }
  for (size_t begin = 0, end = 0; begin < text.size() && limits.admits(out.size()); begin = end) {
    end = clusterEnd(section, text, begin);
    std::string_view cluster = text.substr(begin, end - begin);
    if (cluster.size() < clusterLimit && replacePart(section, root, cluster, out))
      continue;
    for (size_t i = 0; i < cluster.size() && limits.admits(out.size());) {
      std::string_view character = cluster.substr(i, sequenceLength(cluster[i]));
      if (!replacePart(section, root, character, out))
        out += character;
      i += character.size();
    }
  }
  return !limits.tooLong;
}

}  // namespace talc::tokenizer
