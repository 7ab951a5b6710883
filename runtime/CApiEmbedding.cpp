// SPDX-License-Identifier: Apache-2.0
// Implements talc_embedding.h: checks pointers and calls the head of embeddings.
#include "runtime/CApiTypes.h"
#include "runtime/StructSize.h"
#include "runtime/TokenizeText.h"

#include <climits>
#include <cstring>

using talc::report;
using talc::Status;
using talc::wrongArgument;

static_assert(TALC_EMBEDDING_LAST == static_cast<int>(talc::artifact::Pooling::Last));

namespace talc::capi {

talc_status talc_embedding_get_info(const talc_model *model, talc_embedding_info *info, talc_error *error) try {
  if (!model || !info)
    return wrongArgument(__func__, "model or info is NULL", error);
  talc_embedding_info whole = {};
  whole.default_prompt = -1;
  if (const talc::EmbeddingHead *head = model->model.embeddingHead()) {
    whole.width = head->width();
    whole.max_tokens = head->maxTokens();
    whole.excludes_prompt = head->excludesPrompt();
    whole.prompt_count = static_cast<int32_t>(head->prompts().size());
    whole.default_prompt = head->defaultPrompt();
    whole.prompt_names = head->promptNames().data();
    whole.prompts = head->prompts().data();
  }
  return report(talc::writeStruct(whole, sizeof(whole), "talc_embedding_info", info), error);
} catch (...) {
  return talc::refusedMemory(error);
}

static std::vector<float> makeEmbedding(const talc::EmbeddingHead &head, const talc_embedding_options &options,
                                        const float *hidden, int32_t count) {
  bool isOwn = options.pooling == TALC_EMBEDDING_OWN;
  std::vector<float> result =
      isOwn ? head.embed(hidden, count, options.prompt_tokens)
            : head.pool(static_cast<talc::artifact::Pooling>(options.pooling), hidden, count, options.prompt_tokens);
  if (options.normalize)
    talc::EmbeddingHead::normalize(result);
  return result;
}

talc_status talc_embed(const talc_model *model, const talc_embedding_options *options, const float *hidden,
                       int32_t count, float *embedding, int32_t capacity, int32_t *size, talc_error *error) try {
  if (!model || !hidden || count < 1 || capacity < 0 || !size)
    return wrongArgument(__func__, "model, hidden or size is NULL, count is not positive, or capacity is negative",
                         error);
  *size = 0;
  talc_embedding_options given;
  if (Status status = talc::readStruct(options, sizeof(given), "talc_embedding_options", given); status.failed())
    return report(status, error);
  if (given.pooling < TALC_EMBEDDING_OWN || given.pooling > TALC_EMBEDDING_LAST || given.prompt_tokens < 0)
    return wrongArgument(__func__, "pooling is unknown, or prompt_tokens is negative", error);
  const talc::EmbeddingHead *head = model->model.embeddingHead();
  if (!head || (given.pooling == TALC_EMBEDDING_OWN && head->width() == 0))
    return report(
        Status::failure(TALC_ERROR_KIND, "%s: the model makes no embeddings of texts", model->model.name().c_str()),
        error);
  std::vector<float> vector = makeEmbedding(*head, given, hidden, count);
  *size = static_cast<int32_t>(vector.size());
  if (embedding && capacity < *size)
    return report(
        Status::failure(TALC_ERROR_CAPACITY, "the buffer holds %d floats, but %d are needed", capacity, *size), error);
  if (embedding)
    memcpy(embedding, vector.data(), vector.size() * sizeof(float));
  return TALC_OK;
} catch (...) {
  return talc::refusedMemory(error);
}

}  // namespace talc::capi
