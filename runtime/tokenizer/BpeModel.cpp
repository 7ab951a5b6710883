// SPDX-License-Identifier: Apache-2.0
// Byte-pair encoding in O(n log n): symbols in a linked list, candidate merges in a priority queue.
#include "runtime/tokenizer/Models.h"
#include "runtime/tokenizer/Utf8.h"

#include <algorithm>
#include <queue>

namespace talc::tokenizer {
namespace {

struct Symbol {
  uint32_t id;
  uint32_t previous, next;  // indices or none
  bool alive;
};

struct Candidate {
  uint32_t rank, position, result;
  // The queue's top is the smallest rank, the leftmost of equals.
  bool operator<(const Candidate &other) const {
    return rank != other.rank ? rank > other.rank : position > other.position;
  }
};

class Merger {
public:
  explicit Merger(const Section &section) : section(section), model(section.header->model) {}

  void run(std::string_view word, std::vector<int32_t> &ids) {
    std::vector<uint32_t> initial;
    initial.reserve(word.size());
    split(word, initial);
    link(initial);
    mergeAll();
    for (const Symbol &symbol : symbols)
      if (symbol.alive)
        ids.push_back(static_cast<int32_t>(hasId(symbol.id) ? symbol.id : model.unknown));
  }

private:
  const Section &section;
  const Model &model;
  std::vector<Symbol> symbols;
  std::priority_queue<Candidate> queue;
  bool pendingUnknown = false;

  // Pieces that only others are made of have no id in the vocabulary.
  bool hasId(uint32_t id) const { return section.tokens[id].flags & tokenPresent || model.unknown == none; }

  // Ids of the single characters. An unknown token is held back until a known character or the end, so that its
  // neighbours can fuse with it.
  void split(std::string_view word, std::vector<uint32_t> &out) {
    std::string_view prefix = section.text(model.prefix), suffix = section.text(model.suffix);
    std::string decorated;
    for (size_t i = 0; i < word.size();) {
      std::string_view character = word.substr(i, sequenceLength(word[i]));
      bool first = i == 0, last = i + character.size() == word.size();
      i += character.size();
      decorated.assign(first ? std::string_view() : prefix).append(character);
      if (last)
        decorated += suffix;
      addCharacter(decorated, out);
    }
    if (pendingUnknown)
      out.push_back(model.unknown);
  }

  void addCharacter(std::string_view character, std::vector<uint32_t> &out) {
    uint32_t id = section.find(model.pieces, character);
    if (id != none) {
      if (pendingUnknown)
        out.push_back(model.unknown);
      pendingUnknown = false;
      out.push_back(id);
      return;
    }
    if (model.flags & modelByteFallback && encodeBytes(section, character, out))
      return;
    if (model.unknown == none)
      return;
    if (pendingUnknown && !(model.flags & modelFuseUnknown))
      out.push_back(model.unknown);
    pendingUnknown = true;
  }

  void link(const std::vector<uint32_t> &ids) {
    auto count = static_cast<uint32_t>(ids.size());
    symbols.reserve(count);
    for (uint32_t i = 0; i < count; ++i)
      symbols.push_back({ids[i], i == 0 ? none : i - 1, i + 1 < count ? i + 1 : none, true});
    for (uint32_t i = 0; i + 1 < count; ++i)
      propose(i);
  }

  const Merge *findMerge(uint32_t leftId, uint32_t rightId) const {
    const Merge *first = section.merges.items + section.mergeFirst[leftId];
    const Merge *last = section.merges.items + section.mergeFirst[leftId + 1];
    const Merge *at = std::lower_bound(first, last, rightId, [](const Merge &m, uint32_t id) { return m.right < id; });
    return at != last && at->right == rightId ? at : nullptr;
  }

  // Queues the merge of the symbol at `position` with the next one, if there is such a merge.
  void propose(uint32_t position) {
    uint32_t next = symbols[position].next;
    if (next == none)
      return;
    if (const Merge *merge = findMerge(symbols[position].id, symbols[next].id))
      queue.push({merge->rank, position, merge->result});
  }

  void mergeAll() {
    while (!queue.empty()) {
      Candidate top = queue.top();
      queue.pop();
      Symbol &left = symbols[top.position];
      if (!left.alive || left.next == none)
        continue;
      // A neighbour may have changed since; the pair that is there now must make the same token.
      const Merge *merge = findMerge(left.id, symbols[left.next].id);
      if (!merge || merge->result != top.result)
        continue;
      Symbol &right = symbols[left.next];
      right.alive = false;
      left.id = top.result;
      left.next = right.next;
      if (left.next != none)
        symbols[left.next].previous = top.position;
      if (left.previous != none)
        propose(left.previous);
      propose(top.position);
    }
  }
};

}  // namespace

bool encodeBytes(const Section &section, std::string_view text, std::vector<uint32_t> &ids) {
  const Model &model = section.header->model;
  size_t before = ids.size();
  for (char c : text) {
    uint32_t id = model.byteTokens[static_cast<unsigned char>(c)];
    if (id == none) {
      ids.resize(before);
      return false;
    }
    ids.push_back(id);
  }
  return true;
}

bool encodeBpe(const Section &section, std::string_view word, std::vector<int32_t> &ids) {
  const Model &model = section.header->model;
  if (model.flags & modelIgnoreMerges) {
    uint32_t id = section.find(model.pieces, word);
    if (id != none) {
      ids.push_back(static_cast<int32_t>(id));
      return true;
    }
  }
  Merger(section).run(word, ids);
  return true;
}

}  // namespace talc::tokenizer
