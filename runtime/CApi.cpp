// SPDX-License-Identifier: Apache-2.0
// Implements the sections Model to Sampling of talc.h: checks pointers, turns a Status into a talc_error, and calls the
// classes that do the work.
#include "runtime/CApiTypes.h"
#include "runtime/StructSize.h"
#include "runtime/sampling/ModelSettings.h"
#include "runtime/sampling/Sampler.h"

#include <algorithm>
#include <cstddef>

using talc::report;
using talc::Status;
using talc::wrongArgument;

struct talc_sampler : talc::ApiObject {
  std::unique_ptr<talc::Sampler> sampler;
  talc::SamplingScratch &scratch;  // the session's
};

constexpr int32_t maxSlots = 65536;
// Sizes of structs in the first version of talc.h.
constexpr size_t firstSessionOptions = sizeof(talc_session_options), firstInfo = offsetof(talc_model_info, device),
                 firstMemory = sizeof(talc_session_memory);

namespace talc::capi {

// ---- Model

void talc_model_close(talc_model *model) {
  delete model;
}

static_assert(TALC_MODEL_ENCODER_DECODER == static_cast<int>(talc::artifact::ModelKind::EncoderDecoder) &&
              TALC_RESULT_TOKEN_CLASSES == static_cast<int>(talc::artifact::OutputKind::TokenClasses) &&
              TALC_POOLING_MEAN == static_cast<int>(talc::artifact::Pooling::Mean) &&
              TALC_MAX_RESULTS == talc::artifact::maxResults);

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
  info.longest_sequence = static_cast<int32_t>(facts.longestSequence);
  info.window = static_cast<int32_t>(facts.window);
  info.kept_tokens = static_cast<int32_t>(facts.sinkTokens);
  info.step_tokens = static_cast<int32_t>(facts.stepTokens);
  info.has_tokenizer = model.tokenizer() != nullptr;
  info.target = model.loaded().target();
  info.cpu_level = model.loaded().codeLevel();
  info.device = model.device().name();
  info.device_note = model.deviceNote().empty() ? nullptr : model.deviceNote().c_str();
  info.device_steps = model.loaded().steps();
  info.pooling = static_cast<talc_pooling>(std::min<uint32_t>(facts.pooling, TALC_POOLING_OTHER));
}

static void describeTokens(const talc::Model &model, talc_model_info &info) {
  talc::describeSettings(model.info().generation, info);
  info.label_count = static_cast<int32_t>(model.labels().size());
  info.labels = model.labels().data();
  info.source_language = -1;
  if (const talc::Tokenizer *tokenizer = model.tokenizer()) {
    const talc::LanguageTable &languages = tokenizer->languages();
    info.language_count = static_cast<int32_t>(languages.names().size());
    info.source_language = languages.ownLanguage();
    info.languages = languages.names().data();
    info.language_tokens = languages.tokens().data();
  }
}

// Temporaries grow linearly with tokens and threads, on every device.
static void describeMemory(const talc::Model &model, talc_model_info &info) {
  const talc::artifact::ModelInfo &facts = model.info();
  auto temporaries = [&](int32_t threads, uint64_t rows) {
    return model.loaded().memoryFor(1, threads, {rows, {}}).temporaries;
  };
  info.weight_bytes = facts.weightBytes;
  info.state_bytes_per_token = facts.kvBytesPerToken;
  info.source_bytes_per_token = facts.sourceBytesPerToken;
  info.state_token_group = facts.kvTokenGroup;
  info.segment = static_cast<int32_t>(facts.segment);
  info.state_bytes_fixed = model.memoryBytes();
  info.arena_bytes_per_token = temporaries(1, 1) - temporaries(1, 0);
  info.arena_bytes_per_thread = temporaries(2, 0) - temporaries(1, 0);
  info.arena_bytes_fixed = temporaries(1, 0) - info.arena_bytes_per_thread;
}

talc_status talc_model_get_info(const talc_model *model, talc_model_info *info, talc_error *error) try {
  if (!model || !info)
    return wrongArgument(__func__, "model or info is NULL", error);
  talc_model_info whole = {};
  describeUse(model->model, whole);
  describeTokens(model->model, whole);
  describeMemory(model->model, whole);
  return report(talc::writeStruct(whole, firstInfo, "talc_model_info", info), error);
} catch (...) {
  return talc::refusedMemory(error);
}

talc_status talc_model_get_manifest(const talc_model *model, talc_manifest *manifest, talc_error *error) try {
  if (!model || !manifest)
    return wrongArgument(__func__, "model or manifest is NULL", error);
  talc_manifest whole = {};
  std::string_view json = model->model.manifest();
  whole.json = json.data();
  whole.json_size = json.size();
  whole.artifact_hash = model->model.fingerprint();
  whole.weights_hash = model->model.weightsHash();
  return report(talc::writeStruct(whole, sizeof(whole), "talc_manifest", manifest), error);
} catch (...) {
  return talc::refusedMemory(error);
}

uint64_t talc_state_bytes(const talc_model *model, int32_t tokens) {
  return model && tokens > 0 ? model->model.kvBytes(tokens, false) : 0;
}

int32_t talc_is_end_token(const talc_model *model, int32_t id) {
  return model && model->model.isEndToken(id);
}

// ---- Evaluation

