// SPDX-License-Identifier: Apache-2.0
// A batch has a bounded number of texts and of tokens.
#include "runtime/program/TextEncoding.h"

#include "runtime/program/Signals.h"

#include <algorithm>
#include <cmath>

namespace talc::program {

constexpr size_t tokensPerStep = 1024;

Status TextEncoding::run() {
  std::vector<size_t> inputs;
  while (!interrupted()) {
    if (!job.inputs.hasNext())
      if (Status status = job.fetch(true); status.failed())
        return status;
    size_t tokens = 0;
    for (inputs.clear(); job.inputs.hasNext() && inputs.size() < places; inputs.push_back(job.inputs.takeNext())) {
      tokens += job.inputs[job.inputs.next()].ids.size();
      if (!inputs.empty() && tokens > tokensPerStep)
        break;
    }
    if (inputs.empty())
      return {};
    if (Status status = evaluate(inputs.data(), inputs.size()); status.failed())
      return status;
  }
  return {};
}

Status TextEncoding::evaluate(const size_t *inputs, size_t count) {
  double begin = secondsNow();
  step.assign(count, {});
  answers.clear();
  for (size_t i = 0; i < count; ++i) {
    step[i].slot = static_cast<int32_t>(i);
    want(inputs[i], step[i]);
  }
  for (size_t i = 0; i < count; ++i)
    answers[i].setListed(step[i]);
  talc_error error;
  if (talc_status code = talc_evaluate(session, step.data(), static_cast<int32_t>(count), &error))
    return Status::from(code, error);
  job.timing.promptSeconds += secondsNow() - begin;
  for (size_t i = 0; i < count; ++i)
    if (Status status = take(inputs[i], static_cast<int32_t>(i)); status.failed())
      return status;
  return {};
}

// Files get a result of all tokens; else a text's answer says of which tokens it needs it.
void TextEncoding::want(size_t input, talc_sequence &sequence) {
  const Prompt &prompt = job.inputs[input];
  sequence.count = static_cast<int32_t>(prompt.ids.size());
  sequence.ids = prompt.ids.data();
  sequence.types = prompt.types.empty() ? nullptr : prompt.types.data();
  job.timing.promptTokens += prompt.ids.size();
  answers.emplace_back(job, prompt);
  for (int32_t i = 0; i < job.info.result_count; ++i) {
    talc_result_kind kind = job.info.results[i].kind;
    bool written = kind == TALC_RESULT_HIDDEN ? hiddenFile != nullptr : logitsFile != nullptr;
    if (written)
      sequence.wanted[i].rows = kind == TALC_RESULT_CLASSES ? TALC_ROWS_CLASSES : TALC_ROWS_ALL;
    else if (!job.options.writesTensors() && i == answers.back().result())
      sequence.wanted[i].rows = answers.back().rows();
  }
}

Status TextEncoding::take(size_t input, int32_t index) {
  for (int32_t i = 0; i < job.info.result_count; ++i) {
    TensorFile *file = job.info.results[i].kind == TALC_RESULT_HIDDEN ? hiddenFile : logitsFile;
    int32_t rows = 0;
    const float *values = talc_result(session, i, index, &rows);
    if (file)
      if (Status status = file->append(values, size_t(rows) * job.info.results[i].width); status.failed())
        return status;
  }
  if (!job.options.writesTensors()) {
    int32_t rows = 0;
    const Answer &answer = answers[index];
    const float *values = talc_result(session, answer.result(), index, &rows);
    size_t count = size_t(rows) * job.info.results[answer.result()].width;
    if (std::any_of(values, values + count, [](float value) { return std::isnan(value); }))
      return Status::failure(TALC_ERROR_RESULT, "%s: the result holds NaN; are the model's weights damaged?",
                             job.inputName(input).c_str());
    if (job.vectors.isOpen())
      job.vectors.set(input, answer.embed(values, rows));
    std::string text =
        job.options.json ? job.jsonHead(input) + answer.json(values, rows) + "}" : answer.text(values, rows);
    if (Status status = job.printer.append(input, text); status.failed())
      return status;
  }
  job.inputs.release(input);
  return job.printer.finish(input);
}

}  // namespace talc::program
