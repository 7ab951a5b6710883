// SPDX-License-Identifier: Apache-2.0
// Parses prompts, divides them among steps, and writes their results.
#include "test/numerics/Prompts.h"

#include "test/numerics/TensorFile.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/raw_ostream.h"

#include <algorithm>
#include <numeric>
#include <optional>

namespace talc::numerics {

using llvm::createStringError;
using llvm::Error;

Ids Prompt::outputTokens(OutputSelection selection, size_t count) const {
  auto last = static_cast<int32_t>(count) - 1;
  Ids result;
  if (selection == OutputSelection::all) {
    result.resize(count);
    std::iota(result.begin(), result.end(), 0);
  }
  if (selection == OutputSelection::first && done == 0)
    result = {0};
  if (selection == OutputSelection::last && done + count == ids.size())
    result = {last};
  if (selection == OutputSelection::even)
    for (size_t i = done % 2; i < count; i += 2)
      result.push_back(static_cast<int32_t>(i));
  return result;
}

// "5,7,9"; nothing if the text is something else.
static std::optional<Ids> parseIntegers(llvm::StringRef text) {
  llvm::SmallVector<llvm::StringRef> parts;
  text.split(parts, ',');
  Ids result;
  for (llvm::StringRef part : parts) {
    int32_t value;
    if (part.trim().getAsInteger(10, value))
      return std::nullopt;
    result.push_back(value);
  }
  return result;
}

static Error parse(llvm::StringRef option, const std::string &text, Ids &result) {
  std::optional<Ids> parsed = parseIntegers(text);
  if (!parsed)
    return createStringError("--" + option + " " + text + ": expected integers separated by commas");
  result = std::move(*parsed);
  return Error::success();
}

// The i-th text belongs to the i-th prompt.
static Error parse(llvm::StringRef option, const std::vector<std::string> &texts, std::vector<Prompt> &prompts,
                   Ids Prompt::*field) {
  if (texts.size() > prompts.size())
    return createStringError("--" + option + " is given more often than --ids");
  for (size_t i = 0; i < texts.size(); ++i)
    if (Error error = parse(option, texts[i], prompts[i].*field))
      return error;
  return Error::success();
}

static Error parseRows(const std::string &text, std::vector<OutputSelection> &rows) {
  llvm::SmallVector<llvm::StringRef> names;
  llvm::StringRef(text).split(names, ',', -1, false);
  for (llvm::StringRef name : names) {
    auto choice = llvm::StringSwitch<std::optional<OutputSelection>>(name)
                      .Case("all", OutputSelection::all)
                      .Case("first", OutputSelection::first)
                      .Case("last", OutputSelection::last)
                      .Case("even", OutputSelection::even)
                      .Default(std::nullopt);
    if (!choice)
      return createStringError("--rows " + text + ": expected all, first, last or even for each result");
    rows.push_back(*choice);
  }
  return Error::success();
}

Error PromptOptions::parse() {
  prompts.resize(ids.size());
  if (Error error = numerics::parse("ids", ids, prompts, &Prompt::ids))
    return error;
  if (Error error = numerics::parse("types", types, prompts, &Prompt::types))
    return error;
  if (Error error = numerics::parse("source-ids", sources, prompts, &Prompt::source))
    return error;
  for (const Prompt &prompt : prompts)
    if (!prompt.types.empty() && prompt.types.size() != prompt.ids.size())
      return createStringError("--types: %zu for a prompt of %zu tokens", prompt.types.size(), prompt.ids.size());
  if (prefixes.size() > prompts.size())
    return createStringError("--prefix is given more often than --ids");
  for (size_t i = 0; i < prefixes.size(); ++i)
    prompts[i].prefix = prefixes[i];
  if (!splitText.empty()) {
    std::optional<Ids> parsed = parseIntegers(splitText);
    if (!parsed || llvm::any_of(*parsed, [](int32_t part) { return part <= 0; }))
      return createStringError("--split " + splitText + ": expected positive integers separated by commas");
    split = std::move(*parsed);
  }
  return parseRows(rowsText, rows);
}

Error runSteps(llvm::ArrayRef<Prompt> prompts, const Ids &split, llvm::function_ref<Error(llvm::ArrayRef<Part>)> step) {
  for (size_t number = 0;; ++number) {
    size_t count = split.empty() ? SIZE_MAX : split[std::min(number, split.size() - 1)];
    std::vector<Part> parts;
    for (size_t i = 0; i < prompts.size(); ++i) {
      const Prompt &prompt = prompts[i];
      size_t minTokens = prompt.done == 0 ? prompt.prefix : 0;
      size_t tokens = std::min(std::max(count, minTokens), prompt.ids.size() - prompt.done);
      if (tokens > 0)
        parts.push_back({i, tokens});
    }
    if (parts.empty())
      return Error::success();
    if (Error error = step(parts))
      return error;
  }
}

OutputSelection PromptOptions::outputSelection(llvm::StringRef kind, size_t result) const {
  if (result < rows.size())
    return rows[result];
  return kind == "classes" ? OutputSelection::first : OutputSelection::all;
}

Error PromptOptions::write(const std::vector<std::string> &kinds) const {
  if (logits.empty())
    return Error::success();
  TensorFile file;
  for (size_t i = 0; i < prompts.size(); ++i) {
    for (auto [kind, rows] : llvm::zip(kinds, prompts[i].results)) {
      if (kind.empty())
        continue;
      int64_t count = rows.width > 0 ? static_cast<int64_t>(rows.values.size()) / rows.width : 0;
      file[prompts.size() == 1 ? kind : kind + "." + std::to_string(i)] =
          FileTensor::floats({count, rows.width}, rows.values);
    }
  }
  return writeTensors(logits, file);
}

int finish(Error error) {
  if (!error)
    return 0;
  llvm::errs() << llvm::toString(std::move(error)) << "\n";
  return 1;
}

}  // namespace talc::numerics
