// SPDX-License-Identifier: Apache-2.0
// Quantized matrices are stored as f32, so that all libraries have the same code, which comes from the cache.
#include "compiler/quantize/Divergence.h"

#include "compiler/quantize/Calibration.h"
#include "dialects/talc/TalcDialect.h"

#include "mlir/IR/Builders.h"

#include <algorithm>

using namespace mlir;

namespace talc {

Divergence::Divergence(ModuleOp module, const CompileRequest &request, std::unique_ptr<TemporaryDirectory> directory)
    : module(module), request(request), directory(std::move(directory)), reference(this->directory->file("exact.so")),
      quantized(this->directory->file("quantized.so")) {}

llvm::Expected<std::unique_ptr<Divergence>> Divergence::create(ModuleOp module, const CompileRequest &request) {
  auto directory = TemporaryDirectory::make();
  if (!directory)
    return directory.takeError();
  std::unique_ptr<Divergence> divergence(new Divergence(module, request, std::move(*directory)));
  if (llvm::Error error = divergence->compile(divergence->reference))
    return std::move(error);
  return divergence;
}

llvm::Error Divergence::compile(const std::string &library) const {
  OwningOpRef<ModuleOp> copy = ModuleOp(module).clone();
  return compileProbe(*copy, request, FormatChoice::uniform(*findStorageFormat("f32")), library);
}

static void setQuantizeTo(const QuantizedUnit &quantized) {
  for (Operation *matrix : quantized.unit->matrices) {
    int64_t columns = cast<RankedTensorType>(cast<WeightOp>(matrix).getType()).getDimSize(1);
    const StorageFormat &format = formatForRows(*quantized.format, columns);
    if (format.blockValues > 1)  // the rounding errors of f16 and bf16 are negligible beside those of blocks
      matrix->setAttr(quantizeToAttr, TypeAttr::get(format.type(matrix->getContext(), format)));
  }
}

llvm::Expected<double> Divergence::measure(llvm::ArrayRef<QuantizedUnit> units) const {
  llvm::for_each(units, setQuantizeTo);
  llvm::Error error = compile(quantized);
  for (const QuantizedUnit &unit : units)
    for (Operation *matrix : unit.unit->matrices)
      matrix->removeAttr(quantizeToAttr);
  if (error)
    return std::move(error);
  return request.calibration.evaluator->divergence(quantized, reference, request.calibration.file, windows());
}

// A few windows suffice for a large model: its predictions vary less, and it has more units.
int32_t Divergence::windows() const {
  constexpr double readValues = 1e9;
  return static_cast<int32_t>(
      std::clamp(readValues / std::max<double>(1, static_cast<double>(storedValues())), 4.0, 128.0));
}

int64_t Divergence::storedValues() const {
  int64_t values = 0;
  for (auto weight : ModuleOp(module).getOps<WeightOp>())
    if (!weight.getOf())
      values += cast<RankedTensorType>(weight.getType()).getNumElements();
  return values;
}

llvm::Error annotateDivergence(ModuleOp module, const FormatChoice &weights, const Divergence &divergence) {
  for (const FormatUnit &unit : findFormatUnits(module, weights)) {
    auto measured = divergence.measure(QuantizedUnit{&unit, findStorageFormat(probeFormat)});
    if (!measured)
      return measured.takeError();
    for (Operation *matrix : unit.matrices)
      matrix->setAttr(divergenceAttr, Builder(matrix->getContext()).getF64FloatAttr(*measured));
  }
  return llvm::Error::success();
}

}  // namespace talc
