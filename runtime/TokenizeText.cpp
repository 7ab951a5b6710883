// SPDX-License-Identifier: Apache-2.0
// Validates text, then calls the tokenizer.
#include "runtime/TokenizeText.h"

#include "runtime/tokenizer/Utf8.h"

namespace talc {

Status checkTokenizer(const Model &model) {
  if (model.tokenizer())
    return {};
  return Status::failure(TALC_ERROR_NO_TOKENIZER,
                         "%s: the model has no tokenizer; use token ids, or compile with --tokenizer",
                         model.name().c_str());
}

static Status checkText(std::string_view text) {
  size_t invalid = tokenizer::findInvalid(text);
  if (invalid == std::string_view::npos)
    return {};
  return Status::failure(TALC_ERROR_TEXT, "text: byte %zu (0x%02x) is not valid UTF-8; convert the text to UTF-8",
                         invalid, static_cast<unsigned char>(text[invalid]));
}

Status findLanguage(const Model &model, const char *name, int32_t &token) {
  if (Status status = checkTokenizer(model); status.failed())
    return status;
  token = model.tokenizer()->languages().findToken(name);
  if (token >= 0)
    return {};
  std::string list;
  for (const char *language : model.tokenizer()->languages().names())
    list += (list.empty() ? "it knows " : ", ") + std::string(language);
  return Status::failure(TALC_ERROR_ARGUMENT, "%s: '%s' is not a language of this model: %s", model.name().c_str(),
                         name, list.empty() ? "it knows none" : list.c_str());
}

Status tokenizeText(const Model &model, const char *language, std::string_view first, const std::string_view *second,
                    size_t maxTokens, std::vector<int32_t> &ids, std::vector<int32_t> &types, size_t &dropped) {
  if (Status status = checkTokenizer(model); status.failed())
    return status;
  if (Status status = checkText(first); status.failed())
    return status;
  if (Status status = second ? checkText(*second) : Status(); status.failed())
    return status;
  int32_t token = -1;
  if (Status status = language ? findLanguage(model, language, token) : Status(); status.failed())
    return status;
  const Tokenizer &tokenizer = *model.tokenizer();
  std::string error;
  bool cutsBegin = model.embeddingHead() && model.embeddingHead()->cutsBegin();
  if (!tokenizer.encodeWithin(first, second, maxTokens, cutsBegin, token, ids, types, dropped, error))
    return Status::failure(TALC_ERROR_TEXT, "%s: text cannot be encoded: %s", model.name().c_str(), error.c_str());
  return {};
}

}  // namespace talc
