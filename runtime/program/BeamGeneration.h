// SPDX-License-Identifier: Apache-2.0
// Continues texts by beam search; otherwise like Generation.
#pragma once

#include "runtime/program/Job.h"
#include "runtime/program/Schedule.h"
#include "runtime/program/Sequence.h"
#include "runtime/program/Sources.h"

namespace talc::program {

class BeamGeneration {
public:
  // The session has a slot for each beam of each place. All must outlive the object.
  BeamGeneration(const Job &job, talc_session *session, const SequenceRules &rules, size_t places);

  Status run();

private:
  void noteState();
  Status startNext();
  Status start(const Schedule::Start &start);
  Status end(size_t place);

  const Job &job;
  talc_session *const session;
  const SequenceRules &rules;
  Schedule schedule;
  Sources sources;
  BeamSearchHandle search;
};

}  // namespace talc::program
