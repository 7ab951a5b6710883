// SPDX-License-Identifier: Apache-2.0
// Evaluates texts with an encoder, in batches of like lengths.
#pragma once

#include "runtime/program/Answers.h"
#include "runtime/program/output/Output.h"

namespace talc::program {

class TextEncoding {
public:
  // The session has `places` slots. References must outlive the object; the files may be null.
  TextEncoding(const Job &job, talc_session *session, size_t places, TensorFile *logits, TensorFile *hidden)
      : job(job), session(session), places(places), logitsFile(logits), hiddenFile(hidden) {}

  Status run();

private:
  Status evaluate(const size_t *inputs, size_t count);
  void want(size_t input, talc_sequence &sequence);
  Status take(size_t input, int32_t index);

  const Job &job;
  talc_session *const session;
  const size_t places;
  TensorFile *const logitsFile, *const hiddenFile;
  std::vector<talc_sequence> step;
  std::vector<Answer> answers;  // of the step
};

}  // namespace talc::program
