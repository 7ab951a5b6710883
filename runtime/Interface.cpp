// SPDX-License-Identifier: Apache-2.0
// Implements talc.h: checks pointers, turns a Status into a talc_error, and calls the classes that do the work.
#include "runtime/InterfaceTypes.h"
#include "runtime/TextInput.h"
#include "runtime/sampling/Sampler.h"
#include "runtime/tokenizer/TextStream.h"

#include <algorithm>
#include <climits>
#include <cstring>

using talc::report;
using talc::Status;
using talc::wrongArgument;

struct talc_sampler {
  std::unique_ptr<talc::Sampler> sampler;
  talc::SamplingScratch &scratch;  // the session's
};

struct talc_text_stream {
  const talc::Model &model;
  talc::TextStream stream;
  talc::DecodeScratch scratch = {};  // has the text that was handed out last
};

constexpr int32_t maxSlots = 65536;

const char *talc_version(void) {
  return TALC_VERSION;
}

// ---- Model

talc_status talc_model_open(const char *path, const talc_open_options *options, talc_model **model,
                            talc_error *error) try {
  if (!model)
    return wrongArgument(__func__, "model is NULL", error);
  *model = nullptr;
  if (path && !*path)
    return wrongArgument(__func__, "path is empty", error);
  auto opened = std::make_unique<talc_model>();
  talc::OpenOptions choice;
  if (options)
    choice = {options->skip_weights_check == 0, options->copy_weights != 0};
  Status status = opened->model.open(path ? path : "", choice);
  if (!status.failed())
    *model = opened.release();
  return report(status, error);
} catch (...) {
  return talc::refusedMemory(error);
}

void talc_model_close(talc_model *model) {
  delete model;
}

static_assert(TALC_MODEL_ENCODER_DECODER == static_cast<int>(talc::artifact::ModelKind::EncoderDecoder) &&
              TALC_RESULT_TOKEN_CLASSES == static_cast<int>(talc::artifact::OutputKind::TokenClasses) &&
              TALC_POOLING_MEAN == static_cast<int>(talc::artifact::Pooling::Mean) &&
              TALC_MAX_RESULTS == talc::artifact::maxOutputs);

static void describeUse(const talc::Model &model, talc_model_info &info) {
  const talc::artifact::ModelInfo &facts = model.info();
  info.name = facts.name;
  info.kind = static_cast<talc_model_kind>(facts.kind);
  info.result_count = model.resultCount();
  for (int32_t i = 0; i < info.result_count; ++i)
    info.results[i] = {static_cast<talc_result_kind>(facts.outputs[i].kind),
                       static_cast<int32_t>(facts.outputs[i].width)};
  info.vocabulary_size = static_cast<int32_t>(facts.vocabularySize);
  info.source_vocabulary_size = static_cast<int32_t>(facts.sourceVocabularySize);
  info.token_types = static_cast<int32_t>(facts.tokenTypes);
  info.uses_prefix = static_cast<int32_t>(facts.usesPrefix);
  info.max_sequence = static_cast<int32_t>(facts.maxSequence);
  info.has_tokenizer = model.tokenizer() != nullptr;
  info.target = model.loaded().target();
  info.cpu_level = model.loaded().codeLevel();
  info.pooling = static_cast<talc_pooling>(facts.pooling);
  info.class_scores = static_cast<talc_class_scores>(facts.classScores);
}

static void describeTokens(const talc::Model &model, talc_model_info &info) {
  const talc::artifact::ModelInfo &facts = model.info();
  info.begin_token = facts.beginToken;
  info.mask_token = facts.maskToken;
  info.new_tokens = facts.newTokens;
  info.max_length = facts.maxLength;
  info.label_count = static_cast<int32_t>(model.labels().size());
  info.labels = model.labels().data();
  info.end_token_count = facts.endTokenCount;
  info.end_tokens = facts.endTokens;
  info.sampling = talc::defaultSampling(facts);
  info.search = talc::defaultSearch(facts);
}

