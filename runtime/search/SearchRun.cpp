// SPDX-License-Identifier: Apache-2.0
// A text begins in its first slot; once its prompt is evaluated, all its slots continue what is there.
//
// A beam that does not exist (a forced token leaves one) is evaluated as a copy of the best one, and its logits are not
// asked for: so all slots of a text always hold equally many tokens.
#include "runtime/search/SearchRun.h"

namespace talc {

constexpr size_t promptTokensPerStep = 512;

static BeamSettings beamSettings(const Model &model, const talc_search &settings) {
  const artifact::ModelInfo &info = model.info();
  return {settings.beams, settings.length_penalty, static_cast<artifact::EarlyStopping>(settings.early_stopping),
          std::vector<int32_t>(info.endTokens, info.endTokens + info.endTokenCount)};
}

SearchRun::SearchRun(const Model &model, talc_session *session, const talc_search &settings, float repetitionPenalty,
                     int32_t textCount)
    : model(model), session(session), beams(settings.beams), startToken(settings.start_token),
      scores({model.info().vocabularySize, repetitionPenalty, settings.renormalize != 0}, makeRules(model, settings)) {
  texts.reserve(textCount);
  for (int32_t text = 0; text < textCount; ++text)
    texts.emplace_back(beamSettings(model, settings), model.sampleableIds());
  size_t slotCount = texts.size() * beams;
  sequences.reserve(slotCount), rows.reserve(beams), slots.reserve(slotCount), parents.reserve(slotCount);
}

Status SearchRun::start(const talc_beam_text &given) {
  Text &text = texts[given.text];
  const int32_t *ids = given.count > 0 ? given.ids : &startToken;
  size_t count = given.count > 0 ? given.count : 1;
  if (Status status = model.checkIds(ids, static_cast<int32_t>(count), "beginning"); status.failed())
    return status;
  int64_t length = int64_t(count) + given.limit - 1;  // the last token is not evaluated
  if (length > model.info().maxSequence)
    return Status::failure(TALC_ERROR_STATE_FULL,
                           "%s: the text could have %lld tokens, but the model was compiled for at most %u; take a "
                           "lower limit or compile with a larger --max-seq",
                           model.name().c_str(), static_cast<long long>(length), model.info().maxSequence);
  if (text.runs)
    return Status::failure(TALC_ERROR_ARGUMENT, "%s: the search of text %d still runs; stop it first",
                           model.name().c_str(), given.text);
  if (model.kind() == artifact::ModelKind::Decoder)
    if (Status status = stop(given.text); status.failed())
      return status;
  text.prompt.assign(ids, ids + count);
  text.search.start(ids, count, given.limit);
  text.evaluated = 0;
  text.prefix = given.prefix;
  text.runs = true;
  return {};
}

Status SearchRun::stop(int32_t text) {
  texts[text].runs = false;
  talc_error error;
  for (int32_t beam = 0; beam < beams; ++beam)
    if (talc_status code = talc_slot_reset(session, firstSlot(text) + beam, &error))
      return Status::from(code, error);
  return {};
}

void SearchRun::collect() {
  sequences.clear();
  size_t room = promptTokensPerStep;
  for (int32_t text = 0; text < textCount(); ++text)
    if (texts[text].runs && texts[text].startsLater())
      room -= collectPrompt(text, room);
    else if (texts[text].runs)
      collectBeams(text);
}

// A prefix is evaluated in one step. Returns how many tokens of the room were taken.
size_t SearchRun::collectPrompt(int32_t index, size_t room) {
  Text &text = texts[index];
  bool first = text.evaluated == 0;
  size_t rest = text.prompt.size() - text.evaluated, count = std::min(rest, room);
  if (count > 0 && first)
    count = std::max(count, std::min<size_t>(text.prefix, rest));
  if (count == 0)
    return 0;
  talc_sequence sequence = {};
  sequence.slot = firstSlot(index);
  sequence.count = static_cast<int32_t>(count);
  sequence.ids = text.prompt.data() + text.evaluated;
  sequence.wanted[0].rows = count == rest ? TALC_ROWS_LAST : TALC_ROWS_NONE;
  sequence.prefix = first ? text.prefix : 0;
  sequences.push_back(sequence);
  return std::min(count, room);
}

void SearchRun::collectBeams(int32_t index) {
  const BeamSearch &search = texts[index].search;
  for (int32_t beam = 0; beam < beams; ++beam) {
    bool exists = static_cast<size_t>(beam) < search.beams();
    talc_sequence sequence = {};
    sequence.slot = firstSlot(index) + beam;
    sequence.count = 1;
    sequence.ids = search.token(exists ? beam : 0);
    sequence.wanted[0].rows = exists ? TALC_ROWS_LAST : TALC_ROWS_NONE;
    sequences.push_back(sequence);
  }
}

Status SearchRun::step(int32_t &running) {
  running = 0;
  collect();
  talc_error error;
  if (sequences.empty())
    return {};
  if (talc_status code = talc_evaluate(session, sequences.data(), static_cast<int32_t>(sequences.size()), &error))
    return Status::from(code, error);
  slots.clear(), parents.clear();
  Status result;
  size_t sequence = 0;
  for (int32_t text = 0; text < textCount(); ++text) {
    if (texts[text].runs)
      if (Status status = choose(text, sequence); status.failed())
        result = status;
    running += texts[text].runs;
  }
  if (!slots.empty())
    if (talc_status code =
            talc_reorder(session, slots.data(), parents.data(), static_cast<int32_t>(slots.size()), &error))
      return Status::from(code, error);
  return result;
}

// Takes the logits of a text; `sequence` goes on to the next text's first one.
Status SearchRun::choose(int32_t index, size_t &sequence) {
  Text &text = texts[index];
  if (sequence == sequences.size() || sequences[sequence].slot != firstSlot(index))
    return {};  // a prompt that found no room in this step
  auto logits = [&](size_t i) { return talc_logits(session, static_cast<int32_t>(i), nullptr); };
  rows.clear();
  if (text.startsLater()) {
    text.evaluated += sequences[sequence].count;
    rows.push_back(logits(sequence++));
    if (text.startsLater())
      return {};
  } else {
    for (size_t beam = 0; beam < text.search.beams(); ++beam)
      rows.push_back(logits(sequence + beam));
    sequence += beams;
  }
  bool found = text.search.step(rows.data(), scores);
  if (!text.search.ended()) {
    reorder(index);
    return {};
  }
  if (Status status = stop(index); status.failed())
    return status;
  if (!found && text.search.resultCount() == 0)
    return Status::failure(TALC_ERROR_LOGITS,
                           "%s: no token can be chosen: all logits are NaN, minus infinity or forbidden",
                           model.name().c_str());
  return {};
}

void SearchRun::reorder(int32_t index) {
  const BeamSearch &search = texts[index].search;
  for (int32_t beam = 0; beam < beams && beams > 1; ++beam) {
    bool exists = static_cast<size_t>(beam) < search.beams();
    slots.push_back(firstSlot(index) + beam);
    parents.push_back(firstSlot(index) + static_cast<int32_t>(search.parent(exists ? beam : 0)));
  }
}

}  // namespace talc
