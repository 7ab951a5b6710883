// SPDX-License-Identifier: Apache-2.0
// Checks and copies the settings of a caller.
#include "runtime/sampling/LogitsProcessors.h"

namespace talc {

int32_t LogitsProcessors::forced(const UnfinishedText &text) const {
  if (text.last && forcedEnd >= 0)
    return forcedEnd;
  return text.length == 1 ? forcedBegin : -1;
}

bool LogitsProcessors::forbidsAny() const {
  bool lists = !suppressed.empty() || !beginSuppressed.empty() || !forbidden.empty();
  return lists || noRepeatNgram > 0 || minNewTokens > 0 || minLength > 0;
}

static std::string findWrongSuppressed(const int32_t *suppressed, int32_t count, int32_t vocabulary) {
  if (count < 0 || (count > 0 && !suppressed))
    return "suppressed tokens are NULL, or their number is negative";
  bool inVocabulary =
      std::all_of(suppressed, suppressed + count, [&](int32_t id) { return id >= 0 && id < vocabulary; });
  return inVocabulary ? "" : "suppressed tokens must be in the vocabulary";
}

std::string findWrongList(const talc_search &settings, int32_t vocabulary) {
  std::string wrong = findWrongSuppressed(settings.suppressed_tokens, settings.suppressed_token_count, vocabulary);
  if (wrong.empty())
    wrong = findWrongSuppressed(settings.begin_suppressed, settings.begin_suppressed_count, vocabulary);
  if (!wrong.empty())
    return wrong;
  if (settings.forbidden_count < 0 || (settings.forbidden_count > 0 && !settings.forbidden) ||
      !artifact::areTokenGroups(settings.forbidden, settings.forbidden_count, vocabulary))
    return "forbidden groups are NULL, or not lengths of 2 or more and tokens of the vocabulary";
  return {};
}

LogitsProcessors makeRules(const Model &model, const talc_search &settings) {
  const auto &end = model.info().generation.end;
  auto list = [](const int32_t *ids, int32_t count) { return std::vector<int32_t>(ids, ids + count); };
  LogitsProcessors rules;
  rules.noRepeatNgram = settings.no_repeat_ngram;
  rules.forcedBegin = settings.forced_begin;
  rules.forcedEnd = settings.forced_end;
  rules.minNewTokens = settings.min_new_tokens;
  rules.minLength = settings.min_length;
  rules.endTokens.assign(end.begin(), end.end());
  rules.suppressed = list(settings.suppressed_tokens, settings.suppressed_token_count);
  rules.beginSuppressed = list(settings.begin_suppressed, settings.begin_suppressed_count);
  rules.forbidden = list(settings.forbidden, settings.forbidden_count);
  return rules;
}

}  // namespace talc
