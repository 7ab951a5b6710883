// SPDX-License-Identifier: Apache-2.0
// Checks what the caller gave and fills spans, rows and output rows.
#include "runtime/session/Batch.h"

#include <climits>
#include <cstdio>

namespace talc {

Status Batch::build(const Model &model, const std::vector<int32_t> &lengths, const talc_sequence *sequences,
                    int32_t count) {
  ++step;
  usedInStep.resize(lengths.size());
  tokenIds.clear(), wantedRows.clear(), firstOutputs.clear(), tokenRows.clear(), sequenceSpans.clear();
  int64_t total = 0;
  for (int32_t i = 0; i < count; ++i) {
    if (Status status = check(model, lengths, sequences[i], i); status.failed())
      return status;
    total += sequences[i].count;
  }
  if (total == 0 || total > INT_MAX)
    return Status::failure(TALC_ERROR_BATCH, "%s: the batch has %lld tokens, expected 1 to %d", model.name().c_str(),
                           static_cast<long long>(total), INT_MAX);
  for (int32_t i = 0; i < count; ++i)
    append(sequences[i], lengths[sequences[i].slot]);
  firstOutputs.push_back(static_cast<int32_t>(wantedRows.size()));
  return {};
}

Status Batch::check(const Model &model, const std::vector<int32_t> &lengths, const talc_sequence &sequence,
                    int32_t index) {
  const char *file = model.name().c_str();
  if (sequence.slot < 0 || static_cast<size_t>(sequence.slot) >= lengths.size())
    return Status::failure(TALC_ERROR_BATCH, "%s: sequence %d is in slot %d, but the session has slots 0 to %zu", file,
                           index, sequence.slot, lengths.size() - 1);
  if (usedInStep[sequence.slot] == step)
    return Status::failure(TALC_ERROR_BATCH, "%s: sequence %d is in slot %d, which the batch uses already", file, index,
                           sequence.slot);
  usedInStep[sequence.slot] = step;
  if (sequence.count <= 0 || !sequence.ids)
    return Status::failure(TALC_ERROR_BATCH, "%s: sequence %d has no tokens, expected at least 1", file, index);
  if (sequence.wanted[0].rows < TALC_ROWS_NONE || sequence.wanted[0].rows > TALC_ROWS_ALL)
    return Status::failure(TALC_ERROR_ARGUMENT, "%s: sequence %d asks for logits %d, expected 0 to 2", file, index,
                           static_cast<int>(sequence.wanted[0].rows));
  int64_t length = int64_t(lengths[sequence.slot]) + sequence.count;
  if (length > model.info().maxSequence)
    return Status::failure(TALC_ERROR_STATE_FULL,
                           "%s: sequence %d would have %lld tokens, but the model was compiled for at most %u; shorten "
                           "it or compile with a larger --max-seq",
                           file, index, static_cast<long long>(length), model.info().maxSequence);
  char what[32];
  snprintf(what, sizeof(what), "sequence %d", index);
  return model.checkIds(sequence.ids, sequence.count, what);
}

void Batch::append(const talc_sequence &sequence, int32_t length) {
  auto first = static_cast<int32_t>(tokenIds.size());
  tokenIds.insert(tokenIds.end(), sequence.ids, sequence.ids + sequence.count);
  for (int32_t i = 0; i < sequence.count; ++i)
    tokenRows.push_back({length + i, sequence.slot, 0});
  sequenceSpans.push_back({first, sequence.count, length, sequence.slot, 0, sequence.slot, 0, -1});
  firstOutputs.push_back(static_cast<int32_t>(wantedRows.size()));
  int32_t wanted = sequence.wanted[0].rows == TALC_ROWS_ALL    ? sequence.count
                   : sequence.wanted[0].rows == TALC_ROWS_LAST ? 1
                                                               : 0;
  for (int32_t i = sequence.count - wanted; i < sequence.count; ++i)
    wantedRows.push_back(first + i);
}

}  // namespace talc
