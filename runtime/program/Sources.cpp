// SPDX-License-Identifier: Apache-2.0
// Several sources per step, whole ones.
#include "runtime/program/Sources.h"

namespace talc::program {

constexpr size_t tokensPerStep = 1024;

void Sources::add(const Prompt &prompt, int32_t slot) {
  talc_sequence source = {};
  source.slot = slot;
  source.count = static_cast<int32_t>(prompt.ids.size());
  source.ids = prompt.ids.data();
  source.types = prompt.types.empty() ? nullptr : prompt.types.data();
  waiting.push_back(source);
}

Status Sources::encode(size_t &tokens) {
  tokens = 0;
  for (size_t begin = 0, end = 0; begin < waiting.size(); begin = end) {
    size_t count = 0;
    while (end < waiting.size() && (end == begin || count + waiting[end].count <= tokensPerStep))
      count += waiting[end++].count;
    talc_error error;
    if (talc_status code = talc_encode(session, &waiting[begin], static_cast<int32_t>(end - begin), &error))
      return Status::from(code, error);
    tokens += count;
  }
  waiting.clear();
  return {};
}

}  // namespace talc::program
