// SPDX-License-Identifier: Apache-2.0
// The texts that a run evaluates: those of the command line, or the lines of a file as they come.
#pragma once

#include "runtime/program/LineReader.h"
#include "runtime/program/PrefixText.h"

#include <deque>
#include <functional>
#include <optional>

namespace talc::program {

class Inputs {
public:
  // Why an input cannot be evaluated, if so; `place` is what messages call it.
  using Check = std::function<Status(const Prompt &input, const std::string &place)>;

  // `prefix` stands before every line.
  Inputs(const talc_model *model, const PrefixText &prefix) : model(model), prefix(prefix) {}

  // All inputs.
  void take(std::vector<Prompt> given);
  // Inputs are the lines of a file. One that is empty has no tokens, nor has one that is at fault, after a message.
  Status open(const std::string &path, Check check);

  // Makes inputs of lines that are there; see LineReader::read.
  Status fetch(bool waits);
  // No more will come.
  bool ended() const { return !readsLines || reader.ended(); }
  bool isStream() const { return readsLines && reader.isStream(); }

  size_t count() const { return first + prompts.size(); }  // so far
  const Prompt &operator[](size_t input) const { return prompts[input - first]; }
  // Nobody needs the input any more.
  void release(size_t input);

  // Which one to evaluate next: some lines at a time are ordered by length, so that those of like length meet.
  bool hasNext() const { return !order.empty(); }
  size_t next() const { return order.front(); }
  size_t takeNext();
  // An input without tokens, which is to be finished without evaluation; nothing: there are none.
  std::optional<size_t> takeEmpty();

  // Lines that could not be evaluated, and the code of the first.
  size_t failures() const { return failed; }
  talc_status failureCode() const { return code; }

private:
  Status addLine(std::string line);

  const talc_model *const model;
  const PrefixText &prefix;
  bool readsLines = false;
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

}  // namespace talc::program
