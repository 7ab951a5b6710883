// SPDX-License-Identifier: Apache-2.0
// Reads prompt files and calls the tokenizer.
#include "runtime/program/Prompts.h"

#include <cerrno>
#include <cstdio>
#include <cstring>

namespace talc::program {

constexpr size_t maxPromptBytes = size_t(64) << 20;

// `name` "-" is standard input.
static Status readFile(const std::string &name, std::string &text) {
  bool standard = name == "-";
  const char *shown = standard ? "standard input" : name.c_str();
  FILE *file = standard ? stdin : fopen(name.c_str(), "re");
  if (!file)
    return Status::failure(TALC_ERROR_FILE, "%s: cannot be opened: %s", shown, strerror(errno));
  char buffer[65536];
  size_t count;
  while (text.size() <= maxPromptBytes && (count = fread(buffer, 1, sizeof(buffer), file)) > 0)
    text.append(buffer, count);
  int error = ferror(file) ? errno : 0;
  if (!standard)
    fclose(file);
  if (error)
    return Status::failure(TALC_ERROR_FILE, "%s: cannot be read: %s", shown, strerror(error));
  if (text.size() > maxPromptBytes)
    return Status::failure(TALC_ERROR_FILE, "%s: has more than %zu bytes, too long for a prompt", shown,
                           maxPromptBytes);
  if (!text.empty() && text.back() == '\n')
    text.pop_back();
  return {};
}

static Status tokenize(const talc_model *model, Prompt &prompt) {
  talc_error error;
  int32_t count = 0;
  // More ids than bytes are rare: most texts are tokenized once.
  prompt.ids.resize(prompt.text.size() + 16);
  talc_status code = TALC_ERROR_CAPACITY;
  for (int attempt = 0; attempt < 2 && code == TALC_ERROR_CAPACITY; ++attempt) {
    if (static_cast<size_t>(count) > prompt.ids.size())
      prompt.ids.resize(count);
    code = talc_tokenize(model, prompt.text.data(), prompt.text.size(), prompt.ids.data(),
                         static_cast<int32_t>(prompt.ids.size()), &count, &error);
  }
  prompt.ids.resize(code == TALC_OK ? count : 0);
  return Status::from(code, error);
}

Status readPrompts(const talc_model *model, const std::vector<PromptSource> &sources, std::vector<Prompt> &prompts) {
  for (const PromptSource &source : sources) {
    Prompt prompt = {source.kind == PromptSource::Text ? source.text : "", source.ids};
    if (source.kind == PromptSource::File)
      if (Status status = readFile(source.text, prompt.text); status.failed())
        return status;
    if (source.kind != PromptSource::Ids)
      if (Status status = tokenize(model, prompt); status.failed())
        return status;
    if (prompt.ids.empty())
      return Status::failure(TALC_ERROR_BATCH, "prompt %zu: has no tokens; give at least one", prompts.size() + 1);
    prompts.push_back(std::move(prompt));
  }
  return {};
}

}  // namespace talc::program
