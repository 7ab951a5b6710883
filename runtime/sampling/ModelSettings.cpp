// SPDX-License-Identifier: Apache-2.0
// Copies settings from the artifact to the public structs, and checks those of a caller, as the table says.
#include "runtime/sampling/ModelSettings.h"

#include "runtime/artifact/GenerationSettings.h"

#include <algorithm>
#include <iterator>

namespace talc {

static_assert(TALC_SCORES_VALUES == static_cast<int>(artifact::ClassScores::Values));

void describeSettings(const artifact::StoredSettings &settings, talc_model_info &info) {
#define TALC_SETTING(type, member, name, field, title, range, neutral, key, option, note)                              \
  info.field = static_cast<decltype(info.field)>(settings.member);
#define TALC_INNER_SETTING(type, member, name, title, range, neutral, key, option, note)
#include "runtime/artifact/GenerationSettings.def"
  if (!settings.sample)
    info.sampling.temperature = 0;
  info.end_token_count = settings.end.count;
  info.end_tokens = settings.end.ids;
  info.search.suppressed_token_count = settings.suppressed.count;
  info.search.suppressed_tokens = settings.suppressed.ids;
  info.search.begin_suppressed_count = settings.beginSuppressed.count;
  info.search.begin_suppressed = settings.beginSuppressed.ids;
  info.search.forbidden_count = settings.forbidden.count;
  info.search.forbidden = settings.forbidden.ids;
}

static std::string findWrongNumber(const artifact::Setting &setting, const char *field, double value,
                                   int32_t vocabulary) {
  artifact::SettingRange range = setting.range;
  if (range.kind == artifact::SettingKind::Token)
    range.maximum = vocabulary - 1;
  return range.contains(value) ? "" : std::string(field) + " must be " + artifact::rangeText(range);
}

template <typename Settings> static bool usesReserved(const Settings &settings) {
  auto isSet = [](int32_t value) { return value != 0; };
  return std::any_of(std::begin(settings.reserved), std::end(settings.reserved), isSet);
}

std::string findWrongNumber(const talc_sampling &sampling, const talc_search &search, int32_t vocabulary) {
  if (usesReserved(sampling) || usesReserved(search))
    return "reserved must be 0";
  for (float penalty : {sampling.presence_penalty, sampling.frequency_penalty})
    if (!(penalty >= -100 && penalty <= 100))
      return "penalties of presence and frequency must be numbers from -100 to 100";
  // Everything else that the table names is neutral.
  talc_model_info info = {};
  describeSettings(artifact::neutralSettings<artifact::StoredForm>(), info);
  info.sampling = sampling;
  info.search = search;
  std::string wrong;
#define TALC_SETTING(type, member, name, field, title, range, neutral, key, option, note)                              \
  if (wrong.empty())                                                                                                   \
    wrong = findWrongNumber(artifact::settings::member, #field, static_cast<double>(info.field), vocabulary);
#define TALC_INNER_SETTING(type, member, name, title, range, neutral, key, option, note)
#include "runtime/artifact/GenerationSettings.def"
  return wrong;
}

// Completes a field of a caller; GenerationSettings.def has defaults and neutral values.
template <typename T> static void complete(T &value, T defaults, const artifact::Setting &setting) {
  const auto number = static_cast<double>(value);
  if (number == 0)
    value = defaults;
  else if (number == TALC_TOKEN_0 && setting.range.kind == artifact::SettingKind::Token)
    value = T(0);
  else if (number == TALC_NONE && !setting.range.contains(number))
    value = static_cast<T>(setting.neutral);
}

static void completeFields(talc_model_info &info, const talc_model_info &defaults) {
#define TALC_SETTING(type, member, name, field, title, range, neutral, key, option, note)                              \
  complete(info.field, defaults.field, artifact::settings::member);
#define TALC_INNER_SETTING(type, member, name, title, range, neutral, key, option, note)
#include "runtime/artifact/GenerationSettings.def"
}

static void completeList(int32_t &count, const int32_t *&ids, int32_t defaultCount, const int32_t *defaults) {
  if (count == 0)
    count = defaultCount, ids = defaults;
  else if (count == TALC_NONE)
    count = 0;
}

talc_sampling completeSampling(const talc_sampling *given, const artifact::ModelInfo &info) {
  talc_model_info defaults = {}, result = {};
  describeSettings(info.generation, defaults);
  if (!given)
    return defaults.sampling;
  result.sampling = *given;
  completeFields(result, defaults);
  if (given->temperature == TALC_NONE)
    result.sampling.temperature = 0;
  return result.sampling;
}

talc_search completeSearch(const talc_search *given, const artifact::ModelInfo &info) {
  talc_model_info defaults = {}, result = {};
  describeSettings(info.generation, defaults);
  if (!given)
    return defaults.search;
  result.search = *given;
  completeFields(result, defaults);
  talc_search &search = result.search;
  completeList(search.suppressed_token_count, search.suppressed_tokens, defaults.search.suppressed_token_count,
               defaults.search.suppressed_tokens);
  completeList(search.begin_suppressed_count, search.begin_suppressed, defaults.search.begin_suppressed_count,
               defaults.search.begin_suppressed);
  completeList(search.forbidden_count, search.forbidden, defaults.search.forbidden_count, defaults.search.forbidden);
  return search;
}

}  // namespace talc
