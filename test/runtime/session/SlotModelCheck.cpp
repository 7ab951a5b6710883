// SPDX-License-Identifier: Apache-2.0
// ARTIFACT: slots of a real model, a decoder or an encoder-decoder, go on with the same bits after they were truncated,
// and after they were saved and loaded into another session; those of a model with small windows also behind the end
// of their rings, of 768 tokens.
#include "test/runtime/FakeArtifact.h"
#include "test/runtime/RuntimeChecks.h"

#include <algorithm>

namespace talc::test {
namespace {

using Ids = std::vector<int32_t>;
using Logits = std::vector<float>;

// Ids that are small enough for all models of the tests.
Ids numbered(int32_t first, int32_t count) {
  Ids ids(count);
  for (int32_t i = 0; i < count; ++i)
    ids[i] = 5 + (first + 7 * i) % 90;
  return ids;
}

class ModelSession {
public:
  explicit ModelSession(const talc_model *model) {
    talc_session_options options = {};
    options.threads = options.slots = 2;
    talc_session_create(model, &options, &session, nullptr);
    talc_model_info info = {};
    talc_model_get_info(model, &info, nullptr);
    width = info.results[0].width;
    most = info.step_tokens > 0 ? info.step_tokens : INT32_MAX;
    answers = info.kind == TALC_MODEL_ENCODER_DECODER;
  }
  ~ModelSession() { talc_session_destroy(session); }
  ModelSession(const ModelSession &) = delete;
  ModelSession &operator=(const ModelSession &) = delete;

  // Begins anew, behind a source if the model has any.
  void begin(int32_t slot, int32_t seed) {
    const Ids source = numbered(seed, 19);
    talc_sequence sequence = tokens(slot, 19, source.data(), TALC_ROWS_NONE);
    talc_slot_reset(session, slot, nullptr);
    if (answers)
      expect(talc_encode(session, &sequence, 1, nullptr) == TALC_OK, "a source");
  }

  Logits add(int32_t slot, const Ids &ids) {
    talc_error error = {};
    for (int32_t done = 0, count = static_cast<int32_t>(ids.size()); done < count;) {
      int32_t part = std::min(most, count - done);
      talc_sequence sequence = tokens(slot, part, ids.data() + done);
      if (!expect(talc_evaluate(session, &sequence, 1, &error) == TALC_OK, error.text))
        return {};
      done += part;
    }
    const float *logits = talc_logits(session, 0, nullptr);
    return Logits(logits, logits + width);
  }

  Bytes save(int32_t slot) {
    size_t size = 0;
    talc_slot_save(session, slot, nullptr, 0, &size, nullptr);
    Bytes bytes(size);
    expect(talc_slot_save(session, slot, bytes.data(), size, &size, nullptr) == TALC_OK, "saving");
    return bytes;
  }

  bool load(int32_t slot, const Bytes &bytes) {
    talc_error error = {};
    return expect(talc_slot_load(session, slot, bytes.data(), bytes.size(), &error) == TALC_OK, error.text);
  }

  talc_session *session = nullptr;

private:
  int32_t width = 0, most = 0;  // most: tokens of a step
  bool answers = false;
};

bool checkLength(const talc_model *model, int32_t length) {
  ModelSession first(model), second(model);
  const Ids text = numbered(1, length), more = numbered(40, 9), other = numbered(60, 30);
  const std::string what = " after " + std::to_string(length) + " tokens";
  first.begin(0, 3);
  first.add(0, text);
  const Bytes saved = first.save(0);
  const Logits expected = first.add(0, more);
  // Loads them into a slot that holds another text with another source.
  second.begin(1, 11);
  second.add(1, other);
  bool good = second.load(1, saved) && expect(second.add(1, more) == expected, "a loaded slot" + what);
  // Tokens that are cut off leave no trace.
  first.begin(1, 3);
  first.add(1, text);
  first.add(1, other);
  good &= expect(talc_slot_truncate(first.session, 1, length, nullptr) == TALC_OK, "truncating") &&
          expect(first.save(1) == saved || length % 16 != 0, "a truncated slot's bytes" + what) &&
          expect(first.add(1, more) == expected, "a truncated slot" + what);
  return good;
}

// Tokens behind the end of the ring have taken the places of others, which a slot may lack when it is cut.
bool checkRingLength(const talc_model *model, int32_t length) {
  ModelSession first(model), second(model);
  const Ids text = numbered(1, length), more = numbered(40, 9), other = numbered(60, 30);
  const std::string what = " of a ring after " + std::to_string(length) + " tokens";
  first.add(0, text);
  const Bytes saved = first.save(0);
  const Logits expected = first.add(0, more);
  second.add(1, numbered(7, 900));
  bool good = second.load(1, saved) && expect(talc_slot_length(second.session, 1) == length, "the length" + what) &&
              expect(second.add(1, more) == expected, "a loaded slot" + what);
  first.add(1, text);
  first.add(1, other);
  return good && expect(talc_slot_truncate(first.session, 1, length, nullptr) == TALC_OK, "truncating" + what) &&
         expect(first.add(1, more) == expected, "a truncated slot" + what);
}

bool checkRing(const talc_model *model) {
  bool good = true;
  for (int32_t length : {3, 512, 767, 768, 769, 1600})
    good &= checkRingLength(model, length);
  ModelSession session(model);
  talc_error error = {};
  session.add(0, numbered(1, 1600));
  return good &&
         expect(talc_slot_truncate(session.session, 0, 100, &error) == TALC_ERROR_SHARED, "a cut too far back") &&
         expect(talc_slot_length(session.session, 0) == 1600, "a refused cut changes nothing") &&
         expect(talc_slot_truncate(session.session, 0, 0, nullptr) == TALC_OK, "nothing is kept");
}

}  // namespace

bool checkSlotsOfModel(const Arguments &arguments) {
  talc_model *model = nullptr;
  talc_error error = {};
  if (!expect(talc_model_open(arguments.at(0).c_str(), nullptr, &model, &error) == TALC_OK, error.text))
    return false;
  bool good = true;
  for (int32_t length : {1, 15, 16, 17, 32, 33})
    good &= checkLength(model, length);
  talc_model_info info = {};
  talc_model_get_info(model, &info, nullptr);
  if (info.step_tokens > 0)
    good &= checkRing(model);
  talc_model_close(model);
  return good;
}

}  // namespace talc::test
