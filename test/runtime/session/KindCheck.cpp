// SPDX-License-Identifier: Apache-2.0
// PATH: encoders, sources, token types, prefixes, lists of rows and second results reach the code as the caller meant
// them; what cannot be meant is refused and changes nothing. PATH is where artifacts are written.
#include "test/runtime/FakeSession.h"
#include "test/runtime/RuntimeChecks.h"

#include <cstring>

namespace talc::test {
namespace {

using Ids = std::vector<int32_t>;
constexpr int32_t vocabulary = 260, hidden = 8;

FakeOptions makeOptions(artifact::ModelKind kind) {
  FakeOptions options;
  options.kind = kind;
  options.maxSequence = 64;
  options.hidden = hidden;
  options.tokenTypes = 2;
  return options;
}

// Whether the row of a result is what follows from `seen`.
bool isRow(const talc_session *session, int32_t result, int32_t index, int32_t row, const SeenTokens &seen) {
  int32_t rows = 0, width = result == 0 ? vocabulary : hidden;
  const float *data = talc_result(session, result, index, &rows);
  bool right = row < rows && fakeResult(seen, vocabulary, result, width) ==
                                 std::vector<float>(data + row * width, data + (row + 1) * width);
  return expect(right, "row " + std::to_string(row) + " of result " + std::to_string(result) + " for sequence " +
                           std::to_string(index));
}

bool hasRows(const talc_session *session, int32_t result, int32_t index, int32_t expected) {
  int32_t rows = -1;
  const float *data = talc_result(session, result, index, &rows);
  return expect(rows == expected && !data == !expected,
                "rows of result " + std::to_string(result) + ": " + std::to_string(rows));
}

bool checkEncoder(const std::string &path) {
  FakeSession fake(path, makeOptions(artifact::ModelKind::Encoder), 3);
  if (!expect(fake.session, fake.error.text))
    return false;
  const Ids ids[] = {{5, 6, 7, 8}, {9, 3, 9}, {1}}, types = {0, 0, 1, 1}, listed = {0, 2};
  talc_sequence batch[] = {tokens(2, 4, ids[0].data(), TALC_ROWS_ALL), tokens(0, 3, ids[1].data(), TALC_ROWS_LISTED),
                           tokens(1, 1, ids[2].data(), TALC_ROWS_NONE)};
  batch[0].types = types.data();
  batch[0].wanted[1].rows = TALC_ROWS_FIRST;
  batch[1].wanted[0].listed_count = 2;
  batch[1].wanted[0].listed = listed.data();
  batch[2].wanted[1].rows = TALC_ROWS_LAST;
  const Cells first = makeCells(ids[0], types), second = makeCells(ids[1]);
  bool good = true;
  for (int round = 0; round < 2; ++round) {  // nothing is left of the round before
    good &= expect(talc_evaluate(fake.session, batch, 3, &fake.error) == TALC_OK, fake.error.text);
    for (int32_t i = 0; good && i < 4; ++i)
      good &= isRow(fake.session, 0, 0, i, {{}, first, 4, static_cast<size_t>(i)});
    good = good && isRow(fake.session, 1, 0, 0, {{}, first, 4, 0}) && hasRows(fake.session, 1, 0, 1);
    good = good && isRow(fake.session, 0, 1, 0, {{}, second, 3, 0}) && isRow(fake.session, 0, 1, 1, {{}, second, 3, 2});
    good = good && hasRows(fake.session, 0, 1, 2) && hasRows(fake.session, 1, 1, 0) && hasRows(fake.session, 0, 2, 0);
    good = good && isRow(fake.session, 1, 2, 0, {{}, makeCells(ids[2]), 1, 0});
  }
  good &= hasRows(fake.session, 2, 0, 0) && hasRows(fake.session, -1, 0, 0) && hasRows(fake.session, 0, 3, 0);
  return good && expect(talc_slot_length(fake.session, 2) == 0, "an encoder keeps nothing");
}

// Encodes {3, 4} in slot 2 and {200, 7, 7} in slot 0 of a model that has 300 ids for sources.
bool encodeTwo(FakeSession &fake) {
  const Ids small = {3, 4}, large = {290, 7, 7};
  talc_sequence sources[] = {tokens(2, 2, small.data(), TALC_ROWS_NONE), tokens(0, 3, large.data(), TALC_ROWS_NONE)};
  return expect(fake.session && talc_encode(fake.session, sources, 2, &fake.error) == TALC_OK, fake.error.text);
}

// The token whose classes are those of a text of tokens 5, 6, 7, 7.
bool classifies(const std::string &path, artifact::ClassPlace place, int32_t token, size_t expected) {
  FakeOptions options = makeOptions(artifact::ModelKind::Encoder);
  options.result = artifact::OutputKind::Classes;
  options.classes = {"good", "bad"};
  options.classPlace = place;
  options.classToken = token;
  FakeSession fake(path, options, 1);
  if (!expect(fake.session, fake.error.text))
    return false;
  const Ids ids = {5, 6, 7, 7};
  const Cells seen = makeCells(ids);
  talc_sequence sequence = tokens(0, 4, ids.data(), TALC_ROWS_CLASSES);
  int32_t rows = 0;
  bool good = expect(talc_evaluate(fake.session, &sequence, 1, &fake.error) == TALC_OK, fake.error.text);
  const float *data = good ? talc_result(fake.session, 0, 0, &rows) : nullptr;
  good = good && expect(rows == 1 &&
                            std::vector<float>(data, data + 2) == fakeResult({{}, seen, 4, expected}, vocabulary, 0, 2),
                        "classes of token " + std::to_string(expected));
  sequence.wanted[0].rows = TALC_ROWS_NONE;
  sequence.wanted[1].rows = TALC_ROWS_CLASSES;
  good &= fails(talc_evaluate(fake.session, &sequence, 1, &fake.error), TALC_ERROR_ARGUMENT, fake.error,
                "result 1, which has no classes of texts");
  sequence.wanted[0].rows = TALC_ROWS_FIRST;
  sequence.wanted[1].rows = TALC_ROWS_NONE;
  if (place != artifact::ClassPlace::First)
    good &= fails(talc_evaluate(fake.session, &sequence, 1, &fake.error), TALC_ERROR_ARGUMENT, fake.error,
                  "ask for TALC_ROWS_CLASSES");
  return good;
}

bool checkClasses(const std::string &path) {
  using artifact::ClassPlace;
  bool good = classifies(path, ClassPlace::First, -1, 0) && classifies(path, ClassPlace::LastExcept, -1, 3);
  good = good && classifies(path, ClassPlace::LastExcept, 7, 1) && classifies(path, ClassPlace::LastOf, 6, 1);
  return good && classifies(path, ClassPlace::LastOf, 9, 3);
}

bool checkSources(const std::string &path) {
  FakeOptions options = makeOptions(artifact::ModelKind::EncoderDecoder);
  options.sourceVocabulary = 300;
  FakeSession fake(path, options, 3);
  if (!encodeTwo(fake) || !hasRows(fake.session, 0, 0, 0))
    return false;
  const Cells small = makeCells({3, 4}), large = makeCells({290, 7, 7});
  const Ids text = {9, 8, 7};
  bool good = true;
  for (size_t i = 0; i < text.size(); ++i) {
    talc_sequence batch[] = {tokens(0, 1, &text[i]), tokens(2, 1, &text[i])};
    batch[1].wanted[1].rows = TALC_ROWS_FIRST;
    good &= expect(talc_evaluate(fake.session, batch, 2, &fake.error) == TALC_OK, fake.error.text);
    good = good && isRow(fake.session, 0, 0, 0, {large, makeCells(text), i + 1, i});
    good = good && isRow(fake.session, 1, 1, 0, {small, makeCells(text), i + 1, i});
  }
  talc_session_memory memory = {};
  talc_session_get_memory(fake.session, &memory, nullptr, nullptr);
  good &= expect(memory.state_used == 4 * 16 * 4, "state of two texts and two sources");
  // A new source takes the place of the old one, and of its text; the other slot goes on.
  talc_sequence again = tokens(0, 2, text.data(), TALC_ROWS_NONE),
                next[] = {tokens(0, 2, text.data()), tokens(2, 1, &text[0])};
  good &= expect(talc_encode(fake.session, &again, 1, &fake.error) == TALC_OK &&
                     talc_slot_length(fake.session, 0) == 0 && talc_slot_length(fake.session, 2) == 3,
                 "a second source");
  good &= expect(talc_evaluate(fake.session, next, 2, &fake.error) == TALC_OK, fake.error.text);
  good = good && isRow(fake.session, 0, 0, 0, {makeCells({9, 8}), makeCells(text), 2, 1});
  return good && isRow(fake.session, 0, 1, 0, {small, makeCells({9, 8, 7, 9}), 4, 3});
}

bool checkSourceErrors(const std::string &path) {
  FakeSession fake(path, makeOptions(artifact::ModelKind::EncoderDecoder), 3),
      decoder(path, makeOptions(artifact::ModelKind::Decoder), 1);
  const Ids ids = {3, 4, 5}, wrong = {259, 260}, manyIds(65, 1);
  talc_sequence good = tokens(0, 3, ids.data(), TALC_ROWS_NONE), text = tokens(0, 3, ids.data());
  talc_error &e = fake.error;
  if (!expect(fake.session && decoder.session, e.text))
    return false;
  bool passed = fails(talc_evaluate(fake.session, &text, 1, &e), TALC_ERROR_SOURCE, e, "slot 0, which has no source");
  passed &= fails(talc_encode(decoder.session, &good, 1, &e), TALC_ERROR_KIND, e, "but this is a decoder");
  passed &= fails(talc_encode(fake.session, &good, 0, &e), TALC_ERROR_ARGUMENT, e, "below 1");
  passed &= expect(talc_encode(fake.session, &good, 1, &e) == TALC_OK, e.text) &&
            expect(talc_evaluate(fake.session, &text, 1, &e) == TALC_OK, e.text);
  auto refused = [&](talc_sequence second, talc_status status, const char *part) {
    talc_sequence batch[] = {good, second};  // all or nothing
    return fails(talc_encode(fake.session, batch, 2, &e), status, e, part) &&
           expect(talc_slot_length(fake.session, 0) == 3, "a failed talc_encode changed a slot");
  };
  passed &= refused(tokens(1, 2, wrong.data(), TALC_ROWS_NONE), TALC_ERROR_TOKEN, "source 1: token 1 is 260");
  passed &= refused(tokens(1, 65, manyIds.data(), TALC_ROWS_NONE), TALC_ERROR_STATE_FULL, "source 1 would have 65");
  passed &= refused(tokens(1, 1, ids.data()), TALC_ERROR_ARGUMENT, "source 1 asks for result 0");
  passed &= refused(tokens(0, 1, ids.data(), TALC_ROWS_NONE), TALC_ERROR_BATCH, "uses already");
  passed &= refused(tokens(3, 1, ids.data(), TALC_ROWS_NONE), TALC_ERROR_BATCH, "slots 0 to 2");
  talc_sequence prefixed = tokens(1, 3, ids.data(), TALC_ROWS_NONE);
  prefixed.prefix = 1;
  return passed && refused(prefixed, TALC_ERROR_KIND, "sources have none");
}

bool checkPrefix(const std::string &path) {
  FakeOptions options = makeOptions(artifact::ModelKind::Decoder);
  options.prefix = true;
  FakeSession fake(path, options, 2);
  if (!expect(fake.session, fake.error.text))
    return false;
  const Ids ids = {5, 6, 7, 8, 9};
  const Cells cells = makeCells(ids);
  talc_sequence batch[] = {tokens(1, 1, ids.data()), tokens(0, 4, ids.data(), TALC_ROWS_ALL)};
  batch[1].prefix = 3;
  bool good = expect(talc_evaluate(fake.session, batch, 2, &fake.error) == TALC_OK, fake.error.text);
  for (size_t i = 0; good && i < 4; ++i)
    good &= isRow(fake.session, 0, 1, static_cast<int32_t>(i), {{}, cells, std::max<size_t>(i + 1, 3), i});
  talc_sequence next = tokens(0, 1, &ids[4]);
  good &= expect(talc_evaluate(fake.session, &next, 1, &fake.error) == TALC_OK, fake.error.text);
  good = good && isRow(fake.session, 0, 0, 0, {{}, cells, 5, 4});
  next.prefix = 1;
  talc_error &e = fake.error;
  good &= fails(talc_evaluate(fake.session, &next, 1, &e), TALC_ERROR_BATCH, e, "slot 0 holds 5 tokens");
  talc_slot_reset(fake.session, 0, nullptr);
  for (int32_t prefix : {2, -1}) {
    next.prefix = prefix;
    good &= fails(talc_evaluate(fake.session, &next, 1, &e), TALC_ERROR_BATCH, e, "expected 0 to 1");
  }
  return good && expect(talc_slot_length(fake.session, 0) == 0, "a failed step changed a sequence");
}

bool checkFieldErrors(const std::string &path) {
  FakeOptions options = makeOptions(artifact::ModelKind::Decoder);
  options.hidden = 0;
  FakeSession fake(path, options, 1);
  if (!expect(fake.session, fake.error.text))
    return false;
  const Ids ids = {5, 6, 7}, types = {0, 1, 2}, negative = {0, -1, 0};
  talc_error &e = fake.error;
  auto refused = [&](auto change, talc_status status, const char *part) {
    talc_sequence sequence = tokens(0, 3, ids.data());
    change(sequence);
    return fails(talc_evaluate(fake.session, &sequence, 1, &e), status, e, part);
  };
  auto lists = [&](const Ids &rows, const char *part) {
    return refused(
        [&](talc_sequence &s) {
          s.wanted[0] = {TALC_ROWS_LISTED, static_cast<int32_t>(rows.size()), rows.data()};
        },
        TALC_ERROR_ARGUMENT, part);
  };
  bool good = refused([&](talc_sequence &s) { s.types = types.data(); }, TALC_ERROR_TOKEN,
                      "token 2 has the type 2, outside 0 to 1");
  good &= refused([&](talc_sequence &s) { s.types = negative.data(); }, TALC_ERROR_TOKEN, "token 1 has the type -1");
  good &= refused([](talc_sequence &s) { s.prefix = 1; }, TALC_ERROR_KIND, "the model uses none");
  good &= refused([](talc_sequence &s) { s.wanted[1].rows = TALC_ROWS_FIRST; }, TALC_ERROR_ARGUMENT,
                  "there is only result 0");
  good &= refused([](talc_sequence &s) { memset(&s.wanted[0].rows, -1, sizeof(talc_rows)); }, TALC_ERROR_ARGUMENT,
                  "rows -1");
  good &= refused(
      [](talc_sequence &s) {
        s.wanted[0] = {TALC_ROWS_LISTED, 1, nullptr};
      },
      TALC_ERROR_ARGUMENT, "lists no rows");
  good &= lists({}, "lists no rows") && lists({0, 3}, "lists the row 3 of result 0, expected 1 to 2");
  good &= lists({-1}, "the row -1") && lists({1, 1}, "the row 1 of result 0, expected 2 to 2") &&
          lists({2, 0}, "the row 0");
  return good && expect(talc_slot_length(fake.session, 0) == 0, "a failed step changed a sequence");
}

bool checkInfo(const std::string &path) {
  FakeOptions options = makeOptions(artifact::ModelKind::Encoder);
  options.result = artifact::OutputKind::Classes;
  options.classes = {"good", "", "schön"};
  options.suppressed = {7, 8};
  options.maskToken = 4;
  options.pooling = artifact::Pooling::Mean;
  FakeSession fake(path, options, 1);
  talc_model_info info = {};
  if (!expect(talc_model_get_info(fake.model, &info, &fake.error) == TALC_OK, fake.error.text))
    return false;
  bool good =
      expect(info.kind == TALC_MODEL_ENCODER && info.result_count == 2 && info.vocabulary_size == vocabulary, "kind");
  good &= expect(info.results[0].kind == TALC_RESULT_CLASSES && info.results[0].width == 3, "first result");
  good &= expect(info.results[1].kind == TALC_RESULT_HIDDEN && info.results[1].width == hidden, "second result");
  good &= expect(info.token_types == 2 && info.mask_token == 4 && info.pooling == TALC_POOLING_MEAN, "tokens");
  good &= expect(info.search.suppressed_token_count == 2 && info.search.suppressed_tokens[1] == 8, "suppressed tokens");
  good &= expect(info.search.beams == 1 && info.search.start_token == -1 && info.search.length_penalty == 1, "search");
  return good && expect(info.label_count == 3 && !strcmp(info.labels[0], "good") && !*info.labels[1] &&
                            !strcmp(info.labels[2], "schön"),
                        "labels");
}

}  // namespace

bool checkKinds(const Arguments &arguments) {
  const std::string &path = arguments.at(0);
  bool good = checkEncoder(path) && checkSources(path) && checkSourceErrors(path);
  return good && checkClasses(path) && checkPrefix(path) && checkFieldErrors(path) && checkInfo(path);
}

}  // namespace talc::test
