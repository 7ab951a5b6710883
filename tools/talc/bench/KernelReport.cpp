// SPDX-License-Identifier: Apache-2.0
// A table for each phase and number of threads, below a line with what the machine can do; and the same without times
// for kernels that this machine cannot run.
#include "tools/talc/bench/Reports.h"
#include "tools/talc/bench/Table.h"

#include <fmt/format.h>

#include <algorithm>

namespace talc::bench {

using Json = nlohmann::ordered_json;

static std::vector<std::string> formatCells(const KernelResult &result, double stepSeconds) {
  const KernelEntry &kernel = *result.kernel;
  double seconds = result.time.total(), waiting = seconds > 0 ? result.time.waiting / seconds : 0;
  return {kernel.name,
          kernel.shapes,
          kernel.fused,
          kernel.share,
          std::to_string(kernel.calls),
          formatSeconds(seconds),
          formatShare(seconds / stepSeconds),
          fmt::format("{:.2f}", 1e-6 * result.costs.operations),
          fmt::format("{:.3f}", 1e-6 * result.costs.bytes()),
          formatRate(result.costs.operations, seconds),
          formatRate(result.costs.bytes(), seconds),
          formatShare(result.share()),
          result.limit,
          formatShare(waiting),
          std::to_string(result.time.barriers),
          std::to_string(kernel.spills),
          kernel.stored};
}

static std::string formatPhase(const PhaseResult &phase) {
  Table table({{"kernel"},
               {"shape"},
               {"fused"},
               {"divided by"},
               {"calls", true},
               {"time", true},
               {"of step", true},
               {"MFLOP", true},
               {"MB", true},
               {"GFLOP/s", true},
               {"GB/s", true},
               {"of roof", true},
               {"roof"},
               {"waiting", true},
               {"barriers", true},
               {"spills", true},
               {"weights and KV caches"}});
  int64_t barriers = 0, calls = 0;
  for (const KernelResult &result : phase.kernels) {
    table.add(formatCells(result, phase.stepSeconds));
    barriers += result.time.barriers;
    calls += result.kernel->calls;
  }
  double seconds = phase.kernelSeconds(), outside = std::max(phase.stepSeconds - seconds, 0.0);
  table.add({"outside kernels", "", "", "", "", formatSeconds(outside), formatShare(outside / phase.stepSeconds), "",
             "", "", "", "", "", "", "", "", ""});
  table.add({"total", "", "", "", std::to_string(calls), formatSeconds(phase.stepSeconds), "100 %",
             fmt::format("{:.2f}", 1e-6 * phase.costs.operations), fmt::format("{:.3f}", 1e-6 * phase.costs.bytes()),
             formatRate(phase.costs.operations, phase.stepSeconds), formatRate(phase.costs.bytes(), phase.stepSeconds),
             formatShare(phase.share()), "", "", std::to_string(barriers), "", ""});
  return fmt::format("{}\n\n{}\n", phase.title(), table.markdown());
}

// The fields that rows of measured and of emulated kernels have in common.
static Json describeCounts(const KernelResult &result) {
  const KernelEntry &kernel = *result.kernel;
  return {{"phase", kernel.phase},
          {"kernel", kernel.name},
          {"piece", kernel.op},
          {"shapes", kernel.shapes},
          {"fused", kernel.fused},
          {"share", kernel.share},
          {"calls", kernel.calls},
          {"operations", static_cast<int64_t>(result.costs.operations)},
          {"stored_bytes", static_cast<int64_t>(result.costs.storedBytes)},
          {"passed_bytes", static_cast<int64_t>(result.costs.passedBytes)},
          {"spills", kernel.spills}};
}

static Json describeKernel(const KernelResult &result, const PhaseResult &phase, const KernelTable &table) {
  Json row = {{"test", phase.name}, {"n_threads", table.machine.threads}};
  if (!table.app.empty())
    row["app"] = table.app;
  row.update(describeCounts(result));
  row.update({{"seconds", result.time.total()},
              {"seconds_waiting", result.time.waiting},
              {"step_seconds", phase.stepSeconds},
              {"roof_seconds", result.roofSeconds},
              {"roof_share", result.share()},
              {"roof", result.limit},
              {"barriers", result.time.barriers},
              {"stored", result.kernel->stored}});
  return row;
}

static Json describeMachineJson(const MachineProfile &machine) {
  Json levels = Json::array();
  for (const MemoryLevel &level : machine.levels)
    levels.push_back({{"name", level.name}, {"gbps", 1e-9 * level.bytesPerSecond}});
  Json peaks = Json::array();
  for (const MatmulPeak &peak : machine.peaks)
    peaks.push_back(
        {{"roof", peak.roof}, {"instructions", peak.instructions}, {"gops", 1e-9 * peak.operationsPerSecond}});
  return {{machine.device.empty() ? "cpu_info" : "gpu_info", machine.processor},
          {"device", machine.device},
          {"n_threads", machine.threads},
          {"instructions", machine.f32().instructions},
          {"gflops", 1e-9 * machine.f32().operationsPerSecond},
          {"peaks", peaks},
          {"levels", levels}};
}

constexpr const char *kernelLegend =
    R"(fused    ops that the kernel computes besides
of step  time of all calls of the kernel in the step, as a share of the step's
of roof  the least time that the machine could take, by the peak or bandwidth that roof names, divided by the time
waiting  share of the time that threads wait at the barriers behind the kernel
spills   vector registers that the compiled code keeps in memory
weights  names of what the kernel takes; * stands for what differs between its calls, such as the layer
)";

