// SPDX-License-Identifier: Apache-2.0
// Implements the section Text of talc.h.
#include "runtime/CApiTypes.h"
#include "runtime/TokenizeText.h"
#include "runtime/tokenizer/TextStream.h"

#include <climits>
#include <cstring>

using talc::report;
using talc::Status;
using talc::wrongArgument;

struct talc_text_stream : talc::ApiObject {
  const talc::Model &model;
  talc::TextStream stream;
  talc::DecodeScratch scratch = {};  // holds the text that was returned last
};

// Returns `source` by the buffer rules of talc.h.
template <typename T, typename Size> static Status copyOut(const T *source, Size size, T *target, Size capacity) {
  if (!target)
    return {};
  if (capacity < size)
    return Status::failure(TALC_ERROR_CAPACITY, "the buffer holds %lld items, but %lld are needed",
                           static_cast<long long>(capacity), static_cast<long long>(size));
  if (size > 0)
    memcpy(target, source, size * sizeof(T));
  return {};
}

namespace talc::capi {

talc_status talc_tokenize_in(const talc_model *model, const char *language, const char *first, size_t first_size,
                             const char *second, size_t second_size, int32_t max_tokens, int32_t *ids, int32_t *types,
                             int32_t capacity, int32_t *count, int32_t *dropped, talc_error *error) try {
  if (!model || (!first && first_size > 0) || !count || capacity < 0 || max_tokens < 0 || first_size > INT_MAX ||
      second_size > INT_MAX)
    return wrongArgument(__func__, "model, text or count is NULL, or a size is outside 0 to 2^31 - 1", error);
  *count = 0;
  std::vector<int32_t> foundIds, foundTypes;
  std::string_view other(second, second ? second_size : 0);
  size_t cutIds = 0;
  Status status = talc::tokenizeText(model->model, language, {first, first_size}, second ? &other : nullptr, max_tokens,
                                     foundIds, foundTypes, cutIds);
  if (status.failed())
    return report(status, error);
  if (dropped)
    *dropped = static_cast<int32_t>(cutIds);
  *count = static_cast<int32_t>(foundIds.size());
  if (status = copyOut<int32_t, int32_t>(foundIds.data(), *count, ids, capacity); status.failed())
    return report(status, error);
  return report(copyOut<int32_t, int32_t>(foundTypes.data(), *count, types, capacity), error);
} catch (...) {
  return talc::refusedMemory(error);
}

talc_status talc_tokenize_within(const talc_model *model, const char *first, size_t first_size, const char *second,
                                 size_t second_size, int32_t max_tokens, int32_t *ids, int32_t *types, int32_t capacity,
                                 int32_t *count, int32_t *dropped, talc_error *error) try {
  return capi::talc_tokenize_in(model, nullptr, first, first_size, second, second_size, max_tokens, ids, types,
                                capacity, count, dropped, error);
} catch (...) {
  return talc::refusedMemory(error);
}

talc_status talc_tokenize_pair(const talc_model *model, const char *first, size_t first_size, const char *second,
                               size_t second_size, int32_t *ids, int32_t *types, int32_t capacity, int32_t *count,
                               talc_error *error) try {
  return capi::talc_tokenize_within(model, first, first_size, second, second_size, 0, ids, types, capacity, count,
                                    nullptr, error);
} catch (...) {
  return talc::refusedMemory(error);
}

talc_status talc_tokenize(const talc_model *model, const char *text, size_t size, int32_t *ids, int32_t capacity,
                          int32_t *count, talc_error *error) try {
  return capi::talc_tokenize_pair(model, text, size, nullptr, 0, ids, nullptr, capacity, count, error);
} catch (...) {
  return talc::refusedMemory(error);
}

int32_t talc_find_token(const talc_model *model, const char *spelling) {
  return model && spelling && model->model.tokenizer() ? model->model.tokenizer()->findToken(spelling) : -1;
}

const char *talc_token_spelling(const talc_model *model, int32_t id, size_t *size) {
  std::string_view spelling;
  if (model && model->model.tokenizer())
    spelling = model->model.tokenizer()->tokenText(id);
  if (size)
    *size = spelling.size();
  return spelling.empty() ? "" : spelling.data();
}

int32_t talc_is_special_token(const talc_model *model, int32_t id) {
  return model && model->model.tokenizer() && model->model.tokenizer()->isSpecial(id);
}

static Status checkTextInput(const talc::Model &model, const int32_t *ids, int32_t count) {
  Status status = talc::checkTokenizer(model);
  return status.failed() ? status : model.checkIds(ids, count, "ids");
}

talc_status talc_detokenize(const talc_model *model, const int32_t *ids, int32_t count, char *text, size_t capacity,
                            size_t *size, talc_error *error) try {
  if (!model || (!ids && count > 0) || count < 0 || !size)
    return wrongArgument(__func__, "model, ids or size is NULL, or count is negative", error);
  *size = 0;
  if (Status status = checkTextInput(model->model, ids, count); status.failed())
    return report(status, error);
  std::string result = model->model.tokenizer()->decode(ids, count);
  *size = result.size();
  return report(copyOut<char, size_t>(result.data(), *size, text, capacity), error);
} catch (...) {
  return talc::refusedMemory(error);
}

talc_status talc_text_stream_create(const talc_model *model, const int32_t *ids, int32_t count,
                                    talc_text_stream **stream, talc_error *error) try {
  if (!model || !stream || (!ids && count > 0) || count < 0)
    return wrongArgument(__func__, "model, ids or stream is NULL, or count is negative", error);
  *stream = nullptr;
  if (Status status = checkTextInput(model->model, ids, count); status.failed())
    return report(status, error);
  *stream = new talc_text_stream{{}, model->model, talc::TextStream(*model->model.tokenizer())};
  (*stream)->stream.follow(ids, count, (*stream)->scratch);
  return TALC_OK;
} catch (...) {
  return talc::refusedMemory(error);
}

void talc_text_stream_destroy(talc_text_stream *stream) {
  delete stream;
}

static void store(std::string_view text, const char **result, size_t *size) {
  *result = text.empty() ? "" : text.data();
  *size = text.size();
}

talc_status talc_text_stream_push(talc_text_stream *stream, int32_t id, const char **text, size_t *size,
                                  talc_error *error) try {
  if (!stream || !text || !size)
    return wrongArgument(__func__, "stream, text or size is NULL", error);
  *text = "";
  *size = 0;
  if (Status status = stream->model.checkIds(&id, 1, "text stream"); status.failed())
    return report(status, error);
  store(stream->stream.push(id, stream->scratch), text, size);
  return TALC_OK;
} catch (...) {
  return talc::refusedMemory(error);
}

talc_status talc_text_stream_finish(talc_text_stream *stream, const char **text, size_t *size, talc_error *error) try {
  if (!stream || !text || !size)
    return wrongArgument(__func__, "stream, text or size is NULL", error);
  store(stream->stream.finish(stream->scratch), text, size);
  return TALC_OK;
} catch (...) {
  return talc::refusedMemory(error);
}

}  // namespace talc::capi
