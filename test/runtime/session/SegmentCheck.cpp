// SPDX-License-Identifier: Apache-2.0
// PATH: texts of a model with segments (segments.test) or with states (states.test) go on without end, in the same bits
// however they are cut; their slots are saved, loaded and reordered as those of other models, but forget all or
// nothing.
#include "test/runtime/RuntimeChecks.h"

#include <algorithm>

namespace talc::test {
namespace {

using Ids = std::vector<int32_t>;
using Logits = std::vector<float>;

// Evaluates texts with the model in a file.
class Texts {
public:
  explicit Texts(const std::string &path) {
    talc_session_options options = {};
    options.struct_size = sizeof(options);
    options.slots = 3;
    options.threads = 2;
    options.should_abort = [](void *user) { return *static_cast<int32_t *>(user); };
    options.abort_user = &aborts;
    opened = expect(talc_model_open(path.c_str(), nullptr, &model, &error) == TALC_OK, error.text) &&
             expect(talc_session_create(model, &options, &session, &error) == TALC_OK, error.text);
  }
  ~Texts() {
    talc_session_destroy(session);
    talc_model_close(model);
  }

  // The logits behind tokens that go to a slot, so many at a time.
  Logits evaluate(int32_t slot, const Ids &ids, size_t atATime = 1000) {
    Logits result;
    for (size_t done = 0; done < ids.size();) {
      size_t count = std::min(atATime, ids.size() - done);
      talc_sequence sequence = tokens(slot, static_cast<int32_t>(count), ids.data() + done);
      if (talc_evaluate(session, &sequence, 1, &error) != TALC_OK)
        return {};
      done += count;
      const float *row = talc_logits(session, 0, nullptr);
      result.assign(row, row + 4);
    }
    return result;
  }

  uint64_t used() const {
    talc_session_memory memory = {};
    memory.struct_size = sizeof(memory);
    talc_session_get_memory(session, &memory, nullptr, nullptr);
    return memory.state_used;
  }

  bool opened = false;
  int32_t aborts = 0;
  talc_model *model = nullptr;
  talc_session *session = nullptr;
  talc_error error = {};
};

Ids text(int32_t count) {
  Ids ids;
  for (int32_t i = 0; i < count; ++i)
    ids.push_back(i * i % 7 % 4);
  return ids;
}

bool checkFacts(Texts &texts) {
  talc_model_info info = {};
  info.struct_size = sizeof(info);
  talc_model_get_info(texts.model, &info, nullptr);
  return expect(info.segment == 2 && info.max_sequence == 1 << 30 && info.state_bytes_fixed == 48, "the facts");
}

bool checkCuts(Texts &texts) {
  Logits expected = texts.evaluate(0, text(101));
  bool good = expect(!expected.empty() && texts.evaluate(1, text(101), 1) == expected, "token by token");
  uint64_t ofTwo = texts.used();
  texts.evaluate(0, text(100));
  return expect(texts.evaluate(2, text(101), 7) == expected, "in steps of 7") &&
         expect(texts.used() == ofTwo / 2 * 3, "the same memory for any length") && good;
}

bool checkSaving(Texts &texts) {
  talc_slot_reset(texts.session, 0, nullptr);
  texts.evaluate(0, text(5));
  size_t size = 0;
  talc_slot_save(texts.session, 0, nullptr, 0, &size, &texts.error);
  std::vector<unsigned char> bytes(size);
  bool good = expect(talc_slot_save(texts.session, 0, bytes.data(), size, &size, &texts.error) == TALC_OK, "saved");
  Logits expected = texts.evaluate(0, text(6), 4);
  good &= expect(talc_slot_load(texts.session, 1, bytes.data(), size, &texts.error) == TALC_OK, texts.error.text);
  return expect(texts.evaluate(1, text(6)) == expected, "a loaded slot goes on") && good;
}

// Slot 0 holds 11 tokens; 1 and 2 get others.
bool checkReordering(Texts &texts) {
  talc_slot_reset(texts.session, 2, nullptr);
  talc_slot_reset(texts.session, 1, nullptr);
  texts.evaluate(1, text(11));
  const int32_t slots[] = {0, 1, 2}, parents[] = {1, 0, 1};
  bool good = expect(talc_reorder(texts.session, slots, parents, 3, &texts.error) == TALC_OK, texts.error.text);
  good &= expect(talc_slot_length(texts.session, 2) == 11, "the length of a copy");
  Logits one = texts.evaluate(0, {3}), other = texts.evaluate(1, {3});
  return expect(texts.evaluate(2, {3}) == one && one != other, "two of three have the same parent") && good;
}

bool checkForgetting(Texts &texts) {
  bool good = fails(talc_slot_truncate(texts.session, 0, 5, &texts.error), TALC_ERROR_KIND, texts.error, "forget");
  good &= expect(talc_slot_truncate(texts.session, 0, 12, &texts.error) == TALC_OK, texts.error.text);
  good &= expect(talc_slot_truncate(texts.session, 0, 0, &texts.error) == TALC_OK, texts.error.text);
  Logits fresh = texts.evaluate(0, text(9));
  talc_slot_truncate(texts.session, 0, 0, &texts.error);
  texts.aborts = 1;
  good &= expect(texts.evaluate(0, text(9)).empty(), "the step is aborted");
  texts.aborts = 0;
  good &= expect(talc_slot_length(texts.session, 0) == 0, "an aborted step changes nothing");
  return expect(texts.evaluate(0, text(9)) == fresh, "the step again") && good;
}

// A step of many tokens is aborted when it has begun; what it changed is put back.
bool checkAborting(Texts &texts) {
  for (int32_t slot : {0, 1})
    talc_slot_reset(texts.session, slot, nullptr);
  Logits behind = texts.evaluate(0, text(81));
  bool good = expect(texts.evaluate(1, text(80)) != behind, "a token more");
  texts.aborts = 1;
  good &= expect(texts.evaluate(1, text(90)).empty(), "the step is aborted");
  texts.aborts = 0;
  return expect(talc_slot_length(texts.session, 1) == 80, "the length as before") &&
         expect(texts.evaluate(1, {text(81).back()}) == behind, "the states as before") && good;
}

bool checkStateFacts(Texts &texts) {
  talc_model_info info = {};
  info.struct_size = sizeof(info);
  talc_model_get_info(texts.model, &info, nullptr);
  // Blocks of 32 columns: 2 rows of a convolution, 2 matrices of 3 rows.
  return expect(info.segment == 0 && info.state_bytes_per_token == 0 && info.state_bytes_fixed == (2 + 6) * 128,
                "the facts");
}

}  // namespace

bool checkStates(const Arguments &arguments) {
  Texts texts(arguments.at(0));
  return texts.opened && checkStateFacts(texts) && checkCuts(texts) && checkSaving(texts) && checkReordering(texts) &&
         checkForgetting(texts) && checkAborting(texts);
}

bool checkSegments(const Arguments &arguments) {
  Texts texts(arguments.at(0));
  return texts.opened && checkFacts(texts) && checkCuts(texts) && checkSaving(texts) && checkReordering(texts) &&
         checkForgetting(texts);
}

}  // namespace talc::test
