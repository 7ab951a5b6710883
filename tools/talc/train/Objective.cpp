// SPDX-License-Identifier: Apache-2.0
// Labels of causal and of masked language models.
#include "tools/talc/train/Objective.h"

#include <fmt/format.h>

namespace talc::tools {

namespace {

class CausalObjective final : public Objective {
public:
  int64_t addedTokens() const override { return 0; }
  TrainingRow makeRow(const int32_t *tokens, int64_t count, Random) const override {
    TrainingRow row = {{tokens, tokens + count}, {tokens + 1, tokens + count}};
    row.labels.push_back(-1);
    return row;
  }
};

class MaskedObjective final : public Objective {
public:
  MaskedObjective(int32_t mask, int32_t vocabulary, std::vector<int32_t> around)
      : mask(mask), vocabulary(static_cast<uint64_t>(vocabulary)), around(std::move(around)) {}

  int64_t addedTokens() const override { return static_cast<int64_t>(around.size()); }
  TrainingRow makeRow(const int32_t *tokens, int64_t count, Random random) const override {
    TrainingRow row;
    auto add = [&](int32_t id, int32_t label) {
      row.ids.push_back(id);
      row.labels.push_back(label);
    };
    size_t front = (around.size() + 1) / 2;
    for (size_t i = 0; i < front; ++i)
      add(around[i], -1);
    const auto first = static_cast<int64_t>(random.next() % static_cast<uint64_t>(count));  // at least one is selected
    for (int64_t i = 0; i < count; ++i) {
      double selected = random.uniform(), kind = random.uniform();
      auto other = static_cast<int32_t>(random.next() % vocabulary);
      if (selected >= 0.15 && i != first)
        add(tokens[i], -1);
      else
        add(kind < 0.8 ? mask : kind < 0.9 ? other : tokens[i], tokens[i]);
    }
    for (size_t i = front; i < around.size(); ++i)
      add(around[i], -1);
    return row;
  }

private:
  int32_t mask;
  uint64_t vocabulary;
  std::vector<int32_t> around;
};

}  // namespace

std::unique_ptr<Objective> causalObjective() {
  return std::make_unique<CausalObjective>();
}

std::unique_ptr<Objective> maskedObjective(const talc_model *model, std::string &problem) {
  talc_error error;
  talc_model_info info = {};
  info.struct_size = sizeof(info);
  int32_t count = 0;
  std::vector<int32_t> around(16);
  if (talc_model_get_info(model, &info, &error) ||
      talc_tokenize(model, "", 0, around.data(), static_cast<int32_t>(around.size()), &count, &error)) {
    problem = error.text;
    return nullptr;
  }
  if (info.mask_token < 0) {
    problem = fmt::format(
        "error[T0702]: {}: its tokenizer has no mask token, so that it cannot be trained to fill masks", info.name);
    return nullptr;
  }
  around.resize(count);
  return std::make_unique<MaskedObjective>(info.mask_token, info.vocabulary_size, std::move(around));
}

}  // namespace talc::tools
