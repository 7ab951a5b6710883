// SPDX-License-Identifier: Apache-2.0
// Decides when which result goes to standard output.
#include "runtime/program/Printer.h"

#include "runtime/program/Output.h"

namespace talc::program {

Status Printer::begin() {
  return streams() && echo ? printOut(sequences.front().prompt().text) : Status();
}

Status Printer::update(size_t index) {
  if (streams())
    return printOut(sequences[index].takeText());
  for (; printed < sequences.size() && sequences[printed].ended(); ++printed)
    if (Status status = printResult(sequences[printed], printed); status.failed())
      return status;
  return {};
}

Status Printer::printResult(Sequence &sequence, size_t index) {
  if (form == Form::Nothing)
    return {};
  if (form == Form::Ids)
    return printOut(joinIds(sequence.generated()) + "\n");
  std::string text = "==> prompt " + std::to_string(index + 1) + " <==\n";
  text += (echo ? sequence.prompt().text : "") + sequence.takeText() + "\n";
  return printOut(text);
}

Status Printer::finish() {
  if (streams())
    return printOut("\n");
  for (; printed < sequences.size(); ++printed)
    if (Status status = printResult(sequences[printed], printed); status.failed())
      return status;
  return {};
}

}  // namespace talc::program
