// SPDX-License-Identifier: Apache-2.0
// Field names are llama-bench's (ggml-org/llama.cpp, tools/llama-bench), then talc's own: rates and shares of peaks.
#include "tools/talc/bench/Reports.h"

#include "tools/talc/bench/BenchOptions.h"
#include "tools/talc/bench/Table.h"
#include "tools/talc/bench/Timing.h"

#include <fmt/format.h>

#include <algorithm>

namespace talc::bench {

using Json = nlohmann::ordered_json;

static std::string modelType(const App &app) {
  return app.list.model + " " + app.list.weightType;
}

// The median, and between which values all of them lie.
struct Spread {
  double middle, minimum, maximum;
};

static Spread computeSpread(const std::vector<double> &ratios) {
  auto [minimum, maximum] = std::minmax_element(ratios.begin(), ratios.end());
  return {median(ratios), *minimum, *maximum};
}

static std::string backendName(const ModelTableRow &row) {
  return row.machine.device.empty() ? "CPU" : row.machine.device;
}

static Json describe(const ModelTableRow &row, bool several) {
  const TestResult &result = row.result;
  const TestCase &test = result.test;
  std::vector<double> rates = result.tokensPerSecond();
  Json samples = Json::array();
  for (double sample : result.nanoseconds)
    samples.push_back(static_cast<int64_t>(sample));
  Json fields = {{"build_commit", TALC_VERSION},
                 {"cpu_info", row.machine.device.empty() ? row.machine.processor : ""},
                 {"gpu_info", row.machine.device.empty() ? "" : row.machine.processor},
                 {"backends", backendName(row)},
                 {"model_filename", row.app->path},
                 {"model_type", modelType(*row.app)},
                 {"model_size", row.app->run.info().weightBytes},
                 {"model_n_params", row.app->list.parameters},
                 {"n_batch", test.batch},
                 {"n_ubatch", test.batch},
                 {"n_threads", test.threads},
                 {"n_seq", test.sequences},
                 {"n_prompt", test.prompt},
                 {"n_gen", test.generated},
                 {"n_depth", test.depth},
                 {"test_time", result.time},
                 {"avg_ns", static_cast<int64_t>(mean(result.nanoseconds))},
                 {"stddev_ns", static_cast<int64_t>(deviation(result.nanoseconds))},
                 {"avg_ts", mean(rates)},
                 {"stddev_ts", deviation(rates)},
                 {"operations", static_cast<int64_t>(result.costs.operations)},
                 {"stored_bytes", static_cast<int64_t>(result.costs.storedBytes)},
                 {"gflops", 1e-9 * result.operationsPerSecond()},
                 {"peak_instructions", row.machine.f32().instructions},
                 {"peak_gflops", 1e-9 * median(result.peakOperations)},
                 {"peak_share", result.peakShare()},
                 {"gbps", 1e-9 * result.storedBytesPerSecond()},
                 {"read_level", row.level().name},
                 {"read_gbps", 1e-9 * median(result.peakBytes)},
                 {"read_share", result.readShare()},
                 {"roof_share", result.roofShare()},
                 {"samples_ns", samples},
                 {"samples_ts", rates}};
  if (!several)
    return fields;
  Spread ratio = computeSpread(row.ratios);
  fields.update({{"ratio", ratio.middle},
                 {"ratio_least", ratio.minimum},
                 {"ratio_most", ratio.maximum},
                 {"samples_ratio", row.ratios}});
  return fields;
}

// "1.07 x (1.05 to 1.10)"
static std::string formatRatio(const ModelTableRow &row, const ModelTableRow &first) {
  if (row.app == first.app)
    return "1";
  Spread ratio = computeSpread(row.ratios);
  return fmt::format("{:.2f} x ({:.2f} to {:.2f})", ratio.middle, ratio.minimum, ratio.maximum);
}

static std::vector<std::string> formatCells(const ModelTableRow &row) {
  const TestResult &result = row.result;
  std::vector<double> rates = result.tokensPerSecond();
  return {result.test.name(),
          fmt::format("{:.2f} ± {:.2f}", mean(rates), deviation(rates)),
          fmt::format("{:.1f}", 1e-9 * result.operationsPerSecond()),
          formatShare(result.peakShare()),
          fmt::format("{:.1f}", 1e-9 * result.storedBytesPerSecond()),
          formatShare(result.readShare()) + " " + row.level().name,
          formatShare(result.roofShare())};
}

static std::string formatTable(const std::vector<ModelTableRow> &rows, bool several) {
  // As llama-bench does, only where it is not the usual one.
  bool batches = std::any_of(rows.begin(), rows.end(),
                             [](const ModelTableRow &row) { return row.result.test.batch != defaultBatch; });
  std::vector<Column> columns = {{"model"}, {"size"}, {"params"}, {"backend"}, {"threads", true}};
  if (several)
    columns.insert(columns.begin(), {"app"});
  if (batches)
    columns.push_back({"n_batch", true});
  for (const char *title : {"test", "t/s", "GFLOP/s", "of peak", "GB/s", "of read", "of roof"})
    columns.push_back({title, true});
  if (several)
    columns.push_back({"beside " + rows.front().app->path, true});
  Table table(columns);
  for (const ModelTableRow &row : rows) {
    std::vector<std::string> cells = {modelType(*row.app),
                                      formatBytes(static_cast<double>(row.app->run.info().weightBytes)),
                                      formatCount(static_cast<double>(row.app->list.parameters)), backendName(row),
                                      std::to_string(row.result.test.threads)};
    if (several)
      cells.insert(cells.begin(), row.app->path);
    if (batches)
      cells.push_back(std::to_string(row.result.test.batch));
    for (std::string &cell : formatCells(row))
      cells.push_back(std::move(cell));
    if (several)
      cells.push_back(formatRatio(row, rows.front()));
    table.add(cells);
  }
  std::string machines;
  for (size_t i = 0; i < rows.size(); ++i)
    if (i == 0 || rows[i].machine.threads != rows[i - 1].machine.threads)
      machines += "\n" + rows[i].machine.describe() + "\n";
  return table.markdown() + machines;
}

constexpr const char *modelLegend =
    R"(test     pp: tokens of a prompt, tg: generated tokens; @ d: tokens that the sequence has before
t/s      tokens a second: mean of the rounds ± standard deviation
of peak  multiply-adds a second as a share of the peaks of the instructions that the kernels use (f32, int8, bf16)
of read  bytes of weights and KV cache a second as a share of the bandwidth of the memory level named behind it
of roof  the least time that all kernels could take, each by its own peak or bandwidth, divided by the time
)";

std::string formatModelRows(const std::vector<ModelTableRow> &rows, const std::string &format, bool legend) {
  bool several =
      std::any_of(rows.begin(), rows.end(), [&](const ModelTableRow &row) { return row.app != rows[0].app; });
  if (format == "md")
    return formatTable(rows, several) + (legend ? "\n" + std::string(modelLegend) : "");
  Json described = Json::array();
  for (const ModelTableRow &row : rows)
    described.push_back(describe(row, several));
  return formatRecords(described, format, "talc_bench");
}

}  // namespace talc::bench
