// SPDX-License-Identifier: Apache-2.0
// First the prompts, in steps of bounded size; then one token of each unfinished sequence per step.
#include "runtime/program/Generation.h"

#include <algorithm>
#include <time.h>

namespace talc::program {

// Bounds temporaries and, when all logits are wanted, the logits of one step. Results do not depend on it.
constexpr size_t tokensPerStep = 512, logitBytesPerStep = size_t(64) << 20;

double secondsNow() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

Status Generation::run() {
  double begin = secondsNow();
  if (Status status = evaluatePrompts(); status.failed())
    return status;
  time.promptSeconds = secondsNow() - begin;
  begin = secondsNow();
  Status status = continueAll();
  time.decodeSeconds = secondsNow() - begin;
  return status;
}

Status Generation::evaluate() {
  talc_error error;
  talc_status code = talc_evaluate(session, step.data(), static_cast<int32_t>(step.size()), &error);
  return Status::from(code, error);
}

// The next tokens of the first prompts that are not evaluated, as many as a step takes.
void Generation::collectPrompts() {
  size_t room = tokensPerStep, rowBytes = info.vocabulary_size * sizeof(float);
  if (logitsFile)
    room = std::clamp<size_t>(logitBytesPerStep / rowBytes, 1, room);
  step.clear();
  for (size_t i = 0; i < sequences.size() && room > 0; ++i) {
    const std::vector<int32_t> &ids = sequences[i].prompt().ids;
    size_t begin = sequences[i].evaluated, count = std::min(room, ids.size() - begin);
    if (count == 0)
      continue;
    bool last = begin + count == ids.size() && limit > 0;
    talc_logits_choice choice = logitsFile ? TALC_LOGITS_ALL : last ? TALC_LOGITS_LAST : TALC_LOGITS_NONE;
    step.push_back({static_cast<int32_t>(i), static_cast<int32_t>(count), ids.data() + begin, choice});
    room -= count;
  }
}

Status Generation::evaluatePrompts() {
  while (true) {
    collectPrompts();
    if (step.empty())
      return {};
    if (Status status = evaluate(); status.failed())
      return status;
    if (Status status = takePromptLogits(); status.failed())
      return status;
  }
}

// Steps run through the prompts in order, so logits arrive in the order of the file.
Status Generation::takePromptLogits() {
  for (size_t i = 0; i < step.size(); ++i) {
    Sequence &sequence = sequences[step[i].slot];
    int32_t rows = 0;
    const float *logits = talc_logits(session, static_cast<int32_t>(i), &rows);
    size_t vocabulary = info.vocabulary_size;
    if (logitsFile)
      if (Status status = logitsFile->append(logits, rows * vocabulary); status.failed())
        return status;
    sequence.evaluated += step[i].count;
    time.promptTokens += step[i].count;
    bool complete = sequence.evaluated == sequence.prompt().ids.size();
    if (complete && limit > 0)
      if (Status status = extend(step[i].slot, logits + (rows - 1) * vocabulary); status.failed())
        return status;
  }
  return {};
}

Status Generation::extend(size_t index, const float *logits) {
  Sequence &sequence = sequences[index];
  auto capacity = static_cast<size_t>(info.max_sequence);
  if (Status status = sequence.extend(logits, limit, capacity, ignoreEnd); status.failed())
    return status;
  return printer.update(index);
}

void Generation::collectUnfinished() {
  step.clear();
  for (size_t i = 0; i < sequences.size(); ++i)
    if (!sequences[i].ended())
      step.push_back({static_cast<int32_t>(i), 1, &sequences[i].generated().back(), TALC_LOGITS_LAST});
}

Status Generation::continueAll() {
  while (limit > 0) {
    collectUnfinished();
    if (step.empty())
      break;
    if (Status status = evaluate(); status.failed())
      return status;
    time.decodedTokens += step.size();
    for (size_t i = 0; i < step.size(); ++i)
      if (Status status = extend(step[i].slot, talc_logits(session, static_cast<int32_t>(i), nullptr)); status.failed())
        return status;
  }
  return {};
}

}  // namespace talc::program
