// SPDX-License-Identifier: Apache-2.0
// Field names are llama-bench's (ggml-org/llama.cpp, tools/llama-bench), then talc's own: rates and shares of peaks.
#include "tools/talc/bench/ModelReport.h"

#include "tools/talc/bench/BenchOptions.h"
#include "tools/talc/bench/Csv.h"
#include "tools/talc/bench/Statistics.h"
#include "tools/talc/bench/Table.h"

#include <fmt/format.h>

#include <algorithm>

namespace talc::bench {

using Json = nlohmann::ordered_json;

static std::string modelType(const KernelList &kernels) {
  return kernels.model + " " + kernels.weightType;
}

static Json describe(const ModelRow &row, const KernelList &kernels, const ModelRun &run, const std::string &file) {
  const TestResult &result = row.result;
  const TestCase &test = result.test;
  std::vector<double> rates = result.tokensPerSecond();
  Json samples = Json::array();
  for (double sample : result.nanoseconds)
    samples.push_back(static_cast<int64_t>(sample));
  return {{"build_commit", TALC_VERSION},
          {"cpu_info", row.machine.processor},
          {"gpu_info", ""},
          {"backends", "CPU"},
          {"model_filename", file},
          {"model_type", modelType(kernels)},
          {"model_size", run.info().weightBytes},
          {"model_n_params", kernels.parameters},
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
          {"peak_instructions", row.machine.instructions},
          {"peak_gflops", 1e-9 * median(result.peakOperations)},
          {"peak_share", result.peakShare()},
          {"gbps", 1e-9 * result.storedBytesPerSecond()},
          {"read_level", row.level().name},
          {"read_gbps", 1e-9 * median(result.peakBytes)},
          {"read_share", result.readShare()},
          {"samples_ns", samples},
          {"samples_ts", rates}};
}

static std::string formatTable(const std::vector<ModelRow> &rows, const KernelList &kernels, const ModelRun &run) {
  // As llama-bench does, only where it is not the usual one.
  bool batches =
      std::any_of(rows.begin(), rows.end(), [](const ModelRow &row) { return row.result.test.batch != usualBatch; });
  std::vector<Column> columns = {{"model"}, {"size"}, {"params"}, {"backend"}, {"threads", true}};
  if (batches)
    columns.push_back({"n_batch", true});
  for (const char *title : {"test", "t/s", "GFLOP/s", "of peak", "GB/s", "of read"})
    columns.push_back({title, true});
  Table table(columns);
  for (const ModelRow &row : rows) {
    const TestResult &result = row.result;
    std::vector<double> rates = result.tokensPerSecond();
    std::vector<std::string> cells = {modelType(kernels), formatBytes(static_cast<double>(run.info().weightBytes)),
                                      formatCount(static_cast<double>(kernels.parameters)), "CPU",
                                      std::to_string(result.test.threads)};
    if (batches)
      cells.push_back(std::to_string(result.test.batch));
    cells.insert(cells.end(),
                 {result.test.name(), fmt::format("{:.2f} ± {:.2f}", mean(rates), deviation(rates)),
                  fmt::format("{:.1f}", 1e-9 * result.operationsPerSecond()), formatShare(result.peakShare()),
                  fmt::format("{:.1f}", 1e-9 * result.storedBytesPerSecond()),
                  formatShare(result.readShare()) + " " + row.level().name});
    table.add(cells);
  }
  std::string machines;
  for (size_t i = 0; i < rows.size(); ++i)
    if (i == 0 || rows[i].machine.threads != rows[i - 1].machine.threads)
      machines += "\n" + rows[i].machine.describe() + "\n";
  return table.markdown() + machines;
}

std::string formatModelRows(const std::vector<ModelRow> &rows, const KernelList &kernels, const ModelRun &run,
                            const std::string &file, const std::string &format) {
  if (format == "md")
    return formatTable(rows, kernels, run);
  Json described = Json::array();
  for (const ModelRow &row : rows)
    described.push_back(describe(row, kernels, run, file));
  if (format == "csv")
    return formatCsv(described);
  return described.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace talc::bench
