// SPDX-License-Identifier: Apache-2.0
// Evaluates batches on the device of its model, and keeps account of its slots.
#pragma once

#include "runtime/artifact/Model.h"
#include "runtime/device/Device.h"
#include "runtime/session/Batch.h"
#include "runtime/session/CandidateScores.h"
#include "runtime/session/SavedSlot.h"
#include "runtime/session/SegmentBackup.h"
#include "runtime/session/SegmentSplitter.h"

#include <memory>
#include <sys/types.h>
#include <vector>

namespace talc {

class Session {
public:
  // `model` must outlive the session. The device may take fewer threads.
  static Status create(const Model &model, const WorkspaceOptions &options, std::unique_ptr<Session> &session);
  // A process that was forked since takes nothing from its parent.
  ~Session();

  // All four either succeed or change no slot, except for an aborted encode(), and a step of a model with compressive
  // memories or states in which a device fails: these empty the slots of their sequences.
  Status evaluate(const talc_sequence *sequences, int32_t count);
  // Evaluates without results, except for the log-probabilities of each sequence's `candidates`.
  Status score(const talc_sequence *sequences, const talc_candidates *candidates, int32_t count);
  Status encode(const talc_sequence *sources, int32_t count);
  Status reorder(const int32_t *list, const int32_t *parents, int32_t count);
  // Whether the session is small enough for reorder(). Any thread may ask.
  Status checkReorderable() const { return model.hasSummaries() ? Status() : held.checkHistories(); }
  // A result [rows][width] of a sequence in the last evaluation, a row for each wanted token; null with 0 rows when it
  // wanted none.
  const float *result(int32_t output, int32_t sequence, int32_t &rows) const;

  int32_t slots() const { return held.count(); }
  int32_t threads() const { return workspace->threads(); }
  int32_t stepThreads() const { return workspace->stepThreads(); }
  int32_t length(int32_t slot) const { return held.length(slot); }
  void reset(int32_t slot) { held.reset(slot); }
  Status truncate(int32_t slot, int32_t length);
  // The bytes of a saved slot; fails where its tokens or its source are in other slots as well.
  Status measureSaved(int32_t slot, uint64_t &size) const;
  Status save(int32_t slot, unsigned char *bytes) const;
  Status load(int32_t slot, const unsigned char *bytes, uint64_t size);
  talc_session_memory memory() const;
  const Model &usedModel() const { return model; }

  // For profilers: see Workspace::measure.
  void measure(Workspace::Mark mark, void *state) { workspace->measure(mark, state); }
  const std::vector<LaunchTime> &launchTimes() const { return workspace->launchTimes(); }

private:
  Session(const Model &model, const WorkspaceOptions &options);
  SlotTokens tokensOf(int32_t slot) const { return {held.length(slot), held.sourceLength(slot)}; }
  Status evaluate(const talc_sequence *sequences, int32_t count, const Batch::Wanted *wanted);
  Status prepare(const talc_sequence *sequences, int32_t count, Batch::Purpose purpose,
                 const Batch::Wanted *wanted = nullptr);
  const float *outputRows(int32_t output, int32_t sequence) const;
  Status reserveStep();
  Status prepareUndo();
  void undo();
  Status run(EntryIndex entry);
  Status runChecked(const Step &step);
  bool isSound(const artifact::Span &span, EntryIndex entry) const;
  Status checkUnchanged() const;
  Status runParts();
  Status copy(const int32_t *list, const int32_t *parents, int32_t count);
  EntryIndex chooseEntry() const;
  Status wrongKind(const char *function, const char *expected) const;

  const Model &model;
  const pid_t process;  // that has created the session
  // Entries of the model, looked up by name; noEntry: it does not have the entry.
  const EntryIndex encodeEntry, prefillEntry, decodeEntry;
  const talc_should_abort ask;  // null: steps are not aborted
  void *const askUser;
  std::unique_ptr<Workspace> workspace;
  Slots held;
  Batch batch;
  SegmentSplitter cuts;
  CandidateScores scores;
  SegmentBackup backup;
  bool hasBackup = false;  // of the step's slots
  bool isAbortable = true;
  bool isCut = false;      // the batch is evaluated in parts
  bool evaluated = false;  // the batch's results are there
};

}  // namespace talc
