// SPDX-License-Identifier: Apache-2.0
// Reads texts, and shuffles rows.
#include "tools/talc/train/TokenRows.h"

#include "frontends/NamedFile.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

namespace talc::tools {

constexpr uint64_t maxTextBytes = uint64_t(1) << 31;

// `around`: tokens before and behind those of a text, half of them each, which are left out.
static std::string tokenize(const talc_model *model, const std::string &file, int64_t around,
                            std::vector<int32_t> &tokens) {
  std::string problem;
  auto text = readNamedFile(file, {maxTextBytes - 1}, problem);
  if (!text)
    return fmt::format("error[T0401]: --data: {}: {}", file, problem);
  talc_error error;
  int32_t count = 0;
  if (talc_tokenize(model, text->data(), text->size(), nullptr, 0, &count, &error))
    return fmt::format("{} (--data: {})", error.text, file);
  size_t begin = tokens.size();
  tokens.resize(begin + count);
  if (talc_tokenize(model, text->data(), text->size(), tokens.data() + begin, count, &count, &error))
    return fmt::format("{} (--data: {})", error.text, file);
  int64_t front = std::min<int64_t>((around + 1) / 2, count), back = std::min(around / 2, count - front);
  tokens.erase(tokens.end() - back, tokens.end());
  tokens.erase(tokens.begin() + static_cast<int64_t>(begin), tokens.begin() + static_cast<int64_t>(begin) + front);
  return "";
}

std::string TokenRows::read(const talc_model *model, const std::vector<std::string> &files, int64_t tokensOfRow,
                            std::unique_ptr<Objective> rowObjective) {
  talc_model_info info = {};
  info.struct_size = sizeof(info);
  talc_error error;
  if (talc_model_get_info(model, &info, &error))
    return error.text;
  objective = std::move(rowObjective);
  int64_t around = objective->addedTokens();
  textTokens = tokensOfRow - around;
  if (textTokens < 1)
    return fmt::format("error[T0701]: talc train: --sequence is {}, of which the model needs {} around a text",
                       tokensOfRow, around);
  for (const std::string &file : files) {
    if (!tokens.empty() && info.end_token_count > 0 && tokens.back() != info.end_tokens[0])
      tokens.push_back(info.end_tokens[0]);
    if (std::string problem = tokenize(model, file, around, tokens); !problem.empty())
      return problem;
  }
  if (count() == 0)
    return fmt::format("error[T0701]: talc train: --data has {} tokens, fewer than the {} of a row; give more text, or "
                       "a smaller --sequence",
                       tokens.size(), textTokens);
  return "";
}

TrainingRow TokenRows::makeRow(int64_t position, uint64_t seed) {
  if (position / count() != epoch) {
    epoch = position / count();
    order.resize(count());
    std::iota(order.begin(), order.end(), 0);
    Random random(Random(seed).next() + static_cast<uint64_t>(epoch));
    for (size_t i = order.size(); i > 1; --i)
      std::swap(order[i - 1], order[random.next() % i]);
  }
  int64_t row = order[position % count()];
  Random random(Random(~seed).next() + static_cast<uint64_t>(position));
  return objective->makeRow(tokens.data() + row * textTokens, textTokens, random);
}

}  // namespace talc::tools
