// SPDX-License-Identifier: Apache-2.0
// Settings of generation from the command line, which override the model's own.
#pragma once

#include "runtime/artifact/GenerationSettings.h"
#include "runtime/talc.h"

#include <optional>
#include <string>

namespace talc::program {

struct GivenForm {
  using Number = std::optional<float>;
  using Integer = std::optional<int32_t>;
  struct None {};
  template <int32_t maxCount> using Tokens = None;
};
using SettingOverrides = artifact::GenerationSettings<GivenForm>;

// Stores the value in `text`, or returns what was expected.
std::string readSetting(const artifact::SettingRange &range, const std::string &text, std::optional<float> &value);
std::string readSetting(const artifact::SettingRange &range, const std::string &text, std::optional<int32_t> &value);

// Overrides a model's own settings.
void takeSettings(const SettingOverrides &given, talc_model_info &info);

// Whether an option asks for sampling, whatever the temperature is.
bool filtersTokens(const SettingOverrides &given);

// The options of a group: "--temp, --top-k, --top-p, --min-p", with another word before the last one.
std::string optionNames(artifact::OptionGroup group, const std::string &lastSeparator = ", ");
// The titles of their settings: "temperature, top-k, top-p, min-p".
std::string settingTitles(artifact::OptionGroup group);

}  // namespace talc::program
