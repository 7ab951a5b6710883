// SPDX-License-Identifier: Apache-2.0
// Tells two tales at the same time, then says how likely each word of a sentence was.
//
//   talc compile examples/models/tales-gpt2 -o tales
//   c++ -std=c++17 examples/cpp/Tales.cpp -ltalc -o tell-tales
//   ./tell-tales tales "Once there was" "It was raining hard"
#include "talc.hpp"

#include <cmath>
#include <cstdio>
#include <map>

namespace api = talc::api;

static void tell(const api::Model &model, const std::vector<std::string> &beginnings) {
  talc_session_options options = {};
  options.slots = static_cast<int32_t>(beginnings.size());
  api::Generator generator(model, options);
  talc_request request = {};
  request.new_tokens = 30;
  std::map<std::string, std::string> texts;
  for (const std::string &beginning : beginnings)
    generator.submit(
        beginning,
        [&texts, beginning](const talc_event &event) {
          texts[beginning].append(event.text, event.text_size);
          return true;
        },
        request);
  generator.run();
  for (const std::string &beginning : beginnings)
    printf("%s%s\n", beginning.c_str(), texts[beginning].c_str());
}

static double logProbability(const float *logits, int32_t width, int32_t id) {
  double sum = 0;
  for (int32_t i = 0; i < width; ++i)
    sum += std::exp(logits[i] - logits[id]);
  return -std::log(sum);
}

static void score(const api::Model &model, const std::string &text) {
  api::Session session(model);
  api::Ids ids = model.tokenize(text);
  session.evaluate(ids, TALC_ROWS_ALL);
  api::Rows logits = session.result();
  for (size_t i = 1; i < ids.size(); ++i)
    printf("%6.2f %s\n", logProbability(logits[static_cast<int32_t>(i) - 1], logits.width, ids[i]),
           model.detokenize({ids[i]}).c_str());
}

int main(int count, char **arguments) {
  if (count < 3) {
    fprintf(stderr, "usage: tell-tales MODEL BEGINNING...\n");
    return 2;
  }
  try {
    api::Model model(arguments[1]);
    tell(model, {arguments + 2, arguments + count});
    score(model, arguments[2]);
  } catch (const std::exception &error) {
    fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