std::string formatKernelRows(const std::vector<KernelTable> &rows, const std::string &format, bool legend) {
  std::string text;
  Json machines = Json::array(), kernels = Json::array();
  for (const KernelTable &row : rows) {
    if (format == "md")
      text += (row.app.empty() ? "" : row.app + ", ") + row.machine.describe() + "\n\n";
    machines.push_back(describeMachineJson(row.machine));
    for (const PhaseResult &phase : row.phases) {
      if (format == "md")
        text += formatPhase(phase);
      for (const KernelResult &result : phase.kernels)
        kernels.push_back(describeKernel(result, phase, row));
    }
  }
  if (format == "md")
    return text + (legend ? kernelLegend : "");
  if (format == "json")
    return formatJson({{"machines", machines}, {"kernels", kernels}});
  return formatRecords(kernels, format, "talc_kernels");
}

static std::string formatPhaseCounts(const PhaseResult &phase) {
  Table table({{"kernel"},
               {"shape"},
               {"fused"},
               {"divided by"},
               {"calls", true},
               {"MFLOP", true},
               {"MB", true},
               {"spills", true},
               {"weights and KV caches"}});
  auto million = [](double count, int digits) { return fmt::format("{:.{}f}", 1e-6 * count, digits); };
  int64_t calls = 0;
  for (const KernelResult &result : phase.kernels) {
    const KernelEntry &kernel = *result.kernel;
    calls += kernel.calls;
    table.add({kernel.name, kernel.shapes, kernel.fused, kernel.share, std::to_string(kernel.calls),
               million(result.costs.operations, 2), million(result.costs.bytes(), 3), std::to_string(kernel.spills),
               kernel.stored});
  }
  table.add({"total", "", "", "", std::to_string(calls), million(phase.costs.operations, 2),
             million(phase.costs.bytes(), 3), "", ""});
  return fmt::format("{}\n\n{}\n", phase.title(), table.markdown());
}

static Json describeCounts(const KernelResult &result, const PhaseResult &phase, const KernelList &list) {
  Json row = {{"test", phase.name}, {"emulated", list.foreign}, {"target", list.machine()}};
  row.update(describeCounts(result));
  row["stored"] = result.kernel->stored;
  return row;
}

std::string formatCounts(const std::vector<PhaseResult> &phases, const KernelList &list, const std::string &proof,
                         const std::string &format) {
  std::string text =
      fmt::format("{}, emulated: what the compiler counted, without speeds; {}\n\n", list.machine(), proof);
  Json rows = Json::array();
  for (const PhaseResult &phase : phases) {
    text += formatPhaseCounts(phase);
    for (const KernelResult &result : phase.kernels)
      rows.push_back(describeCounts(result, phase, list));
  }
  return format == "md" ? text : formatRecords(rows, format, "talc_kernels");
}

// Describes the peak of f32 and the other peaks that kernels of these steps have.
static Json describePeaks(const KernelTable &table) {
  std::vector<const MatmulPeak *> peaks = {&table.machine.f32()};
  for (const PhaseResult &phase : table.phases)
    for (const KernelResult &kernel : phase.kernels)
      if (const MatmulPeak &peak = table.machine.peakFor(*kernel.kernel);
          std::none_of(peaks.begin(), peaks.end(), [&](const MatmulPeak *other) { return other->roof == peak.roof; }))
        peaks.push_back(&peak);
  Json described = Json::array();
  for (const MatmulPeak *peak : peaks)
    described.push_back(
        {{"name", fmt::format("{} {} {:.0f} {}/s", peak->instructions, peak->roof, 1e-9 * peak->operationsPerSecond,
                              peak->rounded.empty() ? "GFLOP" : "GOP")},
         {"operationsPerSecond", peak->operationsPerSecond}});
  return described;
}

static Json describeRoofline(const KernelTable &table) {
  const MachineProfile &machine = table.machine;
  Json levels = Json::array(), steps = Json::array();
  for (const MemoryLevel &level : machine.levels)
    levels.push_back({{"name", level.name}, {"bytesPerSecond", level.bytesPerSecond}});
  for (const PhaseResult &phase : table.phases) {
    Json kernels = Json::array();
    for (const KernelResult &kernel : phase.kernels)
      kernels.push_back({{"name", kernel.kernel->name},
                         {"shapes", kernel.kernel->shapes},
                         {"fused", kernel.kernel->fused},
                         {"operations", kernel.costs.operations},
                         {"bytes", kernel.costs.bytes()},
                         {"seconds", kernel.time.total()},
                         {"roofSeconds", kernel.roofSeconds}});
    steps.push_back({{"label", phase.label()}, {"seconds", phase.stepSeconds}, {"kernels", std::move(kernels)}});
  }
  return {{"machine", fmt::format("{}{}{}, {} thread{}", table.app, table.app.empty() ? "" : ", ", machine.processor,
                                  machine.threads, machine.threads == 1 ? "" : "s")},
          {"peaks", describePeaks(table)},
          {"levels", std::move(levels)},
          {"steps", std::move(steps)}};
}

Json describeRoofline(const std::vector<KernelTable> &tables, const std::string &title) {
  Json panels = Json::array();
  for (const KernelTable &table : tables)
    panels.push_back(describeRoofline(table));
  return {{"version", 1}, {"roofline", {{"title", title}, {"panels", std::move(panels)}}}};
}

}  // namespace talc::bench
