// SPDX-License-Identifier: Apache-2.0
// Compiles one op in a temporary artifact and measures it alone, beside the matmuls of math libraries.
#pragma once

#include "compiler/TemporaryDirectory.h"
#include "tools/talc/bench/BenchOptions.h"
#include "tools/talc/bench/KernelTests.h"
#include "tools/talc/bench/OpModel.h"

namespace talc::bench {

// The time of a math library, or of another generator's code for the op.
struct BaselineTime {
  std::string name, type, kernel;  // as in LibraryMatmul; or the generator, and neither type nor kernel
  double seconds, deviation;       // the median, and the standard deviation

  // "OpenBLAS f32 (Haswell)"
  std::string title() const {
    return name + (type.empty() ? "" : " " + type) + (kernel.empty() ? "" : " (" + kernel + ")");
  }
};

// The op by another generator.
struct OpBaseline {
  std::string generator;
  ModelRun &run;
  const KernelList &list;
};

struct OpResult {
  std::string text;  // as the user wrote it
  MachineProfile machine;
  StepShape step;
  KernelResult kernel;  // costs and time of one call
  double deviation;     // of its seconds
  std::vector<BaselineTime> baselines;

  // The data of the roofline.
  PhaseResult phase(const KernelList &list) const {
    return {text, step, kernel.time.total(), {kernel}, list.costs(step)};
  }
};

// Returns the op's own kernel, which is the first of its kind in the program, or null.
const KernelResult *findKernel(const PhaseResult &phase, const OpSpec &spec);

// Returns the step that is measured.
StepShape opStep(const OpSpec &spec, const KernelList &list);

// Measures in rounds the op, its code by other generators, then each library, for some milliseconds each.
Status runOp(ModelRun &run, const KernelList &list, const OpSpec &spec, const MachineProfile &machine,
             const std::vector<OpBaseline> &baselines, int64_t repetitions, OpResult &result);

// `format` is md, with a line for each column unless `legend` is false, or one of formatRecords.
std::string formatOpResults(const std::vector<OpResult> &results, const std::string &format, bool legend);

class CompiledOp {
public:
  // Returns an empty text on success, else complete lines of an error.
  std::string compile(const OpSpec &spec, const BenchOptions &options, const std::string &generator);
  const std::string &path() const { return file; }

private:
  std::unique_ptr<TemporaryDirectory> directory;
  std::string file;
};

}  // namespace talc::bench
