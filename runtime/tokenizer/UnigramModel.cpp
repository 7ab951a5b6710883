// SPDX-License-Identifier: Apache-2.0
// Unigram: the segmentation with the highest sum of scores (Viterbi).
#include "runtime/tokenizer/Models.h"
#include "runtime/tokenizer/Utf8.h"

namespace talc::tokenizer {
namespace {

// The best path that ends at one byte of the word.
struct Node {
  double score = 0;
  size_t start = std::string_view::npos;  // of the last piece; npos: not reached
  uint32_t id = none;
};

// SentencePiece keeps sums as floats and compares them with sums in double precision, which decides between equals.
class Rounding {
public:
  explicit Rounding(const Section &section) : floats(section.header->model.flags & modelFloatScores) {}

  double operator()(double sum) const { return floats ? static_cast<float>(sum) : sum; }

private:
  bool floats;
};

// Every character boundary is reached, if only by an unknown character.
std::vector<Node> findBestPaths(const Section &section, std::string_view word) {
  const Model &model = section.header->model;
  const Rounding rounded(section);
  std::vector<Node> nodes(word.size() + 1);
  auto offer = [&](size_t end, double score, size_t start, uint32_t id) {
    if (nodes[end].start == std::string_view::npos || score > nodes[end].score)
      nodes[end] = {rounded(score), start, id};
  };
  for (size_t start = 0; start < word.size(); start += sequenceLength(word[start])) {
    double scoreHere = nodes[start].score;
    size_t character = sequenceLength(word[start]);
    bool hasCharacter = false;
    uint32_t node = model.pieces;
    for (size_t end = start; end < word.size() && node != none;) {
      node = section.child(node, static_cast<unsigned char>(word[end++]));
      if (node == none || section.trie[node].value == none)
        continue;
      uint32_t id = section.trie[node].value;
      offer(end, scoreHere + section.scores[id], start, id);
      hasCharacter |= end - start == character;
    }
    if (!hasCharacter)
      offer(start + character, rounded(scoreHere + section.header->unknownScore), start, model.unknown);
  }
  return nodes;
}

// A piece of the vocabulary that has no token is the unknown token.
bool addPiece(const Section &section, uint32_t id, std::vector<uint32_t> &ids) {
  if (id >= section.tokens.count)
    id = section.header->model.unknown;
  ids.push_back(id);
  return id != none;
}

bool addUnknown(const Section &section, std::string_view text, std::vector<uint32_t> &ids) {
  const Model &model = section.header->model;
  // Unknown characters may add up to a piece, or be spelled in bytes.
  uint32_t id = section.find(model.pieces, text);
  if (id == none && model.flags & modelByteFallback && encodeBytes(section, text, ids))
    return true;
  return addPiece(section, id, ids);
}

}  // namespace

bool encodeUnigram(const Section &section, std::string_view word, std::vector<int32_t> &ids) {
  const Model &model = section.header->model;
  std::vector<Node> nodes = findBestPaths(section, word);

  std::vector<std::string_view> texts;  // backwards; adjacent unknown pieces as one
  std::vector<uint32_t> path;
  for (size_t end = word.size(); end > 0; end = nodes[end].start) {
    std::string_view piece = word.substr(nodes[end].start, end - nodes[end].start);
    if (nodes[end].id == model.unknown && !path.empty() && path.back() == model.unknown)
      texts.back() = {piece.data(), piece.size() + texts.back().size()};
    else
      texts.push_back(piece), path.push_back(nodes[end].id);
  }
  bool isKnown = true;
  std::vector<uint32_t> result;
  for (size_t i = path.size(); i-- > 0;) {
    if (path[i] == model.unknown)
      isKnown &= addUnknown(section, texts[i], result);
    else
      isKnown &= addPiece(section, path[i], result);
  }
  ids.insert(ids.end(), result.begin(), result.end());
  return isKnown;
}

}  // namespace talc::tokenizer
