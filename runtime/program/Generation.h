// SPDX-License-Identifier: Apache-2.0
// Evaluates all prompts together and continues them until each has ended.
#pragma once

#include "runtime/program/Handles.h"
#include "runtime/program/LogitsFile.h"
#include "runtime/program/Printer.h"
#include "runtime/program/Sequence.h"

namespace talc::program {

struct Timing {
  size_t promptTokens = 0, decodedTokens = 0;
  double promptSeconds = 0, decodeSeconds = 0;
};

class Generation {
public:
  // `limit`: new tokens per sequence. All must outlive the object; `logits` may be null.
  Generation(talc_session *session, const talc_model_info &info, std::vector<Sequence> &sequences, size_t limit,
             bool ignoreEnd, Printer &printer, LogitsFile *logits)
      : session(session), info(info), sequences(sequences), limit(limit), ignoreEnd(ignoreEnd), printer(printer),
        logitsFile(logits) {}

  Status run();
  const Timing &timing() const { return time; }

private:
  Status evaluatePrompts();
  Status continueAll();
  void collectPrompts();
  void collectUnfinished();
  Status evaluate();
  Status takePromptLogits();
  Status extend(size_t sequence, const float *logits);

  talc_session *session;
  const talc_model_info &info;
  std::vector<Sequence> &sequences;
  const size_t limit;
  const bool ignoreEnd;
  Printer &printer;
  LogitsFile *logitsFile;
  std::vector<talc_sequence> step;  // slot i belongs to sequence i
  Timing time;
};

double secondsNow();

}  // namespace talc::program
