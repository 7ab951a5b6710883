// SPDX-License-Identifier: Apache-2.0
// Continues texts by sampling: all places progress together, and a place whose text has ended takes the next one.
#pragma once

#include "runtime/program/Job.h"
#include "runtime/program/Schedule.h"
#include "runtime/program/Sequence.h"
#include "runtime/program/Sources.h"
#include "runtime/program/TensorFile.h"

namespace talc::program {

class Generation {
public:
  // The session has a slot for each place. All must outlive the object; `logits` may be null.
  Generation(const Job &job, talc_session *session, const SequenceRules &rules, size_t places, TensorFile *logits);

  Status run();

private:
  Status startNext();
  Status start(const Schedule::Start &start);
  void collect();
  size_t collectBeginning(size_t place, size_t room);
  Status evaluate();
  Status take(size_t index);
  Status extend(size_t place, const float *logits);
  Status end(size_t place);

  const Job &job;
  talc_session *const session;
  const SequenceRules &rules;
  TensorFile *const logitsFile;
  Schedule schedule;
  Sources sources;
  std::vector<Sequence> sequences;  // [place]; its slot has the same number
  std::vector<talc_sequence> step;
};

}  // namespace talc::program
