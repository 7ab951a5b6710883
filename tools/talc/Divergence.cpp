// SPDX-License-Identifier: Apache-2.0
// Compiles the model once as it is and once for each unit of matrices, whose values are rounded to the probe's format
// and stored as f32: all programs have one code, which is in the cache after the first.
#include "tools/talc/Divergence.h"

#include "compiler/TemporaryDirectory.h"
#include "compiler/passes/optimize/FormatUnits.h"
#include "tools/talc/ObservedModel.h"
#include "tools/talc/perplexity/Perplexity.h"

#include "mlir/IR/Builders.h"

#include <algorithm>

using namespace mlir;

namespace talc::tools {

namespace {

constexpr int32_t windowTokens = 128;

class Probes {
public:
  Probes(const ModelInput &input, const CompileOptions &options, const TemporaryDirectory &directory)
      : input(input), options(options), reference(directory.file("exact.so")), probe(directory.file("probe.so")) {}

  llvm::Error run() {
    if (llvm::Error error = compile(*input.module, reference))
      return error;
    std::string ignored;
    for (const FormatUnit &unit : findFormatUnits(*input.module, *parseFormatChoice(options.weights, ignored))) {
      auto divergence = divergenceOf(unit);
      if (!divergence)
        return divergence.takeError();
      for (Operation *matrix : unit.matrices)
        matrix->setAttr(divergenceAttr, Builder(matrix->getContext()).getF64FloatAttr(*divergence));
    }
    return llvm::Error::success();
  }

private:
  llvm::Error compile(ModuleOp module, const std::string &path) const {
    CompileOptions exact;
    exact.weights = "f32";
    exact.cache = options.cache;
    exact.programDirectory = options.programDirectory;
    OwningOpRef<ModuleOp> copy = module.clone();
    return compileObserved(*copy, input.tokenizer, exact, path);
  }

  llvm::Expected<double> divergenceOf(const FormatUnit &unit) const {
    for (Operation *matrix : unit.matrices)
      matrix->setAttr(roundedAttr, TypeAttr::get(probeType(cast<WeightOp>(matrix))));
    llvm::Error error = compile(*input.module, probe);
    for (Operation *matrix : unit.matrices)
      matrix->removeAttr(roundedAttr);
    if (error)
      return std::move(error);
    perplexity::Options reading;
    reading.app = probe;
    reading.against = reference;
    reading.text = options.calibrate;
    reading.context = windowTokens;
    reading.windows = windows();
    perplexity::Results results;
    if (std::string line = perplexity::measure(reading, results); !line.empty())
      return llvm::createStringError(line);
    return results.comparison->divergence.mean;
  }

  static Type probeType(WeightOp matrix) {
    int64_t columns = cast<RankedTensorType>(matrix.getType()).getDimSize(1);
    const StorageFormat &format = formatForRows(*formatNamed(probeFormat), columns);
    return format.type(matrix.getContext(), format);
  }

  // Of a large model a few: its predictions vary less, and it has more units.
  int32_t windows() const {
    double values = 1;
    for (auto weight : (*input.module).getOps<WeightOp>())
      if (!weight.getOf())
        values += static_cast<double>(cast<RankedTensorType>(weight.getType()).getNumElements());
    constexpr double readValues = 4e9;
    return static_cast<int32_t>(std::clamp(readValues / values, 4.0, 256.0));
  }

  const ModelInput &input;
  const CompileOptions &options;
  const std::string reference, probe;
};

}  // namespace

llvm::Error noteDivergences(const ModelInput &input, const CompileOptions &options) {
  auto directory = TemporaryDirectory::make();
  if (!directory)
    return directory.takeError();
  return Probes(input, options, **directory).run();
}

}  // namespace talc::tools
