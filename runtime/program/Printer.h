// SPDX-License-Identifier: Apache-2.0
// Prints results: one text as it grows; several results in the order of their prompts.
#pragma once

#include "runtime/program/Sequence.h"

namespace talc::program {

class Printer {
public:
  enum class Form { Text, Ids, Nothing };

  // `echo`: print prompts before their continuations. `sequences` must outlive the object.
  Printer(std::vector<Sequence> &sequences, Form form, bool echo) : sequences(sequences), form(form), echo(echo) {}

  Status begin();
  // To be called after sequence `index` got a token.
  Status update(size_t index);
  // Prints what is left.
  Status finish();

private:
  bool streams() const { return form == Form::Text && sequences.size() == 1; }
  Status printResult(Sequence &sequence, size_t index);

  std::vector<Sequence> &sequences;
  const Form form;
  const bool echo;
  size_t printed = 0;  // results, when there are several
};

}  // namespace talc::program
