// SPDX-License-Identifier: Apache-2.0
// Generates texts for all inputs, several at a time, and prints them.
#pragma once

#include "runtime/ProgressLine.h"
#include "runtime/program/Handles.h"
#include "runtime/program/Job.h"
#include "runtime/program/output/Output.h"

#include <map>

namespace talc::program {

class TextGeneration {
public:
  // `settings`: the common part of all requests. The session has slots for `places` of them. References must outlive
  // the object; `logits` may be null.
  TextGeneration(const Job &job, talc_session *session, const talc_request &settings, size_t places, TensorFile *logits)
      : job(job), session(session), settings(settings), places(places), logitsFile(logits) {}

  Status run();

private:
  // The receiver of an input's events.
  struct Listener {
    TextGeneration *generation;
    size_t input;
    bool hasIds = false;    // some of its new ids are printed
    std::string echo = {};  // the prompt, if it is to be printed when it has been evaluated
  };

  Status createGenerator();
  Status submitNext();
  Status submit(size_t input);
  Status take(Listener &listener, const talc_event &event);
  Status printEcho(Listener &listener);
  Status appendText(size_t input, std::string_view text);
  bool writesIds() const { return settings.text_form == TALC_TEXT_NONE; }
  Status appendId(Listener &listener, int32_t id);
  Status finish(size_t input, const talc_event &event);
  bool searches() const { return settings.search->beams > 1; }
  // A terminal cannot show the prompt and its progress in one place.
  bool delaysEcho() const;
  bool showsPrompt() const { return !job.options.quiet && !job.fromFile && job.inputs.count() == 1; }
  void noteCounts() const;

  const Job &job;
  talc_session *const session;
  const talc_request &settings;
  const size_t places;
  TensorFile *const logitsFile;
  GeneratorHandle generator;
  std::map<size_t, Listener> listeners;  // of the inputs that were submitted and have not ended
  Status failure;                        // the first
  // It tells of a prompt that is alone; several texts have a line of their own.
  ProgressLine promptProgress{showsPrompt() ? "prompt" : ""};
  uint64_t promptDone = 0, promptTotal = 0;  // tokens
};

}  // namespace talc::program
