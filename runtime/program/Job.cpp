// SPDX-License-Identifier: Apache-2.0
// Properties of a run that follow from the options and the kind of the model.
#include "runtime/program/Job.h"

#include "runtime/program/output/JsonText.h"

namespace talc::program {

std::string Job::inputName(size_t input) const {
  std::string place = fromFile ? shownName(options.inputFile) + ": line" : itemName(info);
  return place + " " + std::to_string(input + 1);
}

std::vector<int32_t> Job::beginning(const Prompt &prompt) const {
  if (!translates())
    return prompt.ids;
  return prompt.decoderIds.empty() ? std::vector<int32_t>{info.search.start_token} : prompt.decoderIds;
}

std::string Job::jsonHead(size_t input) const {
  std::string json = "{\"index\":" + std::to_string(input);
  if (options.usesIds())
    return json;
  json += ",\"input\":";
  appendString(json, inputs[input].text);
  return json;
}

Status Job::fetch(bool waits) const {
  do {
    if (Status status = inputs.fetch(waits); status.failed())
      return status;
    if (Status status = finishEmpty(); status.failed())
      return status;
  } while (waits && !inputs.hasNext() && !inputs.ended());
  return {};
}

Status Job::finishEmpty() const {
  while (std::optional<size_t> input = inputs.takeEmpty()) {
    if (options.json) {
      std::string json = jsonHead(*input);
      if (const std::string &error = inputs[*input].error; !error.empty()) {
        json += ",\"error\":";
        appendString(json, error);
      }
      if (Status status = printer.append(*input, json + "}"); status.failed())
        return status;
    }
    if (Status status = printer.finish(*input); status.failed())
      return status;
  }
  return {};
}

}  // namespace talc::program
