// SPDX-License-Identifier: Apache-2.0
// Reads values as the table of settings says.
#include "runtime/program/options/SettingOverrides.h"

#include "runtime/program/options/OptionTable.h"

#include <vector>

namespace talc::program {

using artifact::OptionGroup, artifact::Setting, artifact::SettingKind, artifact::SettingRange;

// A range of numbers in words.
static std::string numbersText(const SettingRange &range) {
  const std::string minimum = numberText(range.minimum), maximum = numberText(range.maximum);
  if (range.minimum <= -artifact::unbounded)
    return "a number";
  if (range.excludesMinimum)
    return "a number above " + minimum + (range.bounded() ? ", at most " + maximum : "");
  return range.bounded() ? "a number from " + minimum + " to " + maximum : "a number of at least " + minimum;
}

std::string readSetting(const SettingRange &range, const std::string &text, std::optional<float> &value) {
  float number;
  if (!parseNumber(text, number) || !range.contains(number))
    return numbersText(range);
  value = number;
  return {};
}

static std::string readChoice(const SettingRange &range, const std::string &text, std::optional<int32_t> &value) {
  for (int32_t i = 0; i < 3; ++i)
    if (text == range.choices[i])
      value = i;
  if (value)
    return {};
  return std::string(range.choices[0]) + ", " + range.choices[1] + " or " + range.choices[2];
}

std::string readSetting(const SettingRange &range, const std::string &text, std::optional<int32_t> &value) {
  if (range.kind == SettingKind::Choice)
    return readChoice(range, text, value);
  return readInteger(text, static_cast<int32_t>(range.minimum), static_cast<int32_t>(range.maximum), value);
}

// In talc.h 0 would mean the model's own setting.
static double inTalc(double value, const Setting &setting) {
  if (value != 0)
    return value;
  return setting.range.contains(TALC_NONE) ? 1e-30 : TALC_NONE;
}

void takeSettings(const SettingOverrides &given, talc_model_info &info) {
#define TALC_SETTING(type, member, name, field, title, range, neutral, key, option, note)                              \
  if (given.member)                                                                                                    \
    info.field = static_cast<decltype(info.field)>(inTalc(*given.member, artifact::settings::member));
#define TALC_INNER_SETTING(type, member, name, title, range, neutral, key, option, note)
#include "runtime/artifact/GenerationSettings.def"
}

bool filtersTokens(const SettingOverrides &given) {
  bool filters = false;
  artifact::forEachSetting(given, [&](const Setting &setting, const auto &value) {
    bool draws = setting.option.group == OptionGroup::Sampling && &setting != &artifact::settings::temperature;
    filters |= draws && value.has_value();
  });
  return filters;
}

// A text of every setting with an option of the group.
template <typename TextOf> static std::string join(OptionGroup group, const std::string &lastSeparator, TextOf textOf) {
  std::vector<std::string> texts;
  artifact::forEachSetting([&](const Setting &setting) {
    if (setting.option.name && setting.option.group == group)
      texts.push_back(textOf(setting));
  });
  std::string result;
  for (size_t i = 0; i < texts.size(); ++i)
    result += (i == 0 ? "" : i + 1 < texts.size() ? ", " : lastSeparator) + texts[i];
  return result;
}

std::string optionNames(OptionGroup group, const std::string &lastSeparator) {
  return join(group, lastSeparator, [](const Setting &setting) { return setting.option.name; });
}

std::string settingTitles(OptionGroup group) {
  return join(group, ", ", [](const Setting &setting) { return setting.title; });
}

}  // namespace talc::program
