// SPDX-License-Identifier: Apache-2.0
// Checks everything that can fail before slots change, then runs steps on the device.
#include "runtime/session/Session.h"

#include "runtime/Invariant.h"

#include <unistd.h>

namespace talc {

using artifact::ModelKind;

// A compressive memory or a state is copied in about the time of a token of its sequence.
static constexpr size_t tokensWorthBackup = 64;

Session::Session(const Model &model, const WorkspaceOptions &options)
    : model(model), process(getpid()), encodeEntry(model.loaded().findEntry(artifact::entryNames::encode)),
      prefillEntry(model.loaded().findEntry(artifact::entryNames::prefill)),
      decodeEntry(model.loaded().findEntry(artifact::entryNames::decode)), ask(options.ask), askUser(options.askUser),
      scores(model) {}

Status Session::create(const Model &model, const WorkspaceOptions &options, std::unique_ptr<Session> &session) {
  if (model.kind() == ModelKind::Trainer)
    return Status::failure(TALC_ERROR_KIND,
                           "%s: was compiled for training, and evaluates no tokens; compile a checkpoint that it has "
                           "saved",
                           model.name().c_str());
  std::unique_ptr<Session> created(new Session(model, options));
  if (Status status = model.loaded().createWorkspace(options, created->workspace); status.failed())
    return status;
  created->held = Slots(model, *created->workspace, options.slots);
  session = std::move(created);
  return {};
}

Session::~Session() {
  if (workspace && getpid() != process && !workspace->survivesFork())
    static_cast<void>(workspace.release());
}

Status Session::wrongKind(const char *function, const char *expected) const {
  const char *kinds[] = {"a decoder", "an encoder", "an encoder-decoder"};
  return Status::failure(TALC_ERROR_KIND, "%s: %s needs %s, but this is %s", model.name().c_str(), function, expected,
                         kinds[model.info().kind - 1]);
}

Status Session::evaluate(const talc_sequence *sequences, int32_t count) {
  Status status = evaluate(sequences, count, nullptr);
  evaluated = !status.failed();
  return status;
}

Status Session::score(const talc_sequence *sequences, const talc_candidates *candidates, int32_t count) {
  evaluated = false;
  if (Status status = scores.plan(sequences, candidates, count); status.failed())
    return status;
  if (Status status = evaluate(sequences, count, scores.wanted()); status.failed())
    return status;
  for (int32_t i = 0; i < count; ++i)
    scores.write(candidates[i], [&](int32_t output) { return outputRows(output, i); });
  return {};
}

Status Session::evaluate(const talc_sequence *sequences, int32_t count, const Batch::Wanted *wanted) {
  if (Status status = prepare(sequences, count, Batch::Purpose::Evaluate, wanted); status.failed())
    return status;
  if (Status status = prepareUndo(); status.failed())
    return status;
  struct Attempt {
    ~Attempt() {
      if (!succeeds)
        session.undo();
    }
    Session &session;
    bool succeeds = false;
  } attempt = {*this};
  if (Status status = isCut ? runParts() : run(chooseEntry()); status.failed())
    return status;
  if (Status status = checkUnchanged(); status.failed())
    return status;
  attempt.succeeds = true;
  for (const artifact::Span &span : batch.spans())
    if (model.kind() == ModelKind::Encoder)
      held.touched(span.slot, span.tokenCount);
    else
      held.appended(span.slot, span.tokenCount);
  return {};
}

// Copies what the step overwrites; if that is not worth it, asks the caller before the step begins, and then no more.
Status Session::prepareUndo() {
  if (!model.hasSummaries() || !ask)
    return {};
  hasBackup = isAbortable = batch.ids().size() >= tokensWorthBackup * batch.spans().size();
  if (hasBackup)
    return backup.save(model, *workspace, held, batch);
  return ask(askUser)
             ? Status::failure(TALC_ERROR_ABORTED, "%s: the step was ended by should_abort", model.name().c_str())
             : Status();
}

// After a step that has begun and not ended.
void Session::undo() {
  for (const artifact::Span &span : batch.spans())
    held.attempted(span.slot, span.tokenCount);
  if (!model.hasSummaries() || (hasBackup && !backup.restore(model, *workspace, held, batch).failed()))
    return;
  for (const artifact::Span &span : batch.spans())
    held.reset(span.slot);
}

Status Session::encode(const talc_sequence *sources, int32_t count) {
  if (model.kind() != ModelKind::EncoderDecoder)
    return wrongKind("talc_encode", "an encoder-decoder");
  if (Status status = prepare(sources, count, Batch::Purpose::Encode); status.failed())
    return status;
  for (const artifact::Span &span : batch.spans())
    held.reset(span.slot);
  if (Status status = run(encodeEntry); status.failed())
    return status;
  for (const artifact::Span &span : batch.spans())
    held.encoded(span.slot, span.tokenCount);
  return {};
}

Status Session::reorder(const int32_t *list, const int32_t *parents, int32_t count) {
  if (model.kind() == ModelKind::Encoder)
    return wrongKind("talc_reorder", "a decoder");
  if (model.hasSummaries())
    return copy(list, parents, count);
  return held.reorder(list, parents, count);
}

// The content of a compressive memory or of a state is in one slot, and has to be copied.
Status Session::copy(const int32_t *list, const int32_t *parents, int32_t count) {
  if (Status status = held.checkReorder(list, parents, count); status.failed())
    return status;
  std::vector<std::vector<unsigned char>> states(count);
  std::vector<SlotTokens> tokens;
  for (int32_t i = 0; i < count; ++i) {
    tokens.push_back(tokensOf(parents[i]));
    if (list[i] == parents[i])
      continue;
    states[i].resize(kvBytes(model, tokens[i]));
    if (Status status = readKvCache(model, *workspace, parents[i], tokens[i], states[i].data()); status.failed())
      return status;
  }
  for (int32_t i = 0; i < count; ++i)
    if (list[i] != parents[i]) {
      held.reset(list[i]);
      if (Status status = writeKvCache(model, *workspace, list[i], tokens[i], states[i].data()); status.failed())
        return status;
      held.appended(list[i], tokens[i].length);
    }
  return {};
}

Status Session::truncate(int32_t slot, int32_t length) {
  if (length < 0 || length > held.length(slot))
    return Status::failure(TALC_ERROR_ARGUMENT, "%s: slot %d holds %d tokens, which cannot be truncated to %d",
                           model.name().c_str(), slot, held.length(slot), length);
  if (held.isRetained(slot) || held.isUsedFrom(slot, length))
    return Status::failure(TALC_ERROR_SHARED,
                           "%s: slot %d cannot be truncated to %d tokens: other slots still use the later ones; reset "
                           "these slots first",
                           model.name().c_str(), slot, length);
  if (held.lostBefore(slot, length))
    return Status::failure(TALC_ERROR_SHARED,
                           "%s: slot %d cannot be truncated to %d tokens: later tokens have overwritten earlier ones "
                           "in sliding windows; evaluate the text again",
                           model.name().c_str(), slot, length);
  if (model.hasSummaries() && length != 0 && length != held.length(slot))
    return Status::failure(TALC_ERROR_KIND,
                           "%s: slot %d cannot be truncated to %d tokens: the model's memory cannot forget single "
                           "tokens; reset the slot, or save it where you want to return to",
                           model.name().c_str(), slot, length);
  held.truncate(slot, length);
  return {};
}

Status Session::measureSaved(int32_t slot, uint64_t &size) const {
  int32_t source = held.sourceSlot(slot);
  if (held.isRetained(slot) || held.historyIndex(slot) >= 0 || (source >= 0 && source != slot))
    return Status::failure(TALC_ERROR_SHARED,
                           "%s: slot %d cannot be saved: after talc_reorder its tokens or its source are in several "
                           "slots",
                           model.name().c_str(), slot);
  size = savedBytes(model, tokensOf(slot));
  return {};
}

Status Session::save(int32_t slot, unsigned char *bytes) const {
  return saveSlot(model, *workspace, slot, tokensOf(slot), bytes);
}

Status Session::load(int32_t slot, const unsigned char *bytes, uint64_t size) {
  SlotTokens tokens;
  if (held.isUsed(slot))
    return Status::failure(TALC_ERROR_SHARED,
                           "%s: slot %d cannot be loaded: other slots still use its memory; reset those "
                           "first",
                           model.name().c_str(), slot);
  if (Status status = readSaved(model, bytes, size, tokens); status.failed())
    return status;
  held.reset(slot);
  if (Status status = loadSlot(model, *workspace, slot, tokens, bytes); status.failed())
    return status;
  if (tokens.sourceLength > 0)
    held.encoded(slot, tokens.sourceLength);
  if (tokens.length > 0)
    held.appended(slot, tokens.length);
  // A step that did not end may have written beyond what was saved.
  held.attempted(slot, static_cast<int32_t>(model.info().stepTokens));
  return {};
}

// Does everything that can fail.
Status Session::prepare(const talc_sequence *sequences, int32_t count, Batch::Purpose purpose,
                        const Batch::Wanted *wanted) {
  evaluated = hasBackup = false;
  isAbortable = true;
  if (Status status = batch.build(model, held, sequences, count, purpose, wanted); status.failed())
    return status;
  return reserveStep();
}

Status Session::reserveStep() {
  StepSize size;
  isCut = cuts.begin(batch, model.info());
  if (isCut)
    return workspace->reserve(cuts.size());
  size.tokens = batch.ids().size();
  for (int32_t i = 0; i < artifact::maxOutputs; ++i)
    size.wanted[i] = batch.wantedTokens(i).size();
  return workspace->reserve(size);
}

// The entry for one token computes every result of it, and no parts of logits.
EntryIndex Session::chooseEntry() const {
  if (model.kind() == ModelKind::Encoder)
    return encodeEntry;
  bool single = batch.ids().size() == 1;
  for (int32_t i = 0; i < artifact::maxOutputs; ++i)
    single = single && batch.wantedTokens(i).size() == (i < model.resultCount() ? 1 : 0);
  return single ? decodeEntry : prefillEntry;
}

Status Session::run(EntryIndex entry) {
  Step step = {entry,
               static_cast<int64_t>(batch.ids().size()),
               static_cast<int64_t>(batch.spans().size()),
               {batch.ids().data()},
               batch.tokens().data(),
               batch.spans().data(),
               held.history(),
               {},
               isAbortable};
  for (int32_t i = 0; i < artifact::maxOutputs; ++i)
    step.wanted[i] = {static_cast<int64_t>(batch.wantedTokens(i).size()), batch.wantedTokens(i).data()};
  return runChecked(step);
}

// Everything by which generated code addresses memory.
Status Session::runChecked(const Step &step) {
  StepSize size;
  size.tokens = step.tokenCount;
  for (int32_t i = 0; i < artifact::maxOutputs; ++i)
    size.wanted[i] = step.wanted[i].count;
  const char *place = "Session::runChecked";
  if (!workspace->fits(size))
    return defect(place, "a step fits the memory that was reserved for it");
  int64_t next = 0;
  for (int64_t i = 0; i < step.spanCount; next += step.spans[i++].tokenCount)
    if (step.spans[i].firstToken != next || !isSound(step.spans[i], step.entry))
      return defect(place, "the spans of a step cover its tokens and lie in their slots");
  if (next != step.tokenCount || !held.areConsistent())
    return defect(place, "slots use tokens of each other that are there");
  return workspace->run(step);
}

bool Session::isSound(const artifact::Span &span, EntryIndex entry) const {
  const int64_t longest = model.info().maxSequence, end = int64_t(span.firstPosition) + span.tokenCount,
                room = entry == encodeEntry ? longest : model.capacity();
  const bool hasSlots = span.slot >= 0 && span.slot < held.count() && span.sourceSlot >= 0 &&
                        span.sourceSlot < held.count() && span.sourceLength <= longest;
  const bool hasHistory =
      span.history < 0 || (held.history() && span.history + int64_t(span.firstPosition) <= held.historyCount());
  return hasSlots && hasHistory && span.firstPosition >= 0 && span.tokenCount > 0 && end <= room;
}

// Results belong to the sequences as they were when the batch was made.
Status Session::checkUnchanged() const {
  bool same = batch.isWhole();
  for (const artifact::Span &span : batch.spans())
    same &= model.rowsOf(held.length(span.slot)) == span.firstPosition &&
            model.segmentOf(held.length(span.slot)) == span.segment;
  return require(same, "Session::evaluate", "slots stay as they are while a step runs");
}

Status Session::runParts() {
  Step step = {prefillEntry, 0, 0, {}, nullptr, nullptr, held.history(), {}, isAbortable};
  while (cuts.next(step)) {
    if (Status status = runChecked(step); status.failed())
      return status;
    for (int32_t i = 0; i < artifact::maxOutputs; ++i)
      cuts.collect(i, workspace->results(i));
  }
  return require(cuts.isDone(), "Session::runParts", "the parts of a batch have all of its tokens");
}

const float *Session::result(int32_t output, int32_t sequence, int32_t &rows) const {
  rows = 0;
  bool isValid = output >= 0 && output < model.resultCount() && sequence >= 0;
  if (!evaluated || !isValid || static_cast<size_t>(sequence) >= batch.spans().size())
    return nullptr;
  rows = batch.firstOutput(output, sequence + 1) - batch.firstOutput(output, sequence);
  return rows ? outputRows(output, sequence) : nullptr;
}

const float *Session::outputRows(int32_t output, int32_t sequence) const {
  uint64_t offset = batch.firstOutput(output, sequence) * uint64_t(model.info().outputs[output].width);
  return (isCut ? cuts.results(output) : workspace->results(output)) + offset;
}

talc_session_memory Session::memory() const {
  WorkspaceMemory device = workspace->memory();
  return {sizeof(talc_session_memory), 0, held.usedBytes(), device.kvCache, device.temporaries, device.results};
}

}  // namespace talc
