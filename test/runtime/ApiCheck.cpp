// SPDX-License-Identifier: Apache-2.0
// ARTIFACT: the errors of talc.h, and that results depend on neither batch, division into steps, slot nor threads.
// The artifact has 260 ids, 64 tokens per sequence, and a tokenizer.
#include "runtime/talc.h"
#include "test/runtime/RuntimeChecks.h"

#include <cstring>
#include <vector>

namespace talc::test {
namespace {

using Logits = std::vector<float>;
constexpr int32_t vocabulary = 260;

bool checkBatchErrors(talc_session *session) {
  const int32_t ids[] = {1, 2, 3}, wrong[] = {1, 260}, negative[] = {-1};
  std::vector<int32_t> manyIds(65, 7);
  talc_error e = {};
  auto evaluate = [&](std::vector<talc_sequence> batch) {
    return talc_evaluate(session, batch.data(), static_cast<int32_t>(batch.size()), &e);
  };
  bool good =
      fails(evaluate({tokens(0, 3, ids), tokens(0, 1, ids)}), TALC_ERROR_BATCH, e, "slot 0, which the batch uses");
  good &= fails(evaluate({tokens(0, 0, ids)}), TALC_ERROR_BATCH, e, "has no tokens");
  good &= fails(evaluate({tokens(0, 3, nullptr)}), TALC_ERROR_BATCH, e, "has no tokens");
  good &= fails(evaluate({tokens(9, 3, ids)}), TALC_ERROR_BATCH, e, "slots 0 to 3");
  good &= fails(evaluate({tokens(-1, 3, ids)}), TALC_ERROR_BATCH, e, "slots 0 to 3");
  good &=
      fails(evaluate({tokens(0, 2, wrong)}), TALC_ERROR_TOKEN, e, "token 1 is 260, outside the vocabulary 0 to 259");
  good &= fails(evaluate({tokens(0, 1, negative)}), TALC_ERROR_TOKEN, e, "token 0 is -1");
  good &= fails(evaluate({tokens(0, 65, manyIds.data())}), TALC_ERROR_STATE_FULL, e, "would have 65 tokens");
  good &= fails(evaluate({tokens(0, 3, ids, static_cast<talc_rows>(6))}), TALC_ERROR_ARGUMENT, e, "rows 6 of result 0");
  good &= fails(talc_evaluate(session, nullptr, 1, &e), TALC_ERROR_ARGUMENT, e, "NULL");
  good &= fails(talc_slot_reset(session, 4, &e), TALC_ERROR_BATCH, e, "slots 0 to 3");
  int32_t rows = 5;
  good &= expect(!talc_logits(session, 0, &rows) && rows == 0, "logits after a failed step");
  return good && expect(talc_slot_length(session, 0) == 0, "a failed step changed a sequence");
}

bool checkOtherErrors(const talc_model *model) {
  talc_error e = {};
  talc_session *session = nullptr;
  talc_session_options options = {sizeof(talc_session_options), -1, 1};
  bool good = fails(talc_session_create(model, &options, &session, &e), TALC_ERROR_ARGUMENT, e, "threads");
  options = {sizeof(talc_session_options), 1, 100000};
  good &= fails(talc_session_create(model, &options, &session, &e), TALC_ERROR_ARGUMENT, e, "slots");
  talc_model *none = nullptr;
  good &= fails(talc_model_open("/nonexistent", nullptr, &none, &e), TALC_ERROR_FILE, e, "/nonexistent");
  good &= fails(talc_model_open("/", nullptr, &none, &e), TALC_ERROR_FILE, e, "regular file");
  int32_t ids[4], count = 0;
  good &= fails(talc_tokenize(model, "abcdef", 6, ids, 4, &count, &e), TALC_ERROR_CAPACITY, e, "6 are needed");
  good &= expect(count == 6, "the needed capacity");
  good &= fails(talc_tokenize(model, "ab\xff", 3, ids, 4, &count, &e), TALC_ERROR_TEXT, e, "byte 2 (0xff)");
  good &= expect(talc_tokenize(model, "ab", 2, ids, 4, nullptr, nullptr) == TALC_ERROR_ARGUMENT, "NULL error");
  return good;
}

// Logits of all tokens of `ids`, evaluated in `slot` in steps of `step` tokens.
Logits evaluateAlone(talc_session *session, int32_t slot, const std::vector<int32_t> &ids, size_t step) {
  Logits result;
  for (size_t i = 0; i < ids.size(); i += step) {
    auto count = static_cast<int32_t>(std::min(step, ids.size() - i));
    talc_sequence sequence = tokens(slot, count, ids.data() + i, TALC_ROWS_ALL);
    if (talc_evaluate(session, &sequence, 1, nullptr) != TALC_OK)
      return {};
    int32_t rows = 0;
    const float *logits = talc_logits(session, 0, &rows);
    result.insert(result.end(), logits, logits + size_t(rows) * vocabulary);
  }
  talc_slot_reset(session, slot, nullptr);
  return result;
}

bool checkIndependence(talc_session *session) {
  const std::vector<int32_t> first = {5, 7, 9, 200, 3, 1, 8}, second = {100, 5};
  Logits alone = evaluateAlone(session, 0, first, first.size()), other = evaluateAlone(session, 3, second, 1);
  bool good = expect(alone.size() == first.size() * vocabulary && other.size() == 2 * vocabulary, "number of logits");
  for (size_t step : {1, 2, 3, 6})
    good &= expect(evaluateAlone(session, 1, first, step) == alone, "steps of " + std::to_string(step));
  talc_sequence batch[] = {tokens(2, 2, second.data()), tokens(1, 3, first.data(), TALC_ROWS_NONE),
                           tokens(0, 7, first.data(), TALC_ROWS_ALL)};
  good &= expect(talc_evaluate(session, batch, 3, nullptr) == TALC_OK, "ragged batch");
  int32_t rows[3];
  const float *logits[3];
  for (int i = 0; i < 3; ++i)
    logits[i] = talc_logits(session, i, &rows[i]);
  good &= expect(rows[0] == 1 && rows[1] == 0 && rows[2] == 7 && !logits[1], "rows of a ragged batch");
  good &= expect(memcmp(logits[0], &other[vocabulary], vocabulary * sizeof(float)) == 0, "last row in a batch");
  good &= expect(memcmp(logits[2], alone.data(), alone.size() * sizeof(float)) == 0, "all rows in a batch");
  good &= expect(talc_slot_length(session, 1) == 3, "length of a slot");
  talc_session_memory memory = {};
  talc_session_get_memory(session, &memory, nullptr, nullptr);
  good &= expect(memory.state_used == 3 * 16 * 4 && memory.arena == 12 * 8 + 64 + 3 * 64, "memory");
  talc_sequence silent = tokens(2, 1, first.data(), TALC_ROWS_NONE);
  good &= expect(talc_evaluate(session, &silent, 1, nullptr) == TALC_OK && !talc_logits(session, 0, rows) && !rows[0],
                 "one token without logits");
  for (int slot = 0; slot < 4; ++slot)
    talc_slot_reset(session, slot, nullptr);
  return good;
}

// All tokens of the model are bytes. What a run of them means is known at its end: text, or U+FFFD for each.
std::string streamText(const talc_model *model, const std::vector<int32_t> &ids) {
  talc_text_stream *stream = nullptr;
  const int32_t prompt[] = {'a', 0xc3};
  talc_text_stream_create(model, prompt, 2, &stream, nullptr);
  std::string text;
  const char *part;
  size_t size;
  for (int32_t id : ids)
    if (talc_text_stream_push(stream, id, &part, &size, nullptr) == TALC_OK)
      text += "[" + std::string(part, size) + "]";
  talc_text_stream_finish(stream, &part, &size, nullptr);
  text += "[" + std::string(part, size) + "]";
  talc_text_stream_destroy(stream);
  return text;
}

bool checkText(const talc_model *model) {
  const std::string text = streamText(model, {0xa9, 0xe2, 0x82, 0xac, 'x'});
  const std::string damaged = streamText(model, {0xa9, 0xe2, 0x82, 0xac, 'x', 0xf0});
  bool isText = expect(text == "[][][][][][\u00e9\u20acx]", "streamed text " + text);
  return expect(damaged == "[][][][][][][\ufffd\ufffd\ufffd\ufffd\ufffd\ufffd\ufffd]", "streamed bytes " + damaged) &&
         isText;
}

}  // namespace

bool checkApi(const Arguments &arguments) {
  talc_model *model = nullptr;
  talc_error error = {};
  if (talc_model_open(arguments.at(0).c_str(), nullptr, &model, &error) != TALC_OK)
    return expect(false, error.text);
  talc_session *session = nullptr;
  talc_session_options options = {sizeof(talc_session_options), 3, 4};
  bool good = expect(talc_session_create(model, &options, &session, &error) == TALC_OK, error.text);
  talc_session_memory memory = {};
  int32_t threads = 0;
  good = good && talc_session_get_memory(session, &memory, &threads, &error) == TALC_OK;
  good = good && expect(threads == 3, "3 threads were wanted; TALC_MAX_THREADS lets them be started");
  good = good && checkBatchErrors(session) && checkOtherErrors(model) && checkIndependence(session) && checkText(model);
  talc_session_destroy(session);
  talc_model_close(model);
  return good;
}

}  // namespace talc::test
