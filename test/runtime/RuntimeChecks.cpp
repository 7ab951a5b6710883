// SPDX-License-Identifier: Apache-2.0
// runtime-checks NAME ARGUMENT...: runs one check; exit status 0 when it passed.
#include "test/runtime/RuntimeChecks.h"

#include <cstdio>
#include <cstring>

namespace talc::test {

bool expect(bool condition, const std::string &what) {
  if (!condition)
    fprintf(stderr, "failed: %s\n", what.c_str());
  return condition;
}

bool fails(talc_status status, talc_status expected, const talc_error &error, const char *part) {
  bool right = status == expected && error.status == expected && strstr(error.text, part);
  return expect(right, std::string("expected '") + part + "', found " + std::to_string(status) + ": " + error.text);
}

}  // namespace talc::test

int main(int count, char **arguments) {
  using namespace talc::test;
  struct {
    const char *name;
    bool (*check)(const Arguments &);
  } const table[] = {
      {"allocations", checkAllocations},
      {"api", checkApi},
      {"beams", checkBeams},
      {"beam-sessions", checkBeamSessions},
      {"code", checkCode},
      {"cores", checkCores},
      {"damage", checkDamage},
      {"governor", checkGovernor},
      {"hostile", checkHostile},
      {"facts", checkFacts},
      {"failed-evaluations", checkFailedEvaluations},
      {"failed-steps", checkFailedSteps},
      {"forks", checkForks},
      {"interface", checkInterface},
      {"invariants", checkInvariants},
      {"kinds", checkKinds},
      {"refusals", checkRefusals},
      {"reorder", checkReorder},
      {"search", checkSearch},
      {"launch-code", checkLaunchCode},
      {"library", checkLibrary},
      {"mapping", checkMapping},
      {"rotary-tables", checkRotaryTables},
      {"sampler", checkSampler},
      {"opening", checkOpening},
      {"scores", checkScores},
      {"scores-of-parts", checkScoresOfParts},
      {"segments", checkSegments},
      {"session-options", checkSessionOptions},
      {"slots", checkSlots},
      {"slots-of-model", checkSlotsOfModel},
      {"states", checkStates},
      {"threads", checkThreads},
  };
  for (auto &entry : table)
    if (count > 1 && std::string(arguments[1]) == entry.name)
      return entry.check(Arguments(arguments + 2, arguments + count)) ? 0 : 1;
  fprintf(stderr, "usage: runtime-checks NAME ARGUMENT...\n");
  return 2;
}
