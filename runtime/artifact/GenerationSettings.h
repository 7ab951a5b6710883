// SPDX-License-Identifier: Apache-2.0
// CONTRACT between frontends, compiler and runtime: the settings of GenerationSettings.def, as structs and
// descriptions.
//
//   forEachSetting(info.generation, [&](const Setting &setting, auto &value) { ... })
//
// visits every setting with its description, in each of the forms that its values have: as a frontend reads them, as an
// artifact stores them, or as a command line gives them.
#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <string>
#include <type_traits>

namespace talc::artifact {

constexpr int32_t maxBeams = 1024;
constexpr uint32_t maxStopTexts = 64, maxStopBytes = 1024;  // of each
constexpr char stopsEntry[] = "stops";                      // in talc.generation and in the manifest: these texts
constexpr double unbounded = 1e6;       // as a bound: there is none, though no frontend may exceed it
constexpr double smallestAbove = 1e-6;  // the smallest value that a frontend may give for a number above 0

// Turns logits of classes into scores: for classes that exclude each other, independent ones, or quantities.
enum class ClassScores : uint32_t { Softmax = 0, Sigmoid = 1, Values = 2 };

// The token whose row of classes is that of a text: the first; the last one that is not another token, which pads (the
// first if all are); or the last that is that token (the last of all if none is).
enum class ClassPlace : uint32_t { First = 0, LastExcept = 1, LastOf = 2 };

// When beam search ends although a longer text might become better: Hugging Face's early_stopping.
enum class EarlyStopping : uint32_t { No = 0, Yes = 1, Never = 2 };

enum class SettingKind { Number, Count, Flag, Choice, Token };

// The values that a setting may have.
struct SettingRange {
  SettingKind kind;
  double minimum, maximum;
  bool excludesMinimum;
  std::array<const char *, 3> choices;  // of kind Choice: the names of 0, 1, 2

