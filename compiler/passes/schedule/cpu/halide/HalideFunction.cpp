// SPDX-License-Identifier: Apache-2.0
// Makes functions of several kernels at a time, each by an hgen process of its own.
#include "compiler/passes/schedule/cpu/halide/HalideFunction.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/Threading.h"

using namespace mlir;

namespace talc {

HalideFunction::HalideFunction(func::FuncOp kernel, StringRef suffix, const std::string &processor,
                               DictionaryAttr specification)
    : kernel(kernel), request{(kernel.getName() + suffix).str(), processor, specification} {}

bool HalideFunction::isOptional() const {
  return kernel->getAttrOfType<DictionaryAttr>(generatorAttr).contains(optionalKey);
}

LogicalResult HalideFunction::make() {
  auto generated = runHgen(request);
  if (generated)
    code = std::move(*generated);
  else
    problem = llvm::toString(generated.takeError());
  return success(code || isOptional());
}

LogicalResult HalideFunction::makeAll(MLIRContext *context, ArrayRef<HalideFunction *> functions) {
  auto make = [](HalideFunction *function) {
    return function->request.processor.empty() ? success() : function->make();
  };
  if (succeeded(failableParallelForEach(context, functions, make)))
    return success();
  for (HalideFunction *function : functions)
    if (!function->problem.empty() && !function->isOptional())
      return function->kernel.emitError() << function->problem;
  return failure();
}

bool HalideFunction::wasMade() {
  if (problem.empty())
    return true;
  kernel->removeAttr(generatorAttr);
  kernel.emitWarning() << "kernel " << kernel.getName() << ": mlir makes the loops: " << problem;
  return false;
}

func::FuncOp HalideFunction::declare(func::FuncOp before, size_t buffers) const {
  OpBuilder b(before);
  auto type = b.getFunctionType(SmallVector<Type>(buffers, b.getIndexType()), b.getI32Type());
  auto function = func::FuncOp::create(b, before.getLoc(), request.symbol, type);
  function.setPrivate();
  NamedAttrList generator(before->getAttrOfType<DictionaryAttr>(generatorAttr));
  generator.set(specificationKey, request.specification);
  function->setAttr(generatorAttr, generator.getDictionary(b.getContext()));
  if (code)
    setGeneratedCode(function, request.symbol, *code);
  return function;
}

NamedAttribute integerEntry(MLIRContext *context, StringRef key, int64_t value) {
  Builder b(context);
  return b.getNamedAttr(key, b.getI64IntegerAttr(value));
}

NamedAttribute stringEntry(MLIRContext *context, StringRef key, StringRef value) {
  Builder b(context);
  return b.getNamedAttr(key, b.getStringAttr(value));
}

}  // namespace talc
