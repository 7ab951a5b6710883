// SPDX-License-Identifier: Apache-2.0
// Matrices are rounded and stored as f32: all programs have one code, which is in the cache after the first.
#include "tools/talc/Divergence.h"

#include "tools/talc/ObservedModel.h"
#include "tools/talc/perplexity/Perplexity.h"

#include "mlir/IR/Builders.h"

#include <algorithm>

using namespace mlir;

namespace talc::tools {

constexpr int32_t windowTokens = 128;
constexpr int32_t comparedTokens = 112;  // those before have little to attend to

Divergence::Divergence(const ModelInput &input, const CompileOptions &options,
                       std::unique_ptr<TemporaryDirectory> directory)
    : input(input), options(options), directory(std::move(directory)), reference(this->directory->file("exact.so")),
      rounded(this->directory->file("rounded.so")) {}

llvm::Expected<std::unique_ptr<Divergence>> Divergence::make(const ModelInput &input, const CompileOptions &options) {
  auto directory = TemporaryDirectory::make();
  if (!directory)
    return directory.takeError();
  std::unique_ptr<Divergence> made(new Divergence(input, options, std::move(*directory)));
  if (llvm::Error error = made->compile(made->reference))
    return std::move(error);
  return made;
}

llvm::Error Divergence::compile(const std::string &path) const {
  CompileOptions exact;
  exact.weights = "f32";
  exact.cache = options.cache;
  exact.programDirectory = options.programDirectory;
  OwningOpRef<ModuleOp> copy = (*input.module).clone();
  return compileObserved(*copy, input.tokenizer, exact, path);
}

static void mark(const Rounding &rounding) {
  for (Operation *matrix : rounding.unit->matrices) {
    int64_t columns = cast<RankedTensorType>(cast<WeightOp>(matrix).getType()).getDimSize(1);
    const StorageFormat &format = formatForRows(*rounding.format, columns);
    if (format.blockValues > 1)  // what f16 and bf16 change is nothing beside blocks
      matrix->setAttr(quantizeToAttr, TypeAttr::get(format.type(matrix->getContext(), format)));
  }
}

llvm::Expected<double> Divergence::of(llvm::ArrayRef<Rounding> roundings) const {
  llvm::for_each(roundings, mark);
  llvm::Error error = compile(rounded);
  for (const Rounding &rounding : roundings)
    for (Operation *matrix : rounding.unit->matrices)
      matrix->removeAttr(quantizeToAttr);
  if (error)
    return std::move(error);
  perplexity::Options reading;
  reading.app = rounded;
  reading.against = reference;
  reading.text = options.calibrate;
  reading.context = windowTokens;
  reading.compared = comparedTokens;
  reading.windows = windows();
  perplexity::Results results;
  if (std::string line = perplexity::measure(reading, results); !line.empty())
    return llvm::createStringError(line);
  return results.comparison->divergence.mean;
}

// Of a large model a few: its predictions vary less, and it has more units.
int32_t Divergence::windows() const {
  constexpr double readValues = 1e9;
  return static_cast<int32_t>(
      std::clamp(readValues / std::max<double>(1, static_cast<double>(storedValues(input))), 4.0, 128.0));
}

int64_t storedValues(const ModelInput &input) {
  int64_t values = 0;
  for (auto weight : (*input.module).getOps<WeightOp>())
    if (!weight.getOf())
      values += cast<RankedTensorType>(weight.getType()).getNumElements();
  return values;
}

llvm::Error noteDivergences(const ModelInput &input, const CompileOptions &options, const Divergence &divergence) {
  std::string ignored;
  for (const FormatUnit &unit : findFormatUnits(*input.module, *parseFormatChoice(options.weights, ignored))) {
    auto found = divergence.of(Rounding{&unit, findStorageFormat(probeFormat)});
    if (!found)
      return found.takeError();
    for (Operation *matrix : unit.matrices)
      matrix->setAttr(divergenceAttr, Builder(matrix->getContext()).getF64FloatAttr(*found));
  }
  return llvm::Error::success();
}

}  // namespace talc::tools
