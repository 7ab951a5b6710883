// SPDX-License-Identifier: Apache-2.0
// ARTIFACT: whichever allocation the system refuses, a function says so, and works when it is called again.
#include "test/runtime/Allocations.h"
#include "test/runtime/RuntimeChecks.h"

#include <cstring>

namespace talc::test {
namespace {

// Calls functions of talc.h one after the other; each may fail once.
class Scenario {
public:
  explicit Scenario(const std::string &path) : path(path) {}
  ~Scenario() {
    talc_text_stream_destroy(stream);
    talc_sampler_destroy(sampler);
    talc_session_destroy(session);
    talc_model_close(model);
  }

  // The text it makes; empty after a failure that is none of memory.
  std::string run() {
    talc_session_options options = {sizeof(talc_session_options), 2, 8};
    talc_sampling sampling = {0.8f, 40, 0.9f, 0.01f, 1.1f, 7};
    good = attempt([&] { return talc_model_open(path.c_str(), nullptr, &model, &error); }) &&
           attempt([&] { return talc_session_create(model, &options, &session, &error); }) &&
           attempt([&] { return talc_sampler_create(session, &sampling, nullptr, 0, &sampler, &error); });
    int32_t ids[16], count = 0;
    const std::string text = "the beginning";
    good = good && attempt([&] { return talc_tokenize(model, text.data(), text.size(), ids, 16, &count, &error); }) &&
           attempt([&] { return talc_text_stream_create(model, ids, count, &stream, &error); });
    generate(ids, count);
    return good ? result : std::string();
  }

  talc_error error = {};

private:
  template <typename Call> bool attempt(Call call) {
    talc_status status = call();
    bool isReported = status == TALC_ERROR_MEMORY || strstr(error.text, "Cannot allocate memory");
    if (status != TALC_OK && isReported && refusedAllocation())
      status = call();
    return status == TALC_OK;
  }

  void generate(const int32_t *ids, int32_t count) {
    int32_t id = 0;
    for (int32_t step = 0; good && step < 4; ++step) {
      talc_sequence sequence = step == 0 ? tokens(0, count, ids) : tokens(0, 1, &id);
      const char *piece = nullptr;
      size_t size = 0;
      good = attempt([&] { return talc_evaluate(session, &sequence, 1, &error); }) &&
             attempt([&] { return talc_sample(sampler, talc_logits(session, 0, nullptr), &id, &error); }) &&
             attempt([&] { return talc_text_stream_push(stream, id, &piece, &size, &error); });
      if (good)
        result.append(std::to_string(id) + " ").append(piece, size);
    }
  }

  const std::string &path;
  bool good = true;
  std::string result;
  talc_model *model = nullptr;
  talc_session *session = nullptr;
  talc_sampler *sampler = nullptr;
  talc_text_stream *stream = nullptr;
};

}  // namespace

bool checkRefusals(const Arguments &arguments) {
  const std::string expected = Scenario(arguments.at(0)).run();
  bool good = expect(!expected.empty(), "the scenario itself");
  for (long after = 0, refused = 1; good && refused; ++after) {
    Scenario scenario(arguments.at(0));
    refuseAllocation(after);
    std::string output = scenario.run();
    refused = refusedAllocation();
    refuseAllocation(-2);
    good = expect(output == expected, "allocation " + std::to_string(after) + " refused: '" + output + "', expected '" +
                                          expected + "': " + scenario.error.text);
  }
  return good;
}

}  // namespace talc::test
