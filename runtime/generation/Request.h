// SPDX-License-Identifier: Apache-2.0
// A request: a talc_request, checked, copied, and with the model's defaults filled in.
#pragma once

#include "runtime/artifact/Model.h"

#include <string>
#include <vector>

namespace talc {

struct Request {
  std::vector<int32_t> source, sourceTypes;  // of an encoder-decoder; else empty
  std::vector<int32_t> beginning;            // of the text: a prompt, or how an answer begins
  size_t prefix = 0;                         // tokens of the beginning that see each other
  bool isAnswer = false;                     // the new text answers a source; else it follows the beginning
  talc_sampling sampling = {};
  talc_search search = {};
  size_t limit = 0;        // new tokens at most; 0: the beginning is evaluated and nothing else
  bool fillsRoom = false;  // the limit comes from the model's capacity, which is less than what was asked for
  std::vector<talc_logit_bias> biases;
  size_t topCount = 0;  // likeliest tokens that each event of a token lists
  bool ignoresEnd = false, wantsLogits = false, wantsLogProbabilities = false;
  talc_text_form textForm = TALC_TEXT_STREAMED;
  std::vector<std::string> stops;  // the caller's and the model's; none of them is empty
  talc_on_event onEvent = nullptr;
  void *user = nullptr;

  bool searches() const { return search.beams > 1; }
  // The number of sequences that are evaluated at a time.
  int32_t slots() const { return search.beams; }
};

// `given` is a complete struct of this version; what it points to is not needed afterwards. Failures are those that
// talc.h lists.
Status makeRequest(const Model &model, const talc_request &given, Request &request);

}  // namespace talc
