// SPDX-License-Identifier: Apache-2.0
// hgen runs before anything is changed, so that kernels for which it fails can be left to the target's own passes.
#include "compiler/passes/schedule/cpu/halide/HalideKernel.h"

#include "dialects/kernel/KernelDialect.h"

using namespace mlir;

namespace talc {

static bool isByHalide(func::FuncOp kernel) {
  auto generator = kernel->getAttrOfType<DictionaryAttr>(generatorAttr);
  return generator && generator.getAs<StringAttr>(nameKey) == StringAttr::get(kernel.getContext(), "halide");
}

LogicalResult replaceByHalide(ModuleOp module, MakeHalideKernel make) {
  std::vector<std::unique_ptr<HalideKernel>> kernels;
  SmallVector<HalideFunction *> functions;
  for (auto function : module.getOps<func::FuncOp>()) {
    kernel::TasksOp tasks = isByHalide(function) ? kernel::getTasks(function) : kernel::TasksOp();
    if (!tasks)
      continue;
    std::unique_ptr<HalideKernel> kernel;
    if (failed(make(tasks.getComputeOp(), kernel)))
      return failure();
    if (!kernel)
      continue;
    functions.append(kernel->functions());
    kernels.push_back(std::move(kernel));
  }
  if (failed(HalideFunction::makeAll(module.getContext(), functions)))
    return failure();
  for (std::unique_ptr<HalideKernel> &kernel : kernels)
    if (llvm::all_of(kernel->functions(), [](HalideFunction *function) { return function->wasMade(); }))
      kernel->replace();
  return success();
}

}  // namespace talc
