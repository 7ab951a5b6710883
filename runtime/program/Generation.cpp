// SPDX-License-Identifier: Apache-2.0
// A step has the next token of each text that is continued, and beginnings of others as far as there is room.
#include "runtime/program/Generation.h"

#include "runtime/program/Output.h"

#include <algorithm>

namespace talc::program {

// Bounds temporaries and, when all logits are wanted, the logits of one step. Results do not depend on it.
constexpr size_t tokensPerStep = 512, logitBytesPerStep = size_t(64) << 20;

Generation::Generation(const Job &job, talc_session *session, const SequenceRules &rules, size_t places,
                       TensorFile *logits)
    : job(job), session(session), rules(rules), logitsFile(logits),
      schedule(inputLengths(job.inputs), places, job.fromFile), sources(session), sequences(schedule.places()) {}

Status Generation::run() {
  while (true) {
    if (Status status = startNext(); status.failed())
      return status;
    collect();
    if (step.empty())
      return {};
    if (Status status = evaluate(); status.failed())
      return status;
    for (size_t i = 0; i < step.size(); ++i)
      if (Status status = take(i); status.failed())
        return status;
  }
}

Status Generation::startNext() {
  double begin = secondsNow();
  for (const Schedule::Start &next : schedule.next())
    if (Status status = start(next); status.failed())
      return status;
  size_t tokens = 0;
  if (Status status = sources.encode(tokens); status.failed())
    return status;
  job.timing.promptTokens += tokens;
  if (tokens > 0)
    job.timing.promptSeconds += secondsNow() - begin;
  return {};
}

Status Generation::start(const Schedule::Start &next) {
  const Prompt &prompt = job.inputs[next.input];
  auto slot = static_cast<int32_t>(next.place);
  talc_error error;
  if (job.translates())
    sources.add(prompt, slot);
  else if (talc_status code = talc_slot_reset(session, slot, &error))
    return Status::from(code, error);
  if (job.echoes())
    if (Status status = job.printer.append(next.input, prompt.text); status.failed())
      return status;
  return sequences[next.place].start(job.model, rules, job.beginning(prompt), !job.translates());
}

// Places in their order: so the logits of beginnings arrive in the order of the file.
void Generation::collect() {
  size_t room = tokensPerStep, rowBytes = job.info.vocabulary_size * sizeof(float);
  if (logitsFile)
    room = std::clamp<size_t>(logitBytesPerStep / rowBytes, 1, room);
  step.clear();
  for (size_t place = 0; place < sequences.size(); ++place) {
    const Sequence &sequence = sequences[place];
    if (!schedule.isBusy(place))
      continue;
    if (sequence.evaluated < sequence.beginningLength()) {
      room -= collectBeginning(place, room);
      continue;
    }
    talc_sequence next = {};
    next.slot = static_cast<int32_t>(place);
    next.count = 1;
    next.ids = &sequence.tokens().back();
    next.wanted[0].rows = TALC_ROWS_LAST;
    step.push_back(next);
  }
}

// A prefix is evaluated in one step. Returns how many tokens of the room were taken.
size_t Generation::collectBeginning(size_t place, size_t room) {
  const Sequence &sequence = sequences[place];
  size_t rest = sequence.beginningLength() - sequence.evaluated, count = std::min(rest, room);
  size_t prefix = sequence.evaluated == 0 ? job.prefixLength(sequence.beginningLength()) : 0;
  if (count == 0)
    return 0;
  count = std::max(count, prefix);
  talc_sequence next = {};
  next.slot = static_cast<int32_t>(place);
  next.count = static_cast<int32_t>(count);
  next.ids = sequence.tokens().data() + sequence.evaluated;
  next.wanted[0].rows = logitsFile ? TALC_ROWS_ALL : count == rest && rules.limit > 0 ? TALC_ROWS_LAST : TALC_ROWS_NONE;
  next.prefix = static_cast<int32_t>(prefix);
  step.push_back(next);
  return std::min(count, room);
}

// The time of a step is divided among the tokens of beginnings and the others.
Status Generation::evaluate() {
  double begin = secondsNow();
  talc_error error;
  if (talc_status code = talc_evaluate(session, step.data(), static_cast<int32_t>(step.size()), &error))
    return Status::from(code, error);
  size_t given = 0, made = 0;
  for (const talc_sequence &part : step) {
    const Sequence &sequence = sequences[part.slot];
    (sequence.evaluated < sequence.beginningLength() ? given : made) += part.count;
  }
  double seconds = (secondsNow() - begin) / static_cast<double>(given + made);
  job.timing.promptTokens += given;
  job.timing.promptSeconds += seconds * static_cast<double>(given);
  job.timing.decodedTokens += made;
  job.timing.decodeSeconds += seconds * static_cast<double>(made);
  return {};
}

Status Generation::take(size_t index) {
  size_t place = step[index].slot, vocabulary = job.info.vocabulary_size;
  Sequence &sequence = sequences[place];
  int32_t rows = 0;
  const float *logits = talc_logits(session, static_cast<int32_t>(index), &rows);
  if (logitsFile && sequence.evaluated < sequence.beginningLength())
    if (Status status = logitsFile->append(logits, rows * vocabulary); status.failed())
      return status;
  sequence.evaluated += step[index].count;
  if (sequence.evaluated < sequence.beginningLength())
    return {};
  return rules.limit > 0 ? extend(place, logits + (rows - 1) * vocabulary) : end(place);
}

Status Generation::extend(size_t place, const float *logits) {
  Sequence &sequence = sequences[place];
  if (Status status = sequence.extend(logits); status.failed())
    return status;
  if (std::string text = sequence.takeText(); !text.empty())
    if (Status status = job.printer.append(schedule.input(place), text); status.failed())
      return status;
  return sequence.ending() == Ending::None ? Status() : end(place);
}

Status Generation::end(size_t place) {
  Sequence &sequence = sequences[place];
  size_t input = schedule.input(place);
  if (sequence.ending() == Ending::StateFull)
    job.cut.push_back({input, sequence.tokens().size() - sequence.beginningLength()});
  if (!rules.makesText && rules.limit > 0)
    if (Status status = job.printer.append(input, joinIds(sequence.newTokens())); status.failed())
      return status;
  schedule.release(place);
  return job.printer.finish(input);
}

}  // namespace talc::program
