// SPDX-License-Identifier: Apache-2.0
// Hands texts to a talc_beam_search and takes the best result of each.
#include "runtime/program/BeamGeneration.h"

#include <algorithm>

namespace talc::program {

BeamGeneration::BeamGeneration(const Job &job, talc_session *session, const SequenceRules &rules, size_t places)
    : job(job), session(session), rules(rules), schedule(inputLengths(job.inputs), places, job.fromFile),
      sources(session) {}

Status BeamGeneration::run() {
  talc_error error;
  talc_beam_search *created = nullptr;
  auto texts = static_cast<int32_t>(schedule.places());
  float penalty = rules.sampling.repetition_penalty;
  if (talc_status code = talc_beam_search_create(session, &rules.search, penalty, texts, &created, &error))
    return Status::from(code, error);
  search.reset(created);
  while (true) {
    if (Status status = startNext(); status.failed())
      return status;
    if (!schedule.anyBusy())
      return {};
    noteState();
    double begin = secondsNow();
    if (talc_status code = talc_beam_search_step(search.get(), nullptr, &error))
      return Status::from(code, error);
    bool readsPrompts = !schedule.started().empty() && !job.translates();
    (readsPrompts ? job.timing.promptSeconds : job.timing.decodeSeconds) += secondsNow() - begin;
    for (size_t place = 0; place < schedule.places(); ++place)
      if (schedule.isBusy(place) && !talc_beam_search_running(search.get(), static_cast<int32_t>(place)))
        if (Status status = end(place); status.failed())
          return status;
  }
}

// While the slots are full: a search empties them as texts end.
void BeamGeneration::noteState() {
  talc_session_memory memory = {};
  talc_session_get_memory(session, &memory, nullptr, nullptr);
  job.timing.mostState = std::max(job.timing.mostState, memory.state_used);
}

Status BeamGeneration::startNext() {
  double begin = secondsNow();
  const std::vector<Schedule::Start> &starts = schedule.next();
  if (job.translates())
    for (const Schedule::Start &next : starts)
      sources.add(job.inputs[next.input], talc_beam_search_slot(search.get(), static_cast<int32_t>(next.place)));
  size_t tokens = 0;
  if (Status status = sources.encode(tokens); status.failed())
    return status;
  if (tokens > 0)
    job.timing.promptSeconds += secondsNow() - begin;
  job.timing.promptTokens += tokens;
  for (const Schedule::Start &next : starts)
    if (Status status = start(next); status.failed())
      return status;
  return {};
}

Status BeamGeneration::start(const Schedule::Start &next) {
  const Prompt &prompt = job.inputs[next.input];
  std::vector<int32_t> beginning = job.beginning(prompt);
  size_t capacity = rules.capacity + 1 - beginning.size();
  talc_beam_text text = {};
  text.text = static_cast<int32_t>(next.place);
  text.count = static_cast<int32_t>(beginning.size());
  text.ids = beginning.data();
  text.limit = static_cast<int32_t>(std::min(rules.newTokens(beginning.size()), capacity));
  text.prefix = static_cast<int32_t>(job.prefixLength(beginning.size()));
  if (!job.translates())
    job.timing.promptTokens += beginning.size();
  if (job.echoes())
    if (Status status = job.printer.append(next.input, prompt.text); status.failed())
      return status;
  talc_error error;
  return Status::from(talc_beam_search_start(search.get(), &text, &error), error);
}

Status BeamGeneration::end(size_t place) {
  size_t input = schedule.input(place);
  talc_error error;
  talc_beam_result best;
  if (talc_status code = talc_beam_search_result(search.get(), static_cast<int32_t>(place), 0, &best, &error))
    return Status::from(code, error);
  job.timing.decodedTokens += best.count;
  std::string result;
  if (job.options.usesIds())
    result = joinIds({best.ids, best.ids + best.count});
  else if (Status status = textOf(job.model, job.translates() ? std::vector<int32_t>() : job.inputs[input].ids,
                                  best.ids, best.count, result);
           status.failed())
    return status;
  schedule.release(place);
  if (Status status = job.printer.append(input, result); status.failed())
    return status;
  return job.printer.finish(input);
}

}  // namespace talc::program