static void describeMemory(const talc::artifact::ModelInfo &facts, talc_model_info &info) {
  info.weight_bytes = facts.weightBytes;
  info.state_bytes_per_token = facts.stateBytesPerToken;
  info.source_bytes_per_token = facts.sourceBytesPerToken;
  info.state_token_group = facts.stateTokenGroup;
  info.arena_bytes_per_token = facts.arenaBytesPerToken;
  info.arena_bytes_fixed = facts.arenaBytesFixed;
  info.arena_bytes_per_thread = facts.arenaBytesPerThread;
}

talc_status talc_model_get_info(const talc_model *model, talc_model_info *info, talc_error *error) try {
  if (!model || !info)
    return wrongArgument(__func__, "model or info is NULL", error);
  *info = {};
  describeUse(model->model, *info);
  describeTokens(model->model, *info);
  describeMemory(model->model.info(), *info);
  return TALC_OK;
} catch (...) {
  return talc::refusedMemory(error);
}

int32_t talc_is_end_token(const talc_model *model, int32_t id) {
  return model && model->model.isEndToken(id);
}

// ---- Evaluation

int32_t talc_default_threads(void) {
  return talc::defaultThreads();
}

int32_t talc_max_threads(void) {
  return talc::mostThreads();
}

talc_status talc_session_create(const talc_model *model, const talc_session_options *options, talc_session **session,
                                talc_error *error) try {
  if (!model || !session)
    return wrongArgument(__func__, "model or session is NULL", error);
  *session = nullptr;
  int32_t threads = options && options->threads ? options->threads : talc::defaultThreads();
  int32_t slots = options && options->slots ? options->slots : 1;
  if (threads < 1 || threads > talc::maxThreads)
    return wrongArgument(__func__, "threads must be 1 to 1024, or 0 for the default", error);
  if (slots < 1 || slots > maxSlots)
    return wrongArgument(__func__, "slots must be 1 to 65536, or 0 for 1", error);
  auto created = std::make_unique<talc_session>();
  Status status = talc::Session::create(model->model, threads, slots, created->session);
  if (!status.failed())
    *session = created.release();
  return report(status, error);
} catch (...) {
  return talc::refusedMemory(error);
}

void talc_session_destroy(talc_session *session) {
  delete session;
}

talc_status talc_evaluate(talc_session *session, const talc_sequence *sequences, int32_t count, talc_error *error) try {
  if (!session || !sequences || count < 1)
    return wrongArgument(__func__, "session or sequences is NULL, or count is below 1", error);
  return report(session->session->evaluate(sequences, count), error);
} catch (...) {
  return talc::refusedMemory(error);
}

talc_status talc_encode(talc_session *session, const talc_sequence *sequences, int32_t count, talc_error *error) try {
  if (!session || !sequences || count < 1)
    return wrongArgument(__func__, "session or sequences is NULL, or count is below 1", error);
  return report(session->session->encode(sequences, count), error);
} catch (...) {
  return talc::refusedMemory(error);
}

const float *talc_result(const talc_session *session, int32_t result, int32_t index, int32_t *rows) {
  int32_t found = 0;
  const float *data = session ? session->session->result(result, index, found) : nullptr;
  if (rows)
    *rows = found;
  return data;
}

const float *talc_logits(const talc_session *session, int32_t index, int32_t *rows) {
  return talc_result(session, 0, index, rows);
}

talc_status talc_reorder(talc_session *session, const int32_t *slots, const int32_t *parents, int32_t count,
                         talc_error *error) try {
  if (!session || !slots || !parents || count < 1)
    return wrongArgument(__func__, "session, slots or parents is NULL, or count is below 1", error);
  return report(session->session->reorder(slots, parents, count), error);
} catch (...) {
  return talc::refusedMemory(error);
}

static bool hasSlot(const talc_session *session, int32_t slot) {
  return session && slot >= 0 && slot < session->session->slots();
}

int32_t talc_slot_length(const talc_session *session, int32_t slot) {
  return hasSlot(session, slot) ? session->session->length(slot) : 0;
}

talc_status talc_slot_reset(talc_session *session, int32_t slot, talc_error *error) try {
  if (!session)
    return wrongArgument(__func__, "session is NULL", error);
  if (!hasSlot(session, slot))
    return report(Status::failure(TALC_ERROR_BATCH, "talc_slot_reset: slot %d, but the session has slots 0 to %d", slot,
                                  session->session->slots() - 1),
                  error);
  session->session->reset(slot);
  return TALC_OK;
} catch (...) {
  return talc::refusedMemory(error);
}

