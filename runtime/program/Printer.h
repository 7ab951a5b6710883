// SPDX-License-Identifier: Apache-2.0
// Prints results in the order of their prompts, whatever the order in which they come.
#pragma once

#include "runtime/program/Output.h"
#include "runtime/program/Progress.h"

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

  // `count`: results in all. `itemName`: of an input, for headlines. `output` must outlive the object.
  Printer(Output &output, Form form, const char *itemName, size_t count, bool showsProgress)
      : output(output), form(form), itemName(itemName), results(count), complete(count),
        progress(count, showsProgress) {}

  Status append(size_t index, std::string_view text);
  // The result is complete.
  Status finish(size_t index);
  // All results are.
  Status finishAll();

private:
  std::string dress(size_t index) const;

  Output &output;
  const Form form;
  const char *const itemName;
  std::vector<std::string> results;  // not printed yet
  std::vector<bool> complete;
  size_t printed = 0;
  Progress progress;
};

}  // namespace talc::program
