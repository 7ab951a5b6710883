// SPDX-License-Identifier: Apache-2.0
// Has texts generated for all inputs, several at a time, and prints them.
#pragma once

#include "runtime/program/Handles.h"
#include "runtime/program/Job.h"
#include "runtime/program/TensorFile.h"

namespace talc::program {

class Generation {
public:
  // `settings`: what all requests have in common. The session has slots for `places` of them. All must outlive the
  // object; `logits` may be null.
  Generation(const Job &job, talc_session *session, const talc_request &settings, size_t places, TensorFile *logits);

  Status run();

private:
  // Who hears of an input.
  struct Listener {
    Generation *generation;
    size_t input;
  };

  Status createGenerator();
  Status submitNext();
  Status submit(size_t input);
  Status take(size_t input, const talc_event &event);
  Status finish(size_t input, const talc_event &event);
  bool searches() const { return settings.search->beams > 1; }
  void noteCounts() const;

  const Job &job;
  talc_session *const session;
  const talc_request &settings;
  const size_t places;
  TensorFile *const logitsFile;
  GeneratorHandle generator;
  std::vector<size_t> order;        // of the inputs
  std::vector<Listener> listeners;  // [input]
  size_t submitted = 0, ended = 0;  // of the order
  Status failure;                   // the first
};

}  // namespace talc::program
