// SPDX-License-Identifier: Apache-2.0
// Drives a session of the runtime; sampling and tokenizing are not measured.
#include "tools/talc/bench/ModelRun.h"

#include <algorithm>

namespace talc::bench {

Status ModelRun::open(const std::string &path, bool hugePages, const std::string &device) {
  if (Status status = model.source().openPath(path); status.failed())
    return status;
  return open(OpenOptions{/*checkWeights=*/true, /*copyWeights=*/hugePages}, device);
}

Status ModelRun::open(const void *bytes, uint64_t size, const std::string &device) {
  if (Status status = model.source().useMemory(bytes, size); status.failed())
    return status;
  return open(OpenOptions{/*checkWeights=*/false}, device);
}

Status ModelRun::open(const OpenOptions &options, const std::string &device) {
  if (Status status = model.open(options, device, {}); status.failed())
    return status;
  // Any tokens do; the same ones in every run.
  uint64_t state = 1;
  uint32_t vocabulary = model.info().vocabularySize;
  if (model.kind() == artifact::ModelKind::EncoderDecoder)
    vocabulary = std::min(vocabulary, model.info().sourceVocabularySize);
  for (int64_t i = 0; i < maxSequenceTokens(model.info()); ++i) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    ids.push_back(static_cast<int32_t>((state >> 33) % vocabulary));
  }
  return {};
}

Status ModelRun::start(int32_t threads, int64_t sequences) {
  session.reset();
  batch.resize(sequences);
  return Session::create(model, {static_cast<int32_t>(sequences), threads}, session);
}

// Tokens that stand there from the last time need not be evaluated again.
bool ModelRun::goesBack(int64_t depth) {
  if (source() > 0)
    return false;
  for (int32_t slot = 0; slot < session->slots(); ++slot)
    if (session->truncate(slot, static_cast<int32_t>(depth)).failed())
      return false;
  return true;
}

Status ModelRun::fill(int64_t depth) {
  constexpr int64_t stepTokens = 512;
  if (goesBack(depth))
    return {};
  for (int32_t slot = 0; slot < session->slots(); ++slot)
    session->reset(slot);
  if (source() > 0)
    if (Status status = encode(source()); status.failed())
      return status;
  for (StepShape step : promptSteps(depth, 0, stepTokens, session->slots())) {
    step.hasOutputs = false;
    if (Status status = evaluate(step); status.failed())
      return status;
  }
  return {};
}

int64_t maxSequenceTokens(const artifact::ModelInfo &info) {
  constexpr int64_t endless = 1 << 20;
  return std::min<int64_t>(info.maxSequence, endless);
}

int64_t sourceTokens(const artifact::ModelInfo &info) {
  constexpr int64_t usual = 32;  // a sentence
  bool hasSource = info.kind == static_cast<uint32_t>(artifact::ModelKind::EncoderDecoder);
  return hasSource ? std::min<int64_t>(usual, info.maxSequence) : 0;
}

static talc_sequence makeSequence(int32_t slot, int64_t count, const int32_t *ids, talc_rows wanted) {
  talc_sequence sequence = {};
  sequence.slot = slot;
  sequence.count = static_cast<int32_t>(count);
  sequence.ids = ids;
  sequence.wanted[0].rows = wanted;
  return sequence;
}

Status ModelRun::encode(int64_t rows) {
  for (int32_t slot = 0; slot < session->slots(); ++slot)
    batch[slot] = makeSequence(slot, rows, ids.data(), TALC_ROWS_NONE);
  return session->encode(batch.data(), session->slots());
}

Status ModelRun::evaluate(const StepShape &step) {
  if (step.isEncode && source() > 0)
    return encode(step.tokens);
  for (int32_t slot = 0; slot < session->slots(); ++slot)
    batch[slot] = makeSequence(slot, step.tokens, ids.data() + session->length(slot),
                               step.hasOutputs ? TALC_ROWS_LAST : TALC_ROWS_NONE);
  return session->evaluate(batch.data(), session->slots());
}

std::vector<StepShape> promptSteps(int64_t tokens, int64_t depth, int64_t batch, int64_t sequences) {
  std::vector<StepShape> steps;
  int64_t maxRows = std::max<int64_t>(batch / sequences, 1);
  for (int64_t done = 0; done < tokens;) {
    int64_t rows = std::min(maxRows, tokens - done);
    steps.push_back({sequences, rows, depth + done, done + rows == tokens});
    done += rows;
  }
  return steps;
}

std::vector<StepShape> generationSteps(int64_t tokens, int64_t depth, int64_t sequences) {
  std::vector<StepShape> steps;
  for (int64_t i = 0; i < tokens; ++i)
    steps.push_back({sequences, 1, depth + i, true});
  return steps;
}

}  // namespace talc::bench
