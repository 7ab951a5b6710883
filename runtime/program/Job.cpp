// SPDX-License-Identifier: Apache-2.0
// What follows from the options and the kind of the model.
#include "runtime/program/Job.h"

#include <algorithm>

namespace talc::program {

std::string Job::placeOf(size_t input) const {
  return (fromFile ? shownName(options.inputFile) + ": line " : "prompt ") + std::to_string(input + 1);
}

std::vector<int32_t> Job::beginning(const Prompt &prompt) const {
  if (!translates())
    return prompt.ids;
  return prompt.decoderIds.empty() ? std::vector<int32_t>{info.search.start_token} : prompt.decoderIds;
}

size_t Job::prefixLength(size_t promptLength) const {
  if (!info.uses_prefix)
    return 0;
  return options.prefix ? std::min<size_t>(*options.prefix, promptLength) : promptLength;
}

std::vector<size_t> inputLengths(const std::vector<Prompt> &inputs) {
  std::vector<size_t> lengths;
  for (const Prompt &input : inputs)
    lengths.push_back(input.ids.size());
  return lengths;
}

}  // namespace talc::program
