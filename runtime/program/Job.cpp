// SPDX-License-Identifier: Apache-2.0
// What follows from the options and the kind of the model.
#include "runtime/program/Job.h"

namespace talc::program {

std::string Job::placeOf(size_t input) const {
  const char *item = info.kind == TALC_MODEL_ENCODER ? "text " : "prompt ";
  return (fromFile ? shownName(options.inputFile) + ": line " : item) + std::to_string(input + 1);
}

std::vector<int32_t> Job::beginning(const Prompt &prompt) const {
  if (!translates())
    return prompt.ids;
  return prompt.decoderIds.empty() ? std::vector<int32_t>{info.search.start_token} : prompt.decoderIds;
}

}  // namespace talc::program