talc_status talc_session_get_memory(const talc_session *session, talc_session_memory *memory, int32_t *threads,
                                    talc_error *error) try {
  if (!session || !memory)
    return wrongArgument(__func__, "session or memory is NULL", error);
  *memory = session->session->memory();
  if (threads)
    *threads = session->session->threads();
  return TALC_OK;
} catch (...) {
  return talc::refusedMemory(error);
}

// ---- Sampling

talc_status talc_sampler_create(talc_session *session, const talc_sampling *sampling, const talc_search *rules,
                                int32_t length, talc_sampler **sampler, talc_error *error) try {
  if (!session || !sampler || length < 0)
    return wrongArgument(__func__, "session or sampler is NULL, or length is negative", error);
  *sampler = nullptr;
  const talc::Model &model = session->session->usedModel();
  talc_sampling settings = sampling ? *sampling : talc::defaultSampling(model.info());
  talc_search used = rules ? *rules : talc::defaultSearch(model.info());
  std::unique_ptr<talc_sampler> created(new talc_sampler{nullptr, session->scratch});
  Status status = talc::Sampler::create(model, settings, used, length, created->sampler);
  if (status.failed())
    return report(status, error);
  created->sampler->reserve(session->scratch);
  *sampler = created.release();
  return TALC_OK;
} catch (...) {
  return talc::refusedMemory(error);
}

void talc_sampler_destroy(talc_sampler *sampler) {
  delete sampler;
}

talc_status talc_sampler_accept(talc_sampler *sampler, const int32_t *ids, int32_t count, talc_error *error) try {
  if (!sampler || count < 0 || (!ids && count > 0))
    return wrongArgument(__func__, "sampler or ids is NULL, or count is negative", error);
  return report(sampler->sampler->accept(ids, count), error);
} catch (...) {
  return talc::refusedMemory(error);
}

talc_status talc_sample(talc_sampler *sampler, const float *logits, int32_t *id, talc_error *error) try {
  if (!sampler || !logits || !id)
    return wrongArgument(__func__, "sampler, logits or id is NULL", error);
  *id = 0;
  return report(sampler->sampler->sample(logits, sampler->scratch, *id), error);
} catch (...) {
  return talc::refusedMemory(error);
}

// ---- Text

// Hands `source` out by the buffer rules of talc.h.
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

talc_status talc_tokenize_pair(const talc_model *model, const char *first, size_t first_size, const char *second,
                               size_t second_size, int32_t *ids, int32_t *types, int32_t capacity, int32_t *count,
                               talc_error *error) try {
  if (!model || (!first && first_size > 0) || !count || capacity < 0 || first_size > INT_MAX || second_size > INT_MAX)
    return wrongArgument(__func__, "model, text or count is NULL, or a size is outside 0 to 2^31 - 1", error);
  *count = 0;
  std::vector<int32_t> foundIds, foundTypes;
  std::string_view other(second, second ? second_size : 0);
  Status status =
      talc::tokenizeText(model->model, {first, first_size}, second ? &other : nullptr, foundIds, foundTypes);
  if (status.failed())
    return report(status, error);
  *count = static_cast<int32_t>(foundIds.size());
  if (status = copyOut<int32_t, int32_t>(foundIds.data(), *count, ids, capacity); status.failed())
    return report(status, error);
  return report(copyOut<int32_t, int32_t>(foundTypes.data(), *count, types, capacity), error);
} catch (...) {
  return talc::refusedMemory(error);
}

talc_status talc_tokenize(const talc_model *model, const char *text, size_t size, int32_t *ids, int32_t capacity,
                          int32_t *count, talc_error *error) try {
  return talc_tokenize_pair(model, text, size, nullptr, 0, ids, nullptr, capacity, count, error);
} catch (...) {
  return talc::refusedMemory(error);
}

int32_t talc_find_token(const talc_model *model, const char *spelling) {
  return model && spelling && model->model.tokenizer() ? model->model.tokenizer()->findToken(spelling) : -1;
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
  *stream = new talc_text_stream{model->model, talc::TextStream(*model->model.tokenizer())};
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
