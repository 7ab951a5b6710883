// SPDX-License-Identifier: Apache-2.0
// The columns of KernelReport that need no clock.
#include "tools/talc/bench/CountReport.h"

#include "tools/talc/bench/KernelCounts.h"
#include "tools/talc/bench/RecordFormats.h"
#include "tools/talc/bench/Table.h"

#include <fmt/format.h>

namespace talc::bench {

using Json = nlohmann::ordered_json;

static std::string formatPhase(const PhaseResult &phase) {
  Table table({{"kernel"},
               {"shape"},
               {"fused"},
               {"divided by"},
               {"calls", true},
               {"MFLOP", true},
               {"MB", true},
               {"spills", true}});
  auto million = [](double count, int digits) { return fmt::format("{:.{}f}", 1e-6 * count, digits); };
  int64_t calls = 0;
  for (const KernelResult &result : phase.kernels) {
    const KernelEntry &kernel = *result.kernel;
    calls += kernel.calls;
    table.add({kernel.name, kernel.shapes, kernel.fused, kernel.share, std::to_string(kernel.calls),
               million(result.costs.operations, 2), million(result.costs.bytes(), 3), std::to_string(kernel.spills)});
  }
  table.add({"total", "", "", "", std::to_string(calls), million(phase.costs.operations, 2),
             million(phase.costs.bytes(), 3), ""});
  return fmt::format("{}\n\n{}\n", phase.title(), table.markdown());
}

static Json describe(const KernelResult &result, const PhaseResult &phase, const KernelList &list) {
  Json row = {{"test", phase.name}, {"emulated", list.foreign}, {"target", list.machine()}};
  row.update(describeCounts(result));
  return row;
}

std::string formatCounts(const std::vector<PhaseResult> &phases, const KernelList &list, const std::string &proof,
                         const std::string &format) {
  std::string text =
      fmt::format("{}, emulated: what the compiler counted, without speeds; {}\n\n", list.machine(), proof);
  Json rows = Json::array();
  for (const PhaseResult &phase : phases) {
    text += formatPhase(phase);
    for (const KernelResult &result : phase.kernels)
      rows.push_back(describe(result, phase, list));
  }
  return format == "md" ? text : formatRecords(rows, format, "talc_kernels");
}

}  // namespace talc::bench
