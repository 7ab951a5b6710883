// SPDX-License-Identifier: Apache-2.0
// Decides when which result is written.
#include "runtime/program/output/Printer.h"

#include <algorithm>

namespace talc::program {

Printer::Result &Printer::at(size_t index) {
  if (index - printed >= results.size())
    results.resize(index - printed + 1);
  return results[index - printed];
}

Status Printer::append(size_t index, std::string_view text) {
  if (form == Form::Stream)
    return output.write(text);
  at(index).text += text;
  return {};
}

// The headline of the first result that is not printed.
std::string Printer::dress(const Result &result) const {
  std::string text = result.text;
  if (form == Form::Headed)
    text = std::string("==> ") + itemName + " " + std::to_string(printed + 1) + " <==\n" + text;
  if (form == Form::Lines)
    std::replace(text.begin(), text.end(), '\n', ' ');
  return text + "\n";
}

Status Printer::finish(size_t index) {
  at(index).complete = true;
  progress.advance();
  for (; !results.empty() && results.front().complete; ++printed) {
    if (form != Form::Nothing)
      if (Status status = output.write(dress(results.front())); status.failed())
        return status;
    results.pop_front();
  }
  return {};
}

Status Printer::finishAll() {
  progress.finish();
  return output.finish();
}

}  // namespace talc::program