  constexpr bool bounded() const { return maximum != unbounded; }
  bool contains(double value) const {
    return std::isfinite(value) &&
           (value > minimum || (value == minimum && !excludesMinimum) || minimum <= -unbounded) &&
           (value <= maximum || !bounded());
  }
};

// ---- The values of a setting in words, for messages and pages

inline std::string numberText(double value) {
  char text[32];
  snprintf(text, sizeof(text), "%.12g", value);
  return text;
}

// "0 or more", "above 0, at most 1", "1 to 1024"; flags and choices are counted from 0.
inline std::string rangeText(const SettingRange &range) {
  if (range.minimum <= -unbounded)
    return "any finite number";
  const std::string minimum = numberText(range.minimum);
  if (!range.bounded() || range.maximum == INT32_MAX)
    return range.excludesMinimum ? "above " + minimum : minimum + " or more";
  return range.excludesMinimum ? "above " + minimum + ", at most " + numberText(range.maximum)
                               : minimum + " to " + numberText(range.maximum);
}

// ---- The table

// The section of --help that lists an option.
enum class OptionGroup { Length, Repetition, Sampling, Beams };

struct SettingOption {
  OptionGroup group;
  const char *name;      // null: the setting has no option
  const char *value;     // placeholder of the value in --help
  const char *help;      // lines
  const char *longName;  // null: none
};

// A row of the table.
struct Setting {
  const char *name, *title;
  SettingRange range;
  double neutral;
  const char *key;
  SettingOption option;
};

enum class ListShape { ids, groups };

struct TokenListSetting {
  const char *name, *title, *counted, *key;
  int32_t maxCount;
  ListShape shape;
};

// Names that the table uses.
namespace settings {

constexpr SettingRange numbers(double minimum, double maximum) {
  return {SettingKind::Number, minimum, maximum, false, {}};
}
constexpr SettingRange numbersAbove(double minimum, double maximum) {
  return {SettingKind::Number, minimum, maximum, true, {}};
}
constexpr SettingRange counts(int32_t minimum, int32_t maximum) {
  return {SettingKind::Count, double(minimum), double(maximum), false, {}};
}
constexpr SettingRange flag() {
  return {SettingKind::Flag, 0, 1, false, {}};
}
constexpr SettingRange choice(const char *first, const char *second, const char *third) {
  return {SettingKind::Choice, 0, 2, false, {first, second, third}};
}
constexpr SettingRange token() {  // -1: none; the vocabulary decides what is the last
  return {SettingKind::Token, -1, INT32_MAX, false, {}};
}
constexpr OptionGroup Length = OptionGroup::Length, Repetition = OptionGroup::Repetition,
                      Sampling = OptionGroup::Sampling, Beams = OptionGroup::Beams;
constexpr SettingOption option(OptionGroup group, const char *name, const char *value, const char *help,
                               const char *longName = nullptr) {
  return {group, name, value, help, longName};
}
constexpr SettingOption none() {
  return {OptionGroup::Length, nullptr, nullptr, nullptr, nullptr};
}

// settings::minP describes the member minP.
#define TALC_SETTING(type, member, name, field, title, range, neutral, key, option, note)                              \
  inline constexpr Setting member = {#name, title, range, neutral, key, option};
#define TALC_TOKEN_LIST(maxCount, member, name, title, counted, shape, key, note)                                      \
  inline constexpr TokenListSetting member = {#name, title, counted, key, maxCount, ListShape::shape};
#include "runtime/artifact/GenerationSettings.def"

}  // namespace settings

// All settings. `Form` says what a Number, an Integer and Tokens<maxCount> are.
template <typename Form> struct GenerationSettings {
#define TALC_SETTING(type, member, name, field, title, range, neutral, key, option, note) typename Form::type member;
#define TALC_TOKEN_LIST(maxCount, member, name, title, counted, shape, key, note)                                      \
  typename Form::template Tokens<maxCount> member;
#include "runtime/artifact/GenerationSettings.def"
};

// Calls `visit(setting, value)` for every one, in the order of the table.
template <typename Settings, typename Visit> void forEachSetting(Settings &values, Visit visit) {
#define TALC_SETTING(type, member, name, field, title, range, neutral, key, option, note)                              \
  visit(settings::member, values.member);
#include "runtime/artifact/GenerationSettings.def"
}

// Calls `visit(setting)` for every description.
template <typename Visit> void forEachSetting(Visit visit) {
#define TALC_SETTING(type, member, name, field, title, range, neutral, key, option, note) visit(settings::member);
#include "runtime/artifact/GenerationSettings.def"
}

// Does the same for the lists of tokens.
template <typename Settings, typename Visit> void forEachTokenList(Settings &values, Visit visit) {
#define TALC_TOKEN_LIST(maxCount, member, name, title, counted, shape, key, note)                                      \
  visit(settings::member, values.member);
#include "runtime/artifact/GenerationSettings.def"
}

template <typename Visit> void forEachTokenList(Visit visit) {
#define TALC_TOKEN_LIST(maxCount, member, name, title, counted, shape, key, note) visit(settings::member);
#include "runtime/artifact/GenerationSettings.def"
}

// A list of ids in an artifact.
template <int32_t maxCount> struct TokenList {
  int32_t count;
  int32_t ids[maxCount];

  const int32_t *begin() const { return ids; }
  const int32_t *end() const { return ids + count; }
};

struct StoredForm {
  using Number = float;
  using Integer = int32_t;
  template <int32_t maxCount> using Tokens = TokenList<maxCount>;
};
using StoredSettings = GenerationSettings<StoredForm>;

// Returns settings that change nothing, with empty lists.
template <typename Form> GenerationSettings<Form> neutralSettings() {
  GenerationSettings<Form> result = {};
  forEachSetting(result, [](const Setting &setting, auto &value) {
    value = static_cast<std::remove_reference_t<decltype(value)>>(setting.neutral);
  });
  return result;
}

// Whether `numbers` are groups of two or more tokens of the vocabulary, each after its length.
inline bool areTokenGroups(const int32_t *numbers, int32_t count, uint32_t vocabulary) {
  for (int32_t at = 0; at < count; at += numbers[at] + 1) {
    if (numbers[at] < 2 || numbers[at] >= count - at)
      return false;
    for (int32_t i = 1; i <= numbers[at]; ++i)
      if (numbers[at + i] < 0 || static_cast<uint32_t>(numbers[at + i]) >= vocabulary)
        return false;
  }
  return true;
}

}  // namespace talc::artifact
