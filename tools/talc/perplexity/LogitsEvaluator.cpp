// SPDX-License-Identifier: Apache-2.0
// Asks the runtime for logits, or for what follows from them.
#include "tools/talc/perplexity/LogitsEvaluator.h"

namespace talc::perplexity {

LogitsEvaluator::~LogitsEvaluator() {
  talc_session_destroy(session);
  talc_model_close(model);
}

std::string LogitsEvaluator::open(const std::string &file, int32_t threads) {
  path = file;
  talc_error error;
  info.struct_size = sizeof(info);
  if (talc_model_open(path.c_str(), nullptr, &model, &error) || talc_model_get_info(model, &info, &error))
    return error.text;
  if (info.kind == TALC_MODEL_ENCODER_DECODER || info.results[0].kind != TALC_RESULT_LOGITS)
    return "error[T0701]: talc perplexity: " + path +
           " does not predict the tokens of a text; expected a model that continues texts or fills masks";
  talc_session_options options = {};
  options.slots = 1;
  options.threads = threads;
  return talc_session_create(model, &options, &session, &error) ? error.text : "";
}

std::string LogitsEvaluator::tokenize(const std::string &text, std::vector<int32_t> &ids) {
  talc_error error;
  int32_t count = 0;
  if (talc_tokenize(model, text.data(), text.size(), nullptr, 0, &count, &error))
    return error.text;
  ids.resize(count);
  if (talc_tokenize(model, text.data(), text.size(), ids.data(), count, &count, &error))
    return error.text;
  return "";
}

std::string LogitsEvaluator::evaluate(const std::vector<int32_t> &ids, const std::vector<int32_t> &rows,
                                      const std::vector<int32_t> &results) {
  talc_error error;
  talc_sequence sequence = {};
  sequence.count = static_cast<int32_t>(ids.size());
  sequence.ids = ids.data();
  for (int32_t result : results)
    sequence.wanted[result] = {TALC_ROWS_LISTED, static_cast<int32_t>(rows.size()), rows.data()};
  if (talc_slot_reset(session, 0, &error) || talc_evaluate(session, &sequence, 1, &error))
    return error.text;
  for (int32_t result : results)
    values[result] = talc_result(session, result, 0, nullptr);
  return "";
}

std::string LogitsEvaluator::score(const std::vector<int32_t> &ids, const std::vector<int32_t> &rows,
                                   std::vector<float> &scores) {
  std::vector<int32_t> next;
  for (int32_t row : rows)
    next.push_back(ids[row + 1]);
  scores.resize(rows.size());
  talc_error error;
  talc_sequence sequence = {};
  sequence.count = static_cast<int32_t>(ids.size());
  sequence.ids = ids.data();
  talc_candidates candidates = {};
  candidates.count = static_cast<int32_t>(rows.size());
  candidates.ids = next.data();
  candidates.rows = rows.data();
  candidates.log_probabilities = scores.data();
  if (talc_slot_reset(session, 0, &error) || talc_score(session, &sequence, &candidates, 1, &error))
    return error.text;
  return "";
}

}  // namespace talc::perplexity
