// SPDX-License-Identifier: Apache-2.0
// scores PATH: log-probabilities of candidates are those of rows of logits; what cannot be meant is refused and changes
// nothing. PATH is where artifacts are written.
// scores-of-parts MODEL: a model whose words lie in clusters computes those of candidates alone, and the bits that its
// whole rows have.
#include "test/runtime/FakeSession.h"
#include "test/runtime/RuntimeChecks.h"

#include <cmath>
#include <cstring>
#include <numeric>

namespace talc::test {
namespace {

using Ids = std::vector<int32_t>;
using Numbers = std::vector<float>;

// Candidates of one sequence, and room for their numbers.
struct Candidates {
  Ids ids, rows;  // no rows: each behind a token of its own
  Numbers numbers;

  talc_candidates view() {
    numbers.assign(ids.size(), 7);
    talc_candidates candidates = {};
    candidates.count = static_cast<int32_t>(ids.size());
    candidates.ids = ids.data();
    candidates.rows = rows.empty() ? nullptr : rows.data();
    candidates.log_probabilities = numbers.data();
    return candidates;
  }
};

// Every word behind each of the rows.
Candidates allWords(const Ids &rows, int32_t vocabulary) {
  Candidates all;
  for (int32_t row : rows)
    for (int32_t word = 0; word < vocabulary; ++word) {
      all.ids.push_back(word);
      all.rows.push_back(row);
    }
  return all;
}

talc_sequence unasked(int32_t slot, const Ids &ids) {
  return tokens(slot, static_cast<int32_t>(ids.size()), ids.data(), TALC_ROWS_NONE);
}

bool score(FakeSession &model, const talc_sequence &sequence, Candidates &candidates) {
  talc_candidates view = candidates.view();
  return expect(talc_score(model.session, &sequence, &view, 1, &model.error) == TALC_OK, model.error.text);
}

Numbers wholeRows(FakeSession &model, int32_t slot, const Ids &ids, int32_t vocabulary) {
  talc_sequence sequence = tokens(slot, static_cast<int32_t>(ids.size()), ids.data(), TALC_ROWS_ALL);
  if (!expect(talc_evaluate(model.session, &sequence, 1, &model.error) == TALC_OK, model.error.text))
    return {};
  const float *rows = talc_logits(model.session, 0, nullptr);
  return Numbers(rows, rows + ids.size() * vocabulary);
}

double logSoftmax(const float *row, int32_t vocabulary, int32_t id) {
  double sum = 0;
  for (int32_t i = 0; i < vocabulary; ++i)
    sum += std::exp(double(row[i]) - row[id]);
  return -std::log(sum);
}

// ---- Models whose logits are one result

bool checkKind(const std::string &path, artifact::ModelKind kind) {
  constexpr int32_t vocabulary = 260;
  FakeOptions options;
  options.kind = kind;
  options.hidden = 8;
  FakeSession model(path, options, 2);
  const Ids ids = {5, 6, 200, 7}, source = {3, 4};
  if (!expect(model.session, model.error.text))
    return false;
  if (kind == artifact::ModelKind::EncoderDecoder)
    for (int32_t slot : {0, 1}) {
      talc_sequence sequence = unasked(slot, source);
      talc_encode(model.session, &sequence, 1, nullptr);
    }
  Numbers whole = wholeRows(model, 0, ids, vocabulary);
  Candidates all = allWords({1, 3}, vocabulary);
  bool good = !whole.empty() && score(model, unasked(1, ids), all);
  for (size_t i = 0; good && i < all.ids.size(); ++i) {
    double expected = logSoftmax(&whole[all.rows[i] * vocabulary], vocabulary, all.ids[i]);
    good &= expect(std::fabs(all.numbers[i] - expected) < 1e-6 * (1 + std::fabs(expected)),
                   "candidate " + std::to_string(i) + " has " + std::to_string(all.numbers[i]));
  }
  int32_t rows = 1;
  good &= expect(!talc_result(model.session, 0, 0, &rows) && rows == 0, "talc_score leaves no rows");
  return good && expect(talc_slot_length(model.session, 1) == (kind == artifact::ModelKind::Encoder ? 0 : 4),
                        "talc_score appends tokens");
}

bool checkHidden(const std::string &path) {
  FakeOptions options;
  options.kind = artifact::ModelKind::Encoder;
  options.result = artifact::OutputKind::Hidden;
  FakeSession model(path, options, 1);
  const Ids ids = {1};
  Candidates one = {{1}, {}, {}};
  talc_candidates view = one.view();
  talc_sequence sequence = unasked(0, ids);
  return expect(model.session, model.error.text) &&
         fails(talc_score(model.session, &sequence, &view, 1, &model.error), TALC_ERROR_KIND, model.error,
               "talc_score needs a model with logits");
}

bool checkRefused(const std::string &path) {
  FakeSession model(path, FakeOptions(), 1);
  if (!expect(model.session, model.error.text))
    return false;
  const Ids ids = {5, 6, 7};
  talc_error &e = model.error;
  Candidates candidates = {{8, 259}, {0, 2}, {}};
  auto refused = [&](auto change, talc_status status, const char *part) {
    talc_sequence sequence = unasked(0, ids);
    talc_candidates view = candidates.view();
    change(sequence, view);
    return fails(talc_score(model.session, &sequence, &view, 1, &e), status, e, part) &&
           expect(talc_slot_length(model.session, 0) == 0 && candidates.numbers == Numbers{7, 7},
                  "a failed talc_score changed something");
  };
  auto inRows = [&](const Ids &rows, const char *part) {
    return refused([&](auto &, auto &c) { c.rows = rows.data(); }, TALC_ERROR_ARGUMENT, part);
  };
  const Ids outside = {8, 260}, negative = {-1, 8};
  talc_sequence sequence = unasked(0, ids);
  talc_candidates view = candidates.view();
  bool good = fails(talc_score(nullptr, &sequence, &view, 1, &e), TALC_ERROR_ARGUMENT, e, "NULL");
  good &= fails(talc_score(model.session, nullptr, &view, 1, &e), TALC_ERROR_ARGUMENT, e, "NULL");
  good &= fails(talc_score(model.session, &sequence, nullptr, 1, &e), TALC_ERROR_ARGUMENT, e, "NULL");
  good &= fails(talc_score(model.session, &sequence, &view, 0, &e), TALC_ERROR_ARGUMENT, e, "below 1");
  good &= inRows({0, 3}, "candidate 1 of sequence 0 is in the row 3, expected 0 to 2");
  good &= inRows({2, 1}, "candidate 1 of sequence 0 is in the row 1, expected 2 to 2") && inRows({-1, 0}, "the row -1");
  good &= refused([](auto &, auto &c) { c.count = -1; }, TALC_ERROR_ARGUMENT, "sequence 0 has -1 candidates");
  good &= refused([](auto &, auto &c) { c.ids = nullptr; }, TALC_ERROR_ARGUMENT, "not NULL");
  good &= refused([](auto &, auto &c) { c.log_probabilities = nullptr; }, TALC_ERROR_ARGUMENT, "not NULL");
  good &= refused([](auto &, auto &c) { c.reserved[1] = 1; }, TALC_ERROR_ARGUMENT, "reserved is 1");
  good &= refused([&](auto &, auto &c) { c.ids = outside.data(); }, TALC_ERROR_TOKEN,
                  "candidates of sequence 0: token 1 is 260");
  good &= refused([&](auto &, auto &c) { c.ids = negative.data(); }, TALC_ERROR_TOKEN, "token 0 is -1");
  good &= refused([](auto &s, auto &) { s.wanted[0].rows = TALC_ROWS_LAST; }, TALC_ERROR_ARGUMENT, "TALC_ROWS_NONE");
  good &= refused([](auto &s, auto &) { memset(&s.wanted[1].rows, -1, sizeof(talc_rows)); }, TALC_ERROR_ARGUMENT,
                  "TALC_ROWS_NONE");
  good &= refused([](auto &s, auto &) { s.slot = 1; }, TALC_ERROR_BATCH, "slots 0 to 0");
  // Without rows a candidate follows each token; there are no more tokens than that.
  Candidates tooMany = {{1, 2, 3, 4}, {}, {}};
  view = tooMany.view();
  good &= fails(talc_score(model.session, &sequence, &view, 1, &e), TALC_ERROR_ARGUMENT, e,
                "candidate 3 of sequence 0 is in the row 3");
  Candidates none;
  return good && score(model, sequence, none) && expect(talc_slot_length(model.session, 0) == 3, "no candidates");
}

// ---- Models with parts

const Ids text = {3, 150, 39, 40, 399, 99, 250};

bool checkBits(FakeSession &model, const Numbers &whole, int32_t vocabulary) {
  Candidates all = allWords({0, 2, 3, 6}, vocabulary), next = {Ids(text.begin() + 1, text.end()), {}, {}}, none;
  const Ids two = {1, 2};
  talc_sequence batch[] = {unasked(1, text), unasked(2, two), unasked(3, text)};
  talc_candidates candidates[] = {all.view(), none.view(), next.view()};
  if (!expect(talc_score(model.session, batch, candidates, 3, &model.error) == TALC_OK, model.error.text))
    return false;
  bool good = true;
  for (size_t i = 0; good && i < all.ids.size(); ++i)
    good &= expect(all.numbers[i] == whole[all.rows[i] * vocabulary + all.ids[i]],
                   "word " + std::to_string(all.ids[i]) + " has other bits in row " + std::to_string(all.rows[i]));
  for (size_t i = 0; i < next.ids.size(); ++i)
    good &= expect(next.numbers[i] == whole[i * vocabulary + next.ids[i]], "a text's own words");
  return good && expect(talc_slot_length(model.session, 2) == 2, "tokens without candidates");
}

// One token at a time, scored and generated in turn.
bool checkSteps(FakeSession &model, const Numbers &whole, int32_t vocabulary) {
  bool good = true;
  for (size_t i = 0; good && i < text.size(); ++i) {
    const float *expected = &whole[i * vocabulary];
    talc_sequence step = tokens(4, 1, &text[i], i % 2 ? TALC_ROWS_LAST : TALC_ROWS_NONE);
    Candidates two = {{39, 200}, {0, 0}, {}};
    good &= i % 2 ? expect(talc_evaluate(model.session, &step, 1, &model.error) == TALC_OK, model.error.text)
                  : score(model, step, two);
    const float *row = talc_logits(model.session, 0, nullptr);
    good &= expect(i % 2 ? row && !memcmp(row, expected, vocabulary * sizeof(float))
                         : two.numbers == Numbers{expected[39], expected[200]} && !row,
                   "token " + std::to_string(i) + " alone");
  }
  return good;
}

// The bytes of the results tell which outputs were computed.
bool checkMemory(const std::string &path, const Ids &cutoffs, int32_t vocabulary) {
  auto clusters = static_cast<int32_t>(cutoffs.size());
  bool good = true;
  for (int32_t cluster = 0; good && cluster <= clusters; ++cluster) {
    FakeSession model(path, 1);
    int32_t first = cluster == 0 ? 0 : cutoffs[cluster - 1], end = cluster == clusters ? vocabulary : cutoffs[cluster];
    Candidates some = {{first, first, end - 1}, {1, 2, 2}, {}};
    good &= expect(model.session, model.error.text) && score(model, unasked(0, text), some);
    talc_session_memory memory = {};
    memory.struct_size = sizeof(memory);
    talc_session_get_memory(model.session, &memory, nullptr, nullptr);
    uint64_t width = cutoffs[0] + clusters + (cluster > 0 ? end - first : 0), bytes = 2 * width * sizeof(float);
    good &= expect(memory.logits == bytes, "candidates of cluster " + std::to_string(cluster) + " take " +
                                               std::to_string(memory.logits) + " bytes of results, expected " +
                                               std::to_string(bytes));
  }
  return good;
}

}  // namespace

bool checkScores(const Arguments &arguments) {
  const std::string &path = arguments.at(0);
  bool good = true;
  for (auto kind : {artifact::ModelKind::Decoder, artifact::ModelKind::Encoder, artifact::ModelKind::EncoderDecoder})
    good &= checkKind(path, kind);
  return checkHidden(path) && checkRefused(path) && good;
}

bool checkScoresOfParts(const Arguments &arguments) {
  const std::string &path = arguments.at(0);
  const Ids cutoffs = {40, 100, 250};
  FakeSession model(path, 5);
  talc_model_info info = {};
  info.struct_size = sizeof(info);
  if (!expect(model.session, model.error.text) || talc_model_get_info(model.model, &info, nullptr) != TALC_OK)
    return false;
  bool good = expect(info.result_count == 1 && info.results[0].width == info.vocabulary_size,
                     "parts of logits are not results");
  Numbers whole = wholeRows(model, 0, text, info.vocabulary_size);
  good &= !whole.empty() && checkBits(model, whole, info.vocabulary_size);
  return good && checkSteps(model, whole, info.vocabulary_size) && checkMemory(path, cutoffs, info.vocabulary_size);
}

}  // namespace talc::test
