// SPDX-License-Identifier: Apache-2.0
// Prints results in the order of their prompts, whatever order they come in.
#pragma once

#include "runtime/program/output/Output.h"
#include "runtime/program/output/Progress.h"

#include <deque>

namespace talc::program {

class Printer {
public:
  enum class Form {
    Stream,  // one result, printed as it grows
    Headed,  // a headline, then the result
    Lines,   // a line per result, without line breaks inside
    Plain,   // results as they are
    Nothing,
  };

  // `itemName`: the name of an input, for headlines. `count`: the number of results, for a progress bar; 0: there is
  // none. `output` must outlive the object.
  Printer(Output &output, Form form, const char *itemName, size_t count)
      : output(output), form(form), itemName(itemName), progress(count, count > 0) {}

  Status append(size_t index, std::string_view text);
  // Marks the result as complete.
  Status finish(size_t index);
  // Prints the rest: all results are complete.
  Status finishAll();

private:
  struct Result {
    std::string text;
    bool complete = false;
  };

  Result &at(size_t index);
  std::string dress(const Result &result) const;

  Output &output;
  const Form form;
  const char *const itemName;
  std::deque<Result> results;  // not printed yet
  size_t printed = 0;          // those before them
  Progress progress;
};

}  // namespace talc::program
