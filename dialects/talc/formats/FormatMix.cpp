// SPDX-License-Identifier: Apache-2.0
// The table of mixes, and their rules.
#include "dialects/talc/formats/FormatMix.h"

#include "llvm/ADT/STLExtras.h"

namespace talc {

namespace {

// Which matrices of a role have the better format.
enum class Share {
  None,
  All,
  First2,     // of the model
  First4,     // of the model
  Sixteenth,  // of the layers, from the first on
  Eighth,     // of the layers, from the first on
  Ends,       // the first and last eighth of the layers, and every third between
};

bool hasShare(Share share, int64_t index, int64_t count) {
  switch (share) {
  case Share::None:
    return false;
  case Share::All:
    return true;
  case Share::First2:
    return index < 2;
  case Share::First4:
    return index < 4;
  case Share::Sixteenth:
    return index < count / 16;
  case Share::Eighth:
    return index < count / 8;
  case Share::Ends:
    return index < count / 8 || index >= 7 * count / 8 || (index - count / 8) % 3 == 2;
  }
  return false;
}

// A better format for a share of matrices, and a format for the others; empty: the usual one.
struct RoleRule {
  Share share = Share::None;
  std::string_view better = {}, other = {};

  std::string_view choose(int64_t index, int64_t count, std::string_view usual) const {
    std::string_view name = hasShare(share, index, count) ? better : other;
    return name.empty() ? usual : name;
  }
};

}  // namespace

struct FormatMix {
  std::string_view name, usual;
  RoleRule values, down;
  std::string_view attentionOutput = {};  // empty: the usual one
  bool raisesFewExperts = true;           // whether attention of eight experts has a better output
};

// The output has q6_k in all of them.
static constexpr FormatMix table[] = {
    {"q2_k", "q2_k", {Share::None, {}, "q3_k"}, {Share::All, "q3_k"}, "q3_k"},
    {"q3_k_s", "q3_k", {}, {}},
    {"q3_k_m", "q3_k", {Share::First2, "q5_k", "q4_k"}, {Share::Sixteenth, "q5_k", "q4_k"}, "q4_k"},
    {"q3_k_l", "q3_k", {Share::All, "q5_k"}, {Share::All, "q5_k"}, "q5_k", false},
    {"q4_k_s", "q4_k", {Share::First4, "q5_k"}, {Share::Eighth, "q5_k"}},
    {"q4_k_m", "q4_k", {Share::Ends, "q6_k"}, {Share::Ends, "q6_k"}},
    {"q5_k_s", "q5_k", {}, {}, {}, false},
    {"q5_k_m", "q5_k", {Share::Ends, "q6_k"}, {Share::Ends, "q6_k"}, {}, false},
};

const FormatMix *findFormatMix(std::string_view name) {
  const auto *mix = llvm::find_if(table, [&](const FormatMix &entry) { return entry.name == name; });
  return mix == std::end(table) ? nullptr : mix;
}

std::vector<std::string> formatMixNames() {
  std::vector<std::string> names;
  for (const FormatMix &mix : table)
    names.emplace_back(mix.name);
  return names;
}

static std::string_view formatOfValues(const FormatMix &mix, const MixedModel &model, int64_t index, int64_t count) {
  constexpr int64_t layersOf70B = 80, largeGroup = 4;
  std::string_view name = mix.values.choose(index, count, mix.usual);
  if (mix.usual == "q2_k" && model.queryGroup >= largeGroup)
    name = "q4_k";
  if (model.layers == layersOf70B && model.queryGroup > 1 && (name == "q3_k" || name == "q4_k"))
    name = "q5_k";
  return name;
}

FormatRef mixedFormat(const FormatMix &mix, const MixedModel &model, MatrixRole role, int64_t index, int64_t count) {
  const bool hasFewExperts = model.experts == 8;
  auto choose = [&]() -> std::string_view {
    switch (role) {
    case MatrixRole::Router:
      return {};
    case MatrixRole::Keys:
      return hasFewExperts ? "q8_0" : mix.usual;
    case MatrixRole::Values:
      return hasFewExperts ? "q8_0" : formatOfValues(mix, model, index, count);
    case MatrixRole::AttentionOutput:
      if (hasFewExperts)
        return mix.raisesFewExperts ? "q5_k" : mix.usual;
      return mix.attentionOutput.empty() ? mix.usual : mix.attentionOutput;
    case MatrixRole::Down:
      return mix.down.choose(index, count, mix.usual);
    case MatrixRole::Output:
      return "q6_k";
    case MatrixRole::Other:
      break;
    }
    return mix.usual;
  };
  return findStorageFormat(choose());
}

const StorageFormat &mixedFormatForRows(const StorageFormat &format, int64_t values) {
  constexpr std::pair<std::string_view, std::string_view> smaller[] = {
      {"q2_k", "q4_0"}, {"q3_k", "q4_0"}, {"q4_k", "q5_0"}, {"q5_k", "q5_1"}, {"q6_k", "q8_0"}};
  if (values % format.blockValues != 0)
    for (auto [name, other] : smaller)
      if (name == format.name)
        return *findStorageFormat(other);
  return format;
}

}  // namespace talc
