// SPDX-License-Identifier: Apache-2.0
// Copies settings from the artifact to the public structs, as the table says.
#include "runtime/sampling/ModelSettings.h"

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

}  // namespace talc
