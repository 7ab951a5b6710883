// SPDX-License-Identifier: Apache-2.0
// ARTIFACT: evaluating, scoring and encoding that fail, whichever allocation is refused and wherever a step is aborted,
// change nothing: what comes after has the bits of an undisturbed session.
#include "test/runtime/Allocations.h"
#include "test/runtime/RuntimeChecks.h"

#include <algorithm>

namespace talc::test {
namespace {

enum class Fault { None, Refusal, Abort };

struct Question {
  long limit = -1;  // the number of the question that is answered with yes; negative: none
  long asked = 0;
};

int32_t isOver(void *user) {
  auto &question = *static_cast<Question *>(user);
  return question.asked++ == question.limit;
}

// Two sequences that grow; every call fails at each place before it succeeds.
class Growth {
public:
  Growth(const talc_model *model, Fault fault) : fault(fault) {
    info.struct_size = sizeof(info);
    talc_model_get_info(model, &info, nullptr);
    talc_session_options options = {};
    options.struct_size = sizeof(options);
    options.threads = 2;
    options.slots = 3;
    options.should_abort = isOver;
    options.abort_user = &question;
    talc_session_create(model, &options, &session, nullptr);
  }
  ~Growth() { talc_session_destroy(session); }
  Growth(const Growth &) = delete;
  Growth &operator=(const Growth &) = delete;

  std::vector<float> run() {
    if (info.kind == TALC_MODEL_ENCODER_DECODER)
      attempt([&] { return encode(); });
    for (int32_t count : {3, 1, 70, 2, 1, 1, 200, 1, 9}) {
      count = std::min(count, info.max_sequence / 4);
      std::vector<int32_t> ids = numbered(count), others = numbered(1 + count / 70);
      talc_sequence batch[] = {tokens(0, count, ids.data(), TALC_ROWS_ALL),
                               tokens(1, static_cast<int32_t>(others.size()), others.data())};
      attempt([&] { return talc_evaluate(session, batch, count > 100 ? 1 : 2, &error); });
      keep(0);
      length = talc_slot_length(session, 0);
    }
    scoreAndReorder();
    return results;
  }

  bool good = true;
  int32_t failures = 0;

private:
  std::vector<int32_t> numbered(int32_t count) {
    std::vector<int32_t> ids(count);
    for (int32_t &id : ids) {
      ++number;
      id = static_cast<int32_t>(4 + number * number % 29) % info.vocabulary_size;
    }
    return ids;
  }

  talc_status encode() {
    const int32_t ids[] = {5, 6, 7, 5, 4, 2};
    talc_sequence sources[] = {tokens(0, 6, ids, TALC_ROWS_NONE), tokens(1, 4, ids, TALC_ROWS_NONE)};
    return talc_encode(session, sources, 2, &error);
  }

  // Two slots continue one text; scores of a candidate.
  void scoreAndReorder() {
    if (info.results[0].kind != TALC_RESULT_LOGITS || info.kind == TALC_MODEL_ENCODER)
      return;
    const int32_t slots[] = {0, 2}, parents[] = {0, 0}, ids[] = {2, 3}, row = 0, candidate = 2;
    attempt([&] { return talc_reorder(session, slots, parents, 2, &error); });
    float score = 0;
    talc_candidates candidates = {};
    candidates.count = 1;
    candidates.ids = &candidate;
    candidates.rows = &row;
    candidates.log_probabilities = &score;
    talc_sequence one = tokens(2, 1, ids, TALC_ROWS_NONE), both[] = {tokens(0, 2, ids), tokens(2, 2, ids)};
    length = talc_slot_length(session, 2);
    attempt([&] { return talc_score(session, &one, &candidates, 1, &error); });
    results.push_back(score);
    attempt([&] { return talc_evaluate(session, both, 2, &error); });
    keep(0), keep(1);
  }

  void keep(int32_t sequence) {
    int32_t rows = 0;
    const float *values = talc_result(session, 0, sequence, &rows);
    results.insert(results.end(), values, values + int64_t(rows) * info.results[0].width);
  }

  template <typename Call> void attempt(Call call) {
    for (long place = 0; good; ++place) {
      question = {fault == Fault::Abort ? place : -1};
      refuseAllocation(fault == Fault::Refusal ? place : -2);
      talc_status status = call();
      refuseAllocation(-2);
      if (status == TALC_OK)
        return;
      ++failures;
      const int32_t now = talc_slot_length(session, 0);
      good = expect(status == (fault == Fault::Abort ? TALC_ERROR_ABORTED : TALC_ERROR_MEMORY), error.text) &&
             expect(now == length || info.kind != TALC_MODEL_DECODER,
                    "slot 0 holds " + std::to_string(now) + " tokens, expected " + std::to_string(length));
    }
  }

  const Fault fault;
  Question question;
  talc_model_info info = {};
  talc_session *session = nullptr;
  talc_error error = {};
  int32_t length = 0, number = 0;  // length: of slot 0
  std::vector<float> results;
};

}  // namespace

bool checkFailedEvaluations(const Arguments &arguments) {
  talc_model *model = nullptr;
  talc_error error = {};
  if (!expect(talc_model_open(arguments.at(0).c_str(), nullptr, &model, &error) == TALC_OK, error.text))
    return false;
  bool good = true;
  const std::vector<float> expected = Growth(model, Fault::None).run();
  for (Fault fault : {Fault::Refusal, Fault::Abort}) {
    Growth growth(model, fault);
    good &= expect(growth.run() == expected && growth.good, fault == Fault::Abort ? "after aborts" : "after refusals");
    good &= expect(fault == Fault::Refusal || growth.failures > 0, "something fails");
  }
  talc_model_close(model);
  return good;
}

}  // namespace talc::test
