// SPDX-License-Identifier: Apache-2.0
// Checks of the runtime that need a program. Each returns whether all went well and says on stderr what did not.
#pragma once

#include "runtime/talc.h"

#include <string>
#include <vector>

namespace talc::test {

using Arguments = std::vector<std::string>;

bool checkAllocations(const Arguments &arguments);
bool checkApi(const Arguments &arguments);
bool checkBeams(const Arguments &arguments);
bool checkBeamSessions(const Arguments &arguments);
bool checkCode(const Arguments &arguments);
bool checkCores(const Arguments &arguments);
bool checkDamage(const Arguments &arguments);
bool checkFacts(const Arguments &arguments);
bool checkFailedEvaluations(const Arguments &arguments);
bool checkFailedSteps(const Arguments &arguments);
bool checkForks(const Arguments &arguments);
bool checkGovernor(const Arguments &arguments);
bool checkHostile(const Arguments &arguments);
bool checkInterface(const Arguments &arguments);
bool checkInvariants(const Arguments &arguments);
bool checkKinds(const Arguments &arguments);
bool checkLaunchCode(const Arguments &arguments);
bool checkLibrary(const Arguments &arguments);
bool checkMapping(const Arguments &arguments);
bool checkOpening(const Arguments &arguments);
bool checkRefusals(const Arguments &arguments);
bool checkReorder(const Arguments &arguments);
bool checkRotaryTables(const Arguments &arguments);
bool checkSampler(const Arguments &arguments);
bool checkScores(const Arguments &arguments);
bool checkScoresOfParts(const Arguments &arguments);
bool checkSearch(const Arguments &arguments);
bool checkSegments(const Arguments &arguments);
bool checkSessionOptions(const Arguments &arguments);
bool checkSlots(const Arguments &arguments);
bool checkSlotsOfModel(const Arguments &arguments);
bool checkStates(const Arguments &arguments);
bool checkThreads(const Arguments &arguments);

// The next `count` tokens of the sequence in `slot`; the rows are those of the first result.
inline talc_sequence tokens(int32_t slot, int32_t count, const int32_t *ids, talc_rows rows = TALC_ROWS_LAST) {
  talc_sequence sequence = {};
  sequence.slot = slot;
  sequence.count = count;
  sequence.ids = ids;
  sequence.wanted[0].rows = rows;
  return sequence;
}

// Prints `what` when `condition` is false; returns the condition.
bool expect(bool condition, const std::string &what);

// Expects a failure with a status and a part of the text.
bool fails(talc_status status, talc_status expected, const talc_error &error, const char *part);

}  // namespace talc::test
