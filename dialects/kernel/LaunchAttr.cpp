// SPDX-License-Identifier: Apache-2.0
// Verifies how kernels are launched on GPUs.
#include "dialects/kernel/KernelAttributeNames.h"
#include "dialects/kernel/KernelDialect.h"

using namespace mlir;

namespace talc::kernel {

constexpr int64_t maxThreads = 1024, maxRegisters = 255, maxGridY = 65535;

LogicalResult GridAttr::verify(llvm::function_ref<InFlightDiagnostic()> emitError, int64_t rowsArgument,
                               int64_t divisor, int64_t plus, int64_t y) {
  if (rowsArgument < -1 || divisor < 1 || plus < 0 || y < 1 || y > maxGridY)
    return emitError() << "has rows_argument " << rowsArgument << ", divisor " << divisor << ", plus " << plus
                       << " and y " << y << ", expected a divisor of at least 1 and a y of 1 to " << maxGridY;
  return success();
}

LogicalResult LaunchAttr::verify(llvm::function_ref<InFlightDiagnostic()> emitError, int64_t threads, GridAttr,
                                 int64_t registers, bool, bool, int64_t argumentCount, StringAttr) {
  if (threads < 1 || threads > maxThreads)
    return emitError() << "has " << threads << " threads, expected 1 to " << maxThreads;
  if (registers < 0 || registers > maxRegisters)
    return emitError() << "has max_registers " << registers << ", expected 0 to " << maxRegisters;
  if (argumentCount < 0)
    return emitError() << "has a negative argument_count";
  return success();
}

LaunchAttr LaunchAttr::withGrid(GridAttr grid) const {
  return get(getContext(), getThreads(), grid, getMaxRegisters(), getKeepLoops(), getNarrowIndices(),
             getArgumentCount(), getTile());
}

LaunchAttr LaunchAttr::withArgumentCount(int64_t count) const {
  return get(getContext(), getThreads(), getGrid(), getMaxRegisters(), getKeepLoops(), getNarrowIndices(), count,
             getTile());
}

static bool isLaunch(Attribute value) {
  auto launch = dyn_cast<DictionaryAttr>(value);
  auto arguments = launch ? launch.getAs<ArrayAttr>(launchKeys::arguments) : ArrayAttr();
  return arguments && launch.getAs<FlatSymbolRefAttr>(launchKeys::call) &&
         llvm::all_of(arguments, [](Attribute argument) { return isa<DictionaryAttr>(argument); });
}

bool isLaunchList(Attribute value) {
  auto launches = dyn_cast<ArrayAttr>(value);
  return launches && llvm::all_of(launches, isLaunch);
}

}  // namespace talc::kernel
