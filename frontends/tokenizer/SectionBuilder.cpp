// SPDX-License-Identifier: Apache-2.0
// Layout of the tokenizer section: the header, then every table at a multiple of 8.
#include "frontends/tokenizer/SectionBuilder.h"

#include <algorithm>
#include <cstring>

namespace talc::frontend {

using namespace tokenizer;

Text SectionBuilder::addText(std::string_view text) {
  auto [at, isNew] = knownTexts.try_emplace(std::string(text));
  if (isNew) {
    at->second = {static_cast<uint32_t>(pool.size()), static_cast<uint32_t>(text.size())};
    pool += text;
  }
  return at->second;
}

uint32_t SectionBuilder::addSet(const CharacterSet &set) {
  std::vector<uint32_t> key;
  for (Range range : set.ranges())
    key.push_back(range.first), key.push_back(range.last);
  auto [at, isNew] = knownSets.try_emplace(key, static_cast<uint32_t>(sets.size()));
  if (!isNew)
    return at->second;
  CharSet entry{{}, static_cast<uint32_t>(ranges.size()), static_cast<uint32_t>(set.ranges().size())};
  for (Range range : set.ranges())
    for (uint32_t c = range.first; c <= range.last && c < 128; ++c)
      entry.ascii[c / 32] |= 1u << c % 32;
  ranges.insert(ranges.end(), set.ranges().begin(), set.ranges().end());
  sets.push_back(entry);
  return at->second;
}

uint32_t SectionBuilder::addExpansion(std::string_view text) {
  expansions.push_back(addText(text));
  return static_cast<uint32_t>(expansions.size() - 1);
}

uint32_t SectionBuilder::addMap(std::vector<CharMapping> added) {
  std::sort(added.begin(), added.end(), [](const CharMapping &l, const CharMapping &r) { return l.first < r.first; });
  maps.push_back({static_cast<uint32_t>(mappings.size()), static_cast<uint32_t>(added.size())});
  mappings.insert(mappings.end(), added.begin(), added.end());
  return static_cast<uint32_t>(maps.size() - 1);
}

uint32_t SectionBuilder::addPattern(const std::vector<Instruction> &code) {
  patterns.push_back({static_cast<uint32_t>(instructions.size()), static_cast<uint32_t>(code.size())});
  instructions.insert(instructions.end(), code.begin(), code.end());
  return static_cast<uint32_t>(patterns.size() - 1);
}

uint32_t SectionBuilder::addTrie(std::vector<std::pair<std::string, uint32_t>> keys) {
  std::sort(keys.begin(), keys.end());
  // Breadth first: a node's keys are keys[first..last), which agree in `depth` bytes.
  struct Pending {
    size_t first, last, depth;
  };
  auto root = static_cast<uint32_t>(trie.size());
  std::vector<Pending> pending{{0, keys.size(), 0}};
  trie.push_back({0, 0, 0, 0, none});
  for (size_t i = 0; i < pending.size(); ++i) {
    auto [first, last, depth] = pending[i];
    uint32_t node = root + static_cast<uint32_t>(i);
    for (; first < last && keys[first].first.size() == depth; ++first)
      trie[node].value = keys[first].second;
    trie[node].firstChild = static_cast<uint32_t>(trie.size());
    for (size_t end = first; first < last; first = end) {
      char label = keys[first].first[depth];
      while (end < last && keys[end].first[depth] == label)
        ++end;
      pending.push_back({first, end, depth + 1});
      trie.push_back({0, 0, static_cast<uint8_t>(label), 0, none});
      ++trie[node].childCount;
    }
  }
  return root;
}

std::vector<uint8_t> SectionBuilder::finish() {
  LanguageSlice languageSlice = {};
  std::vector<uint8_t> bytes(sizeof(Header) + (languages.empty() ? 0 : sizeof(languageSlice)));
  auto append = [&](const auto &table, Slice &slice) {
    bytes.resize((bytes.size() + 7) / 8 * 8);
    slice = {static_cast<uint32_t>(bytes.size()), static_cast<uint32_t>(table.size())};
    size_t size = table.size() * sizeof(table[0]);
    bytes.resize(bytes.size() + size);
    if (size > 0)
      std::memcpy(bytes.data() + slice.offset, table.data(), size);
  };
  append(pool, header.pool), append(tokens, header.tokens), append(targets, header.targets);
  append(scores, header.scores), append(trie, header.trie);
  append(mergeFirst, header.mergeFirst), append(merges, header.merges);
  append(ranges, header.ranges), append(sets, header.sets);
  append(instructions, header.instructions), append(patterns, header.patterns);
  append(mappings, header.mappings), append(maps, header.maps), append(expansions, header.expansions);
  append(codePoints, header.codePoints), append(canonical, header.canonical), append(compatible, header.compatible);
  append(compositions, header.compositions), append(combining, header.combining);
  append(graphemes, header.graphemes), append(scripts, header.scripts);
  append(normalizers, header.normalizers), append(preTokenizers, header.preTokenizers);
  append(decoders, header.decoders), append(single, header.single), append(pair, header.pair);
  if (!languages.empty()) {
    append(languages, languageSlice);
    std::memcpy(bytes.data() + sizeof(Header), &languageSlice, sizeof(languageSlice));
  }
  std::memcpy(header.magic, sectionMagic, sizeof sectionMagic);
  header.version = languages.empty() ? formatVersion : languageVersion;
  header.sectionSize = static_cast<uint32_t>(bytes.size());
  std::memcpy(bytes.data(), &header, sizeof header);
  return bytes;
}

}  // namespace talc::frontend
