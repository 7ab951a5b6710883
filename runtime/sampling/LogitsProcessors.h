// SPDX-License-Identifier: Apache-2.0
// Decides which tokens may follow a text, like the logits processors of Hugging Face's generate().
#pragma once

#include "runtime/artifact/Model.h"

#include <algorithm>
#include <vector>

namespace talc {

// A text that is continued by a token.
struct UnfinishedText {
  const int32_t *ids;
  size_t length;     // tokens
  size_t beginning;  // tokens that were given
  bool last;         // the text ends with the next token
};

// Ids are in the vocabulary; -1 means none.
struct LogitsProcessors {
  int32_t noRepeatNgram = 0;  // tokens of a group that may not occur twice; 0: off
  int32_t forcedBegin = -1;   // follows a text of one token
  int32_t forcedEnd = -1;     // is the last token of a text that is cut
  size_t minNewTokens = 0;    // the least number of tokens between the beginning and an end token
  size_t minLength = 0;       // the least number of tokens before an end token, the beginning included
  std::vector<int32_t> endTokens;
  std::vector<int32_t> suppressed;       // never follow
  std::vector<int32_t> beginSuppressed;  // do not follow the beginning, nor a token that is forced after it
  std::vector<int32_t> forbidden;        // groups that may not occur: length, tokens, length, tokens, ...

  // The only token that may follow; -1: there is no such rule.
  int32_t forced(const UnfinishedText &text) const;
  // Whether any token can be unfit or suppressed.
  bool forbidsAny() const;
  // Call forbid(id) for tokens that may not follow because of earlier ones, and for those that are always suppressed.
  template <typename Forbid> void forEachUnfit(const UnfinishedText &text, Forbid forbid) const;
  template <typename Forbid> void forEachSuppressed(const UnfinishedText &text, Forbid forbid) const;
};

// Returns what is wrong with a caller's lists of tokens, or an empty text when they are as talc.h documents.
std::string findWrongList(const talc_search &settings, int32_t vocabulary);

LogitsProcessors makeRules(const Model &model, const talc_search &settings);

template <typename Forbid> void LogitsProcessors::forEachUnfit(const UnfinishedText &text, Forbid forbid) const {
  const int32_t *end = text.ids + text.length;
  // Finds groups that occurred and begin with the last tokens of the text.
  size_t begin = noRepeatNgram - 1;
  for (size_t i = 0; noRepeatNgram > 0 && i + begin < text.length; ++i)
    if (std::equal(end - begin, end, text.ids + i))
      forbid(text.ids[i + begin]);
  // Finds groups that may not occur; the text has to be as long as the group.
  for (size_t at = 0; at < forbidden.size(); at += forbidden[at] + 1) {
    size_t size = forbidden[at];
    const int32_t *group = &forbidden[at + 1];
    if (text.length >= size && std::equal(group, group + size - 1, end - (size - 1)))
      forbid(group[size - 1]);
  }
  if (text.length < std::max(minLength, text.beginning + minNewTokens))
    std::for_each(endTokens.begin(), endTokens.end(), forbid);
}

template <typename Forbid> void LogitsProcessors::forEachSuppressed(const UnfinishedText &text, Forbid forbid) const {
  std::for_each(suppressed.begin(), suppressed.end(), forbid);
  if (text.length == text.beginning + (text.beginning == 1 && forcedBegin >= 0))
    std::for_each(beginSuppressed.begin(), beginSuppressed.end(), forbid);
}

}  // namespace talc
