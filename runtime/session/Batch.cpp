// SPDX-License-Identifier: Apache-2.0
// Has every sequence checked, then fills spans, tokens and the lists of wanted tokens.
#include "runtime/session/Batch.h"

#include "runtime/session/SequenceCheck.h"

#include <algorithm>
#include <climits>

namespace talc {

// The token of a text whose classes are the text's.
static int32_t classRow(const artifact::ModelInfo &info, const talc_sequence &sequence) {
  const int32_t *begin = sequence.ids, *end = begin + sequence.count;
  auto find = [&](bool isToken) {
    const int32_t *at = end;
    while (at != begin && (at[-1] == info.generation.classToken) != isToken)
      --at;
    return static_cast<int32_t>(at - begin) - 1;  // -1: none
  };
  switch (static_cast<artifact::ClassPlace>(info.generation.classPlace)) {
  case artifact::ClassPlace::First:
    return 0;
  case artifact::ClassPlace::LastExcept:
    return std::max(find(false), 0);
  case artifact::ClassPlace::LastOf:
    return find(true) < 0 ? sequence.count - 1 : find(true);
  }
  return 0;
}

static Batch::Wanted readWanted(const talc_sequence &sequence) {
  Batch::Wanted wanted = {};
  std::copy(sequence.wanted, sequence.wanted + artifact::maxResults, wanted.begin());
  return wanted;
}

Status Batch::build(const Model &model, const Slots &slots, const talc_sequence *sequences, int32_t count,
                    Purpose purpose, const Wanted *wanted) {
  ++step;
  usedInStep.resize(slots.count());
  clear();
  int64_t total = 0;
  for (int32_t i = 0; i < count; ++i) {
    SequenceCheck check(model, slots, purpose, sequences[i], i);
    if (Status status = check.slot(); status.failed())
      return status;
    if (usedInStep[sequences[i].slot] == step)
      return Status::failure(TALC_ERROR_BATCH, "%s: sequence %d is in slot %d, which the batch uses already",
                             model.name().c_str(), i, sequences[i].slot);
    usedInStep[sequences[i].slot] = step;
    if (Status status = check.everything(); status.failed())
      return status;
    total += sequences[i].count;
  }
  if (total > INT_MAX)
    return Status::failure(TALC_ERROR_BATCH, "%s: the batch has %lld tokens, expected 1 to %d", model.name().c_str(),
                           static_cast<long long>(total), INT_MAX);
  for (int32_t i = 0; i < count; ++i)
    append(model, slots, sequences[i], purpose, wanted ? wanted[i] : readWanted(sequences[i]));
  for (OutputList &output : outputs)
    output.first.push_back(static_cast<int32_t>(output.rows.size()));
  return {};
}

bool Batch::isWhole() const {
  int64_t next = 0;
  for (const artifact::Span &span : sequenceSpans) {
    if (span.firstToken != next || span.tokenCount < 1)
      return false;
    next += span.tokenCount;
  }
  auto isClosed = [&](const OutputList &output) {
    return output.first.size() == sequenceSpans.size() + 1 && output.first.back() == int64_t(output.rows.size());
  };
  return next == int64_t(tokenIds.size()) && tokenIds.size() == stepTokens.size() &&
         std::all_of(std::begin(outputs), std::end(outputs), isClosed);
}

void Batch::clear() {
  tokenIds.clear(), stepTokens.clear(), sequenceSpans.clear();
  for (OutputList &output : outputs)
    output.rows.clear(), output.first.clear();
}

void Batch::append(const Model &model, const Slots &slots, const talc_sequence &sequence, Purpose purpose,
                   const Wanted &wanted) {
  auto first = static_cast<int32_t>(tokenIds.size());
  const int32_t slot = sequence.slot, count = sequence.count;
  artifact::Span span = {first, count, 0, slot, sequence.prefix, slot, 0, -1, 0};
  if (purpose == Purpose::Evaluate) {  // a source begins anew, whatever its slot holds
    span.firstPosition = model.rowsOf(slots.length(slot));
    span.segment = model.segmentOf(slots.length(slot));
    span.sourceSlot = std::max(slots.sourceSlot(slot), 0);
    span.sourceLength = slots.sourceLength(slot);
    span.history = slots.historyIndex(slot);
  }
  sequenceSpans.push_back(span);
  tokenIds.insert(tokenIds.end(), sequence.ids, sequence.ids + count);
  for (int32_t i = 0; i < count; ++i)
    stepTokens.push_back({model.rowsOf(span.firstPosition + i), slot, sequence.types ? sequence.types[i] : 0});
  for (int32_t output = 0; output < artifact::maxOutputs; ++output) {
    outputs[output].first.push_back(static_cast<int32_t>(outputs[output].rows.size()));
    if (wanted[output].rows == TALC_ROWS_CLASSES)
      outputs[output].rows.push_back(first + classRow(model.info(), sequence));
    else
      appendWanted(wanted[output], first, count, outputs[output].rows);
  }
}

void Batch::appendWanted(const talc_wanted &wanted, int32_t firstToken, int32_t count, std::vector<int32_t> &rows) {
  int32_t begin = wanted.rows == TALC_ROWS_LAST ? count - 1 : 0;
  int32_t end = wanted.rows == TALC_ROWS_NONE || wanted.rows == TALC_ROWS_LISTED ? 0
                : wanted.rows == TALC_ROWS_FIRST                                 ? 1
                                                                                 : count;
  for (int32_t i = begin; i < end; ++i)
    rows.push_back(firstToken + i);
  for (int32_t i = 0; wanted.rows == TALC_ROWS_LISTED && i < wanted.listed_count; ++i)
    rows.push_back(firstToken + wanted.listed[i]);
}

}  // namespace talc
