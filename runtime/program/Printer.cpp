// SPDX-License-Identifier: Apache-2.0
// Decides when which result is written.
#include "runtime/program/Printer.h"

#include <algorithm>
#include <utility>

namespace talc::program {

Status Printer::append(size_t index, std::string_view text) {
  if (form == Form::Stream)
    return output.write(text);
  results[index] += text;
  return {};
}

std::string Printer::dress(size_t index) const {
  std::string text = results[index];
  if (form == Form::Headed)
    text = std::string("==> ") + itemName + " " + std::to_string(index + 1) + " <==\n" + text;
  if (form == Form::Lines)
    std::replace(text.begin(), text.end(), '\n', ' ');
  return text + "\n";
}

Status Printer::finish(size_t index) {
  complete[index] = true;
  progress.advance();
  for (; printed < results.size() && complete[printed]; ++printed) {
    if (form != Form::Nothing)
      if (Status status = output.write(dress(printed)); status.failed())
        return status;
    std::string().swap(results[printed]);
  }
  return {};
}

Status Printer::finishAll() {
  progress.finish();
  return output.finish();
}

}  // namespace talc::program