talc_status talc_session_create(const talc_model *model, const talc_session_options *options, talc_session **session,
                                talc_error *error) try {
  if (!model || !session)
    return wrongArgument(__func__, "model or session is NULL", error);
  *session = nullptr;
  talc_session_options given;
  if (Status status = talc::readStruct(options, firstSessionOptions, "talc_session_options", given); status.failed())
    return report(status, error);
  int32_t threads = given.threads ? given.threads : talc::defaultThreads();
  int32_t slots = given.slots ? given.slots : 1;
  if (threads < 1 || threads > talc::maxThreads)
    return wrongArgument(__func__, "threads must be 1 to 1024, or 0 for the default", error);
  if (given.reserved != 0)
    return wrongArgument(__func__, "reserved must be 0", error);
  if (slots < 1 || slots > maxSlots)
    return wrongArgument(__func__, "slots must be 1 to 65536, or 0 for 1", error);
  talc::WorkspaceOptions wanted = {slots, threads};
  wanted.ask = given.should_abort;
  wanted.askUser = given.abort_user;
  if (given.allocator)
    wanted.allocator = *given.allocator;
  if (given.allocator && (!wanted.allocator.allocate || !wanted.allocator.release))
    return wrongArgument(__func__, "the allocator lacks a function", error);
  auto created = std::make_unique<talc_session>();
  Status status = talc::Session::create(model->model, wanted, created->session);
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

talc_status talc_score(talc_session *session, const talc_sequence *sequences, const talc_candidates *candidates,
                       int32_t count, talc_error *error) try {
  if (!session || !sequences || !candidates || count < 1)
    return wrongArgument(__func__, "session, sequences or candidates is NULL, or count is below 1", error);
  return report(session->session->score(sequences, candidates, count), error);
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
  int32_t rowCount = 0;
  const float *data = session ? session->session->result(result, index, rowCount) : nullptr;
  if (rows)
    *rows = rowCount;
  return data;
}

const float *talc_logits(const talc_session *session, int32_t index, int32_t *rows) {
  return capi::talc_result(session, 0, index, rows);
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

static talc_status unknownSlot(const char *function, const talc_session *session, int32_t slot, talc_error *error) {
  if (!session)
    return wrongArgument(function, "session is NULL", error);
  return report(Status::failure(TALC_ERROR_BATCH, "%s: slot %d, but the session has slots 0 to %d", function, slot,
                                session->session->slots() - 1),
                error);
}

talc_status talc_slot_reset(talc_session *session, int32_t slot, talc_error *error) try {
  if (!hasSlot(session, slot))
    return unknownSlot(__func__, session, slot, error);
  session->session->reset(slot);
  return TALC_OK;
} catch (...) {
  return talc::refusedMemory(error);
}

talc_status talc_slot_truncate(talc_session *session, int32_t slot, int32_t length, talc_error *error) try {
  if (!hasSlot(session, slot))
    return unknownSlot(__func__, session, slot, error);
  return report(session->session->truncate(slot, length), error);
} catch (...) {
  return talc::refusedMemory(error);
}

talc_status talc_slot_save(const talc_session *session, int32_t slot, void *bytes, size_t capacity, size_t *size,
                           talc_error *error) try {
  if (!size)
    return wrongArgument(__func__, "size is NULL", error);
  *size = 0;
  if (!hasSlot(session, slot))
    return unknownSlot(__func__, session, slot, error);
  uint64_t savedBytes = 0;
  if (Status status = session->session->measureSaved(slot, savedBytes); status.failed())
    return report(status, error);
  *size = savedBytes;
  if (!bytes)
    return TALC_OK;
  if (capacity < savedBytes)
    return report(Status::failure(TALC_ERROR_CAPACITY, "the buffer holds %zu bytes, but %zu are needed", capacity,
                                  static_cast<size_t>(savedBytes)),
                  error);
  if (Status status = session->session->save(slot, static_cast<unsigned char *>(bytes)); status.failed())
    return report(status, error);
  return TALC_OK;
} catch (...) {
  return talc::refusedMemory(error);
}

talc_status talc_slot_load(talc_session *session, int32_t slot, const void *bytes, size_t size, talc_error *error) try {
  if (!hasSlot(session, slot))
    return unknownSlot(__func__, session, slot, error);
  if (!bytes)
    return wrongArgument(__func__, "bytes is NULL", error);
  return report(session->session->load(slot, static_cast<const unsigned char *>(bytes), size), error);
} catch (...) {
  return talc::refusedMemory(error);
}

talc_status talc_session_get_memory(const talc_session *session, talc_session_memory *memory, int32_t *threads,
                                    talc_error *error) try {
  if (!session || !memory)
    return wrongArgument(__func__, "session or memory is NULL", error);
  if (threads)
    *threads = session->session->threads();
  return report(talc::writeStruct(session->session->memory(), firstMemory, "talc_session_memory", memory), error);
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
  talc_sampling settings = talc::completeSampling(sampling, model.info());
  talc_search used = talc::completeSearch(rules, model.info());
  std::unique_ptr<talc_sampler> created(new talc_sampler{{}, nullptr, session->scratch});
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

talc_status talc_sampler_bias(talc_sampler *sampler, const talc_logit_bias *biases, int32_t count,
                              talc_error *error) try {
  if (!sampler || count < 0 || (!biases && count > 0))
    return wrongArgument(__func__, "sampler or biases is NULL, or count is negative", error);
  Status status = sampler->sampler->setBiases(biases, count);
  sampler->sampler->reserve(sampler->scratch);
  return report(status, error);
} catch (...) {
  return talc::refusedMemory(error);
}

talc_status talc_sampler_allow(talc_sampler *sampler, const uint32_t *bits, int32_t words, talc_error *error) try {
  if (!sampler)
    return wrongArgument(__func__, "sampler is NULL", error);
  Status status = sampler->sampler->allow(bits, words);
  sampler->sampler->reserve(sampler->scratch);
  return report(status, error);
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

}  // namespace talc::capi

int32_t talc_default_threads(void) {
  return talc::defaultThreads();
}

int32_t talc_max_threads(void) {
  return talc::maxUsableThreads();
}
