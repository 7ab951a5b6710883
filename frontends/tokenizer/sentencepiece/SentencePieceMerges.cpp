// SPDX-License-Identifier: Apache-2.0
// Merges from scores. Of equal scores the longer left part comes first, as in Hugging Face's conversion.
#include "frontends/tokenizer/sentencepiece/SentencePieceModel.h"

#include <algorithm>
#include <tuple>
#include <unordered_map>

namespace talc::frontend {

namespace {

constexpr size_t maxMerges = 1u << 22, maxPieceSize = 1024;

struct ScoredMerge {
  uint32_t first, second;  // pieces
  float score;
  uint32_t order;  // decides between equals
};

bool isContinuation(char byte) {
  return (static_cast<unsigned char>(byte) & 0xC0) == 0x80;
}

uint32_t countCharacters(std::string_view text) {
  return static_cast<uint32_t>(text.size() -
                               static_cast<size_t>(std::count_if(text.begin(), text.end(), isContinuation)));
}

class MergeList {
public:
  explicit MergeList(const SentencePieceModel &model) : model(model) {
    for (uint32_t id = 0; id < model.pieces.size(); ++id) {
      lengths.push_back(countCharacters(model.pieces[id].text));
      if (model.pieces[id].matchesText())
        ids[model.pieces[id].text] = id;
    }
  }

  // False: too many.
  bool run() {
    for (const SentencePiece &piece : model.pieces)
      if (piece.matchesText() && piece.text.size() <= maxPieceSize && !addSplits(piece))
        return false;
    std::sort(merges.begin(), merges.end(), [&](const ScoredMerge &l, const ScoredMerge &r) {
      return std::tie(l.score, lengths[l.first], lengths[l.second], r.order) >
             std::tie(r.score, lengths[r.first], lengths[r.second], l.order);
    });
    return true;
  }

  Json json() const {
    Json list = Json::array();
    for (const ScoredMerge &merge : merges)
      list.push_back(Json::array({model.pieces[merge.first].text, model.pieces[merge.second].text}));
    return list;
  }

private:
  const SentencePieceModel &model;
  std::vector<uint32_t> lengths;  // of pieces, in characters
  std::unordered_map<std::string_view, uint32_t> ids;
  std::vector<ScoredMerge> merges;

  bool addSplits(const SentencePiece &piece) {
    std::string_view text = piece.text;
    size_t first = merges.size();
    for (size_t i = 1; i < text.size(); ++i) {
      if (isContinuation(text[i]))
        continue;
      auto first = ids.find(text.substr(0, i)), second = ids.find(text.substr(i));
      if (first != ids.end() && second != ids.end())
        merges.push_back({first->second, second->second, piece.score, 0});
    }
    std::sort(merges.begin() + static_cast<ptrdiff_t>(first), merges.end(),
              [](const ScoredMerge &l, const ScoredMerge &r) {
                return std::tie(l.first, l.second) < std::tie(r.first, r.second);
              });
    for (size_t i = first; i < merges.size(); ++i)
      merges[i].order = static_cast<uint32_t>(i);
    return merges.size() <= maxMerges;
  }
};

}  // namespace

Json listMerges(const SentencePieceModel &model, CompileErrors &errors) {
  MergeList list(model);
  if (list.run())
    return list.json();
  errors.fail(TokenizerError::TooLarge, "", "has more than " + std::to_string(maxMerges) + " merges");
  return Json::array();
}

}  // namespace talc::frontend
