// SPDX-License-Identifier: Apache-2.0
// WordPiece (longest prefix first) and WordLevel (whole words).
#include "runtime/tokenizer/Models.h"
#include "runtime/tokenizer/Utf8.h"

namespace talc::tokenizer {

bool encodeWordPiece(const Section &section, std::string_view word, std::vector<int32_t> &ids) {
  const Model &model = section.header->model;
  size_t before = ids.size(), done = 0, length = 0;
  bool isKnown = countCharacters(word) <= model.maxWordLength;
  while (isKnown && done < word.size()) {
    uint32_t root = done == 0 ? model.pieces : model.continuations;
    uint32_t id = section.findLongest(root, word.substr(done), length);
    isKnown = id != none;
    done += length;
    ids.push_back(static_cast<int32_t>(id));
  }
  if (isKnown)
    return true;
  ids.resize(before);
  ids.push_back(static_cast<int32_t>(model.unknown));
  return model.unknown != none;
}

bool encodeWordLevel(const Section &section, std::string_view word, std::vector<int32_t> &ids) {
  const Model &model = section.header->model;
  uint32_t id = section.find(model.pieces, word);
  if (id == none)
    id = model.unknown;
  ids.push_back(static_cast<int32_t>(id));
  return id != none;
}

}  // namespace talc::tokenizer
