// SPDX-License-Identifier: Apache-2.0
// Reads files and calls the tokenizer.
#include "runtime/program/input/Prompts.h"

#include <cerrno>
#include <cstdio>
#include <cstring>

namespace talc::program {

std::string shownName(const std::string &path) {
  return path == "-" ? "standard input" : path;
}

const char *itemName(const talc_model_info &info) {
  return info.kind == TALC_MODEL_ENCODER ? "text" : "prompt";
}

// `path` "-" is standard input.
static Status readFile(const std::string &path, std::string &text) {
  bool standard = path == "-";
  std::string shown = shownName(path);
  FILE *file = standard ? stdin : fopen(path.c_str(), "re");
  if (!file)
    return Status::failure(TALC_ERROR_FILE, "%s: cannot be opened: %s", shown.c_str(), strerror(errno));
  char buffer[8192];
  size_t count;
  while (text.size() <= maxPromptBytes && (count = fread(buffer, 1, sizeof(buffer), file)) > 0)
    text.append(buffer, count);
  dropByteOrderMark(text);
  int error = ferror(file) ? errno : 0;
  if (!standard)
    fclose(file);
  if (error)
    return Status::failure(TALC_ERROR_FILE, "%s: cannot be read: %s", shown.c_str(), strerror(error));
  if (text.size() <= maxPromptBytes)
    return {};
  return Status::failure(TALC_ERROR_FILE, "%s: has more than %zu bytes, too long for a prompt", shown.c_str(),
                         maxPromptBytes);
}

void dropByteOrderMark(std::string &text) {
  if (text.compare(0, strlen(byteOrderMark), byteOrderMark) == 0)
    text.erase(0, strlen(byteOrderMark));
}

// Drops LF or CR LF.
static void dropLineEnd(std::string &text) {
  for (char end : {'\n', '\r'})
    if (!text.empty() && text.back() == end)
      text.pop_back();
}

// `second` may be null. `place` is the name of the text in messages.
static Status tokenize(const talc_model *model, const TextRules &rules, const std::string &place,
                       const std::string *second, Prompt &prompt) {
  talc_error error;
  int32_t count = 0, dropped = 0;
  const std::string text = rules.prompt() + prompt.text;
  // More ids than bytes are rare: most texts are tokenized once.
  size_t room = text.size() + (second ? second->size() : 0) + 16;
  talc_status code = TALC_ERROR_CAPACITY;
  for (int attempt = 0; attempt < 2 && code == TALC_ERROR_CAPACITY; ++attempt) {
    prompt.ids.resize(std::max<size_t>(room, count));
    prompt.types.resize(prompt.ids.size());
    code = talc_tokenize_in(model, rules.language(), text.data(), text.size(), second ? second->data() : nullptr,
                            second ? second->size() : 0, rules.maxTokens(), prompt.ids.data(), prompt.types.data(),
                            static_cast<int32_t>(prompt.ids.size()), &count, &dropped, &error);
  }
  if (code == TALC_OK && dropped > 0)
    rules.noteCut(place, dropped);
  prompt.ids.resize(code == TALC_OK ? count : 0);
  prompt.types.resize(prompt.ids.size());
  return Status::from(code, error);
}

// Token types are kept only for models that have them.
static void dropTypes(const talc_model *model, Prompt &prompt) {
  talc_model_info info = {};
  talc_model_get_info(model, &info, nullptr);
  if (info.token_types == 0)
    prompt.types.clear();
}

static Status readPrompt(const talc_model *model, const TextRules &rules, const std::string &place,
                         const PromptSource &source, Prompt &prompt) {
  prompt = {source.kind == PromptSource::Text ? source.text : "", source.ids, {}, source.decoderIds};
  if (source.kind == PromptSource::Ids)
    return {};
  if (source.kind == PromptSource::File)
    if (Status status = readFile(source.text, prompt.text); status.failed())
      return status;
  if (source.kind == PromptSource::File)
    dropLineEnd(prompt.text);
  Status status = tokenize(model, rules, place, source.pair ? &*source.pair : nullptr, prompt);
  dropTypes(model, prompt);
  return status;
}

// Adds the prompt or line that a failure happened in.
static Status failureIn(const std::string &place, const Status &status) {
  size_t colon = status.text().find(": ");  // after error[T0409]
  const char *what = status.text().c_str() + (colon == std::string::npos ? 0 : colon + 2);
  return Status::failure(status.code(), "%s: %s", place.c_str(), what);
}

Status readPrompts(const talc_model *model, const TextRules &rules, const std::vector<PromptSource> &sources,
                   const BeginTokens *begin, std::vector<Prompt> &prompts) {
  talc_model_info info = {};
  talc_model_get_info(model, &info, nullptr);
  const char *item = itemName(info);
  for (const PromptSource &source : sources) {
    Prompt prompt;
    const std::string place = item + (" " + std::to_string(prompts.size() + 1));
    Status status = readPrompt(model, rules, place, source, prompt);
    if (status.code() == TALC_ERROR_TEXT)
      return failureIn(place, status);
    if (status.failed())
      return status;
    if (source.kind != PromptSource::Ids && begin)
      begin->settle(prompt, place);
    if (prompt.ids.empty())
      return Status::failure(TALC_ERROR_BATCH, "%s %zu: has no tokens; give at least one", item, prompts.size() + 1);
    prompts.push_back(std::move(prompt));
  }
  return {};
}

// All texts have these tokens before their own, also the empty text.
BeginTokens::BeginTokens(const talc_model *model, const std::optional<std::string> &language, bool isAdded)
    : model(model), isAdded(isAdded) {
  const TextRules rules(language);
  talc_model_info info = {};
  talc_model_get_info(model, &info, nullptr);
  Prompt empty = {"", {}, {}, {}}, letter = {"a", {}, {}, {}};
  if (info.kind == TALC_MODEL_ENCODER || tokenize(model, rules, "", nullptr, empty).failed() ||
      tokenize(model, rules, "", nullptr, letter).failed())
    return;
  for (size_t i = 0; i < std::min(empty.ids.size(), letter.ids.size()) && empty.ids[i] == letter.ids[i]; ++i)
    if (talc_is_special_token(model, empty.ids[i]))
      ids.push_back(empty.ids[i]);
}

void BeginTokens::settle(Prompt &prompt, const std::string &place) const {
  auto begins = [&](size_t at) {
    return prompt.ids.size() >= at + ids.size() &&
           std::equal(ids.begin(), ids.end(), prompt.ids.begin() + static_cast<ptrdiff_t>(at));
  };
  if (ids.empty() || !begins(0))
    return;
  bool isDoubled = begins(ids.size());
  if (isAdded && !isDoubled)
    return;
  auto erase = [&](std::vector<int32_t> &list) {
    list.erase(list.begin(), list.begin() + static_cast<ptrdiff_t>(std::min(ids.size(), list.size())));
  };
  erase(prompt.ids);
  erase(prompt.types);
  if (!isAdded || hasWarned)
    return;
  hasWarned = true;
  size_t size = 0;
  const char *spelling = talc_token_spelling(model, ids.front(), &size);
  fprintf(stderr, "warning: %s: begins with %.*s, which the tokenizer puts before every text; it is kept once\n",
          place.c_str(), static_cast<int>(size), spelling);
}

Status tokenizeLine(const talc_model *model, const TextRules &rules, const std::string &place, const std::string *pair,
                    Prompt &line) {
  Status status = tokenize(model, rules, place, pair, line);
  dropTypes(model, line);
  return status.failed() ? failureIn(place, status) : status;
}

}  // namespace talc::program
