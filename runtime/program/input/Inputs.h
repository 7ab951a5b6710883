// SPDX-License-Identifier: Apache-2.0
// The texts of a run: those of the command line, or the lines of a file as they come.
#pragma once

#include "runtime/Status.h"
#include "runtime/program/input/LineReader.h"
#include "runtime/program/input/Prompts.h"

#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace talc::program {

class Inputs {
public:
  // Returns why an input cannot be evaluated, if so; `place` is its name in messages.
  using Check = std::function<Status(const Prompt &input, const std::string &place)>;

  // `prefix` stands before every line. References must outlive the object.
  Inputs(const talc_model *model, const TextRules &rules, const BeginTokens &beginTokens, const PrefixText &prefix)
      : model(model), rules(rules), beginTokens(beginTokens), prefix(prefix) {}

  // Takes all inputs.
  void take(std::vector<Prompt> inputs);
  // Reads inputs from the lines of a file. A wrong line has no tokens, after a message. `readsJson`: lines are JSON.
  // `takesPairs`: these may have a second text.
  Status open(const std::string &path, bool readsJson, bool takesPairs, Check check);

  // Makes inputs of the lines that have come; see LineReader::read.
  Status fetch(bool waits);
  // Whether no more inputs will come.
  bool ended() const { return !readsLines || reader.ended(); }
  bool isStream() const { return readsLines && reader.isStream(); }

  size_t count() const { return first + prompts.size(); }  // so far
  const Prompt &operator[](size_t input) const { return prompts[input - first]; }
  // Frees the input.
  void release(size_t input);

  // The input to evaluate next: some lines at a time are ordered by length, to batch those of like length.
  bool hasNext() const { return !order.empty(); }
  size_t next() const { return order.front(); }
  size_t takeNext();
  // An input without tokens, which is finished without evaluation; nothing: there is none.
  std::optional<size_t> takeEmpty();

  // The number of lines that could not be evaluated, and the code of the first.
  size_t failures() const { return failed; }
  talc_status failureCode() const { return code; }

private:
  Status addLine(std::string line);
  Status readLine(std::string line, const std::string &place, Prompt &prompt);

  const talc_model *const model;
  const TextRules &rules;
  const BeginTokens &beginTokens;
  const PrefixText &prefix;
  bool readsLines = false, readsJson = false, takesPairs = false;
  LineReader reader;
  std::string name;  // of the file, for messages
  Check check;
  std::vector<std::string> lines;  // read just now
  std::deque<Prompt> prompts;      // those still needed
  size_t first = 0;                // the number of the first of them
  std::deque<size_t> order, empty;
  size_t failed = 0;
  talc_status code = TALC_OK;
};

// Where a string goes: that of the key in the outermost object, or with null the JSON itself. Null: nowhere.
using JsonStringChoice = std::function<std::string *(const std::string *key)>;

// Returns false where the text is not JSON; `position` is then the byte where it is not.
bool readJsonStrings(std::string_view json, const JsonStringChoice &choose, size_t &position);

// A line of a JSON Lines file: "a text", or {"text": "a text", "pair": "the second of a pair"}; `prompt` and `input`
// mean `text`, too. Other keys are ignored.
struct JsonLine {
  std::string text;
  std::optional<std::string> pair = {};
};

// Fails with TALC_ERROR_TEXT. `place` is the name of the line in messages.
Status readJsonLine(std::string_view line, const std::string &place, JsonLine &result);

// Whether the name of a file says that its lines are JSON.
bool isJsonLinesName(std::string_view path);

}  // namespace talc::program
