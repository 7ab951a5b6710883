// SPDX-License-Identifier: Apache-2.0
// One function per field of talc_sequence.
#include "runtime/session/SequenceCheck.h"

#include "runtime/LengthAdvice.h"

#include <algorithm>
#include <cstring>

namespace talc {

Status SequenceCheck::everything() const {
  for (auto check : {&SequenceCheck::state, &SequenceCheck::tokens, &SequenceCheck::types, &SequenceCheck::prefix})
    if (Status status = (this->*check)(); status.failed())
      return status;
  for (int32_t result = 0; result < artifact::maxResults; ++result)
    if (Status status = wanted(result); status.failed())
      return status;
  return {};
}

Status SequenceCheck::slot() const {
  if (sequence.slot >= 0 && sequence.slot < slots.count())
    return {};
  return Status::failure(TALC_ERROR_BATCH, "%s: %s %d is in slot %d, but the session has slots 0 to %d", file(), noun(),
                         index, sequence.slot, slots.count() - 1);
}

// Whether the slot can take the tokens.
Status SequenceCheck::state() const {
  if (encodes ? slots.isUsed(sequence.slot) : slots.isRetained(sequence.slot))
    return Status::failure(TALC_ERROR_SHARED,
                           "%s: %s %d is in slot %d, whose tokens or source other slots still use; reset those first",
                           file(), noun(), index, sequence.slot);
  if (!encodes && slots.overwritesUsed(sequence.slot, std::max(sequence.count, 0)))
    return Status::failure(TALC_ERROR_SHARED,
                           "%s: sequence %d is in slot %d, where its tokens would take the place of others that other "
                           "slots continue; go on with those first, or reset them",
                           file(), index, sequence.slot);
  if (!encodes && model.kind() == artifact::ModelKind::EncoderDecoder && slots.sourceSlot(sequence.slot) < 0)
    return Status::failure(TALC_ERROR_SOURCE,
                           "%s: sequence %d is in slot %d, which has no source; call talc_encode first", file(), index,
                           sequence.slot);
  return {};
}

Status SequenceCheck::tokens() const {
  for (int32_t reserved : sequence.reserved)
    if (reserved != 0)
      return Status::failure(TALC_ERROR_ARGUMENT, "%s: %s %d: reserved is %d, expected 0", file(), noun(), index,
                             reserved);
  if (sequence.count <= 0 || !sequence.ids)
    return Status::failure(TALC_ERROR_BATCH, "%s: %s %d has no tokens, expected at least 1", file(), noun(), index);
  int64_t length = int64_t(encodes ? 0 : slots.length(sequence.slot)) + sequence.count;
  if (length > model.info().maxSequence)
    return Status::failure(TALC_ERROR_STATE_FULL,
                           "%s: %s %d would have %lld tokens, but the model was compiled for at most %u; %s", file(),
                           noun(), index, static_cast<long long>(length), model.info().maxSequence,
                           lengthAdvice(model.info().maxSequence, model.info().longestSequence));
  if (slots.historyIndex(sequence.slot) >= 0 && length > slots.listedTokens() && !encodes)
    return Status::failure(TALC_ERROR_STATE_FULL,
                           "%s: sequence %d would have %lld tokens, but after talc_reorder it can have at most %d",
                           file(), index, static_cast<long long>(length), slots.listedTokens());
  if (int32_t maxTokens = static_cast<int32_t>(model.info().stepTokens);
      maxTokens > 0 && sequence.count > maxTokens && !encodes)
    return Status::failure(TALC_ERROR_BATCH,
                           "%s: sequence %d has %d tokens in one batch, but the model's windows have room for at most "
                           "%d (step_tokens); divide them among several batches",
                           file(), index, sequence.count, maxTokens);
  uint32_t vocabulary = encodes ? model.info().sourceVocabularySize : model.info().vocabularySize;
  return model.checkIds(sequence.ids, sequence.count, vocabulary, noun(), index);
}

Status SequenceCheck::types() const {
  uint32_t types = std::max(model.info().tokenTypes, 1u);
  for (int32_t i = 0; sequence.types && i < sequence.count; ++i)
    if (sequence.types[i] < 0 || static_cast<uint32_t>(sequence.types[i]) >= types)
      return Status::failure(TALC_ERROR_TOKEN, "%s: %s %d: token %d has the type %d, outside 0 to %u", file(), noun(),
                             index, i, sequence.types[i], types - 1);
  return {};
}

Status SequenceCheck::prefix() const {
  if (sequence.prefix == 0)
    return {};
  if (encodes || !model.info().usesPrefix)
    return Status::failure(TALC_ERROR_KIND, "%s: %s %d has a prefix, but %s; expected 0", file(), noun(), index,
                           encodes ? "sources have none" : "the model uses none");
  if (slots.length(sequence.slot) > 0)
    return Status::failure(TALC_ERROR_BATCH,
                           "%s: sequence %d has a prefix, but slot %d holds %d tokens; a prefix begins a sequence",
                           file(), index, sequence.slot, slots.length(sequence.slot));
  if (sequence.prefix < 0 || sequence.prefix > sequence.count)
    return Status::failure(TALC_ERROR_BATCH,
                           "%s: sequence %d has a prefix of %d tokens, expected 0 to %d: all of it in one batch",
                           file(), index, sequence.prefix, sequence.count);
  return {};
}

Status SequenceCheck::wanted(int32_t result) const {
  int32_t rows;  // a program in C may have stored any number
  memcpy(&rows, &sequence.wanted[result].rows, sizeof(rows));
  if (rows < TALC_ROWS_NONE || rows > TALC_ROWS_CLASSES)
    return Status::failure(TALC_ERROR_ARGUMENT, "%s: %s %d asks for rows %d of result %d, expected 0 to 5", file(),
                           noun(), index, rows, result);
  int32_t results = encodes ? 0 : model.resultCount();
  if (rows != TALC_ROWS_NONE && result >= results)
    return Status::failure(TALC_ERROR_ARGUMENT, "%s: %s %d asks for result %d, but there %s", file(), noun(), index,
                           result, results == 0 ? "are none of a source" : "is only result 0");
  if (Status status = classes(result, rows); status.failed())
    return status;
  return rows == TALC_ROWS_LISTED ? listed(result) : Status();
}

// Programs that know only classes of the first token are told of others.
Status SequenceCheck::classes(int32_t result, int32_t rows) const {
  const artifact::ModelInfo &info = model.info();
  bool isOfClasses = info.outputs[result].kind == static_cast<uint32_t>(artifact::OutputKind::Classes);
  if (rows == TALC_ROWS_CLASSES && !isOfClasses)
    return Status::failure(TALC_ERROR_ARGUMENT,
                           "%s: sequence %d asks for TALC_ROWS_CLASSES of result %d, which has no classes of texts",
                           file(), index, result);
  if (rows == TALC_ROWS_FIRST && isOfClasses &&
      info.generation.classPlace != static_cast<int32_t>(artifact::ClassPlace::First))
    return Status::failure(TALC_ERROR_ARGUMENT,
                           "%s: sequence %d asks for TALC_ROWS_FIRST of result %d, but the model classifies a text by "
                           "another token; ask for TALC_ROWS_CLASSES",
                           file(), index, result);
  return {};
}

Status SequenceCheck::listed(int32_t result) const {
  const talc_wanted &wanted = sequence.wanted[result];
  if (wanted.listed_count < 1 || !wanted.listed)
    return Status::failure(TALC_ERROR_ARGUMENT, "%s: sequence %d lists no rows of result %d, expected at least 1",
                           file(), index, result);
  for (int32_t i = 0, least = 0; i < wanted.listed_count; least = wanted.listed[i++] + 1)
    if (wanted.listed[i] < least || wanted.listed[i] >= sequence.count)
      return Status::failure(TALC_ERROR_ARGUMENT,
                             "%s: sequence %d lists the row %d of result %d, expected %d to %d (ascending, each once)",
                             file(), index, wanted.listed[i], result, least, sequence.count - 1);
  return {};
}

}  // namespace talc
