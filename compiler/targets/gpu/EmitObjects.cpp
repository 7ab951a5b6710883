// SPDX-License-Identifier: Apache-2.0
// Translates attributes of kernels and of lists of launches to objects, and emits kernels in parallel.
#include "compiler/targets/gpu/EmitObjects.h"

#include "compiler/Error.h"
#include "compiler/targets/gpu/GpuObject.h"
#include "dialects/kernel/KernelAttributeNames.h"
#include "dialects/kernel/KernelDialect.h"

#include "mlir/IR/Threading.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

#include <mutex>

using namespace mlir;

namespace talc::gpu {

namespace keys = kernel::launchKeys;

bool isKernel(Operation *op) {
  auto function = dyn_cast<FunctionOpInterface>(op);
  kernel::LaunchAttr launch = kernel::LaunchAttr::lookup(op);
  return launch && launch.getGrid() && !(function && function.isExternal());
}

bool isLaunchList(Operation *op) {
  return op->hasAttr(kernel::launchesAttr);
}

std::string describeResources(Operation *kernel, int64_t sharedBytes) {
  kernel::LaunchAttr launch = kernel::LaunchAttr::lookup(kernel);
  return (launch.getTile() ? launch.getTile().str() + "; " : "") + "workgroups of " +
         std::to_string(launch.getThreads()) + " threads, " + std::to_string(sharedBytes) + " bytes of shared memory";
}

static targets::ObjectCode makeKernelObject(Operation *op, const KernelCode &emitted) {
  kernel::LaunchAttr launch = kernel::LaunchAttr::lookup(op);
  kernel::GridAttr grid = launch.getGrid();
  KernelObject object;
  object.name = SymbolTable::getSymbolName(op).str();
  object.kernel.threads = static_cast<uint32_t>(launch.getThreads());
  object.kernel.sharedBytes = static_cast<uint32_t>(emitted.sharedBytes);
  object.kernel.argumentCount = static_cast<uint32_t>(emitted.arguments);
  object.kernel.grid = {grid.hasRows() ? static_cast<uint32_t>(grid.getRowsArgument()) : artifact::noArgument,
                        static_cast<uint32_t>(grid.getDivisor()), static_cast<uint32_t>(grid.getPlus()),
                        static_cast<uint32_t>(grid.getY())};
  object.maxRegisters = static_cast<uint32_t>(launch.getMaxRegisters());
  object.code = emitted.code;
  object.taskCode = emitted.taskCode;
  return serialize(object);
}

static int64_t getInteger(DictionaryAttr fields, StringRef key, int64_t missing) {
  auto value = fields.getAs<IntegerAttr>(key);
  return value ? value.getInt() : missing;
}

static ListArgument makeArgument(DictionaryAttr fields) {
  ListArgument argument;
  argument.isValueOfList = fields.contains(keys::argument);
  if (argument.isValueOfList)
    argument.index = static_cast<uint32_t>(getInteger(fields, keys::argument, 0));
  else
    argument.index = static_cast<uint32_t>(
        llvm::find(kernel::baseNames, fields.getAs<StringAttr>(keys::base).getValue()) - std::begin(kernel::baseNames));
  argument.fixed = getInteger(fields, keys::fixed, 0);
  argument.perToken = getInteger(fields, keys::perToken, 0);
  return argument;
}

static targets::ObjectCode makeListObject(Operation *op) {
  LaunchList list = {SymbolTable::getSymbolName(op).str(), {}};
  for (auto fields : op->getAttrOfType<ArrayAttr>(kernel::launchesAttr).getAsRange<DictionaryAttr>()) {
    ListLaunch launch = {fields.getAs<FlatSymbolRefAttr>(keys::call).getValue().str(),
                         {},
                         static_cast<uint32_t>(getInteger(fields, keys::mark, UINT32_MAX)),
                         static_cast<uint32_t>(getInteger(fields, keys::waits, 0))};
    for (auto argument : fields.getAs<ArrayAttr>(keys::arguments).getAsRange<DictionaryAttr>())
      launch.arguments.push_back(makeArgument(argument));
    list.launches.push_back(std::move(launch));
  }
  return serialize(list);
}

// Runs action(kernel, its index among the kernels and lists) for all kernels in parallel.
static llvm::Error forEachKernel(ModuleOp module, llvm::function_ref<llvm::Error(Operation *, size_t)> action) {
  std::vector<std::pair<Operation *, size_t>> kernels;
  size_t index = 0;
  for (Operation &op : *module.getBody())
    if (isKernel(&op))
      kernels.push_back({&op, index++});
    else if (isLaunchList(&op))
      ++index;
  std::mutex mutex;
  llvm::Error errors = llvm::Error::success();
  parallelForEach(module.getContext(), kernels, [&](auto &kernel) {
    if (llvm::Error error = action(kernel.first, kernel.second)) {
      std::lock_guard lock(mutex);
      errors = llvm::joinErrors(std::move(errors), std::move(error));
    }
  });
  return errors;
}

llvm::Expected<std::vector<targets::ObjectCode>> makeObjects(ModuleOp module, EmitKernel emit) {
  std::vector<targets::ObjectCode> objects;
  for (Operation &op : *module.getBody())
    if (isKernel(&op) || isLaunchList(&op))
      objects.push_back(isLaunchList(&op) ? makeListObject(&op) : targets::ObjectCode());
  llvm::Error error = forEachKernel(module, [&](Operation *kernel, size_t index) -> llvm::Error {
    auto emitted = emit(kernel);
    if (!emitted)
      return emitted.takeError();
    objects[index] = makeKernelObject(kernel, *emitted);
    return llvm::Error::success();
  });
  if (error)
    return std::move(error);
  return objects;
}

llvm::Expected<std::vector<targets::CodeListing>> makeListings(ModuleOp module, ListKernel list) {
  std::vector<targets::CodeListing> listings(llvm::range_size(*module.getBody()));
  llvm::Error error = forEachKernel(module, [&](Operation *kernel, size_t index) -> llvm::Error {
    auto listing = list(kernel);
    if (!listing)
      return listing.takeError();
    listings[index] = std::move(*listing);
    return llvm::Error::success();
  });
  if (error)
    return std::move(error);
  llvm::erase_if(listings, [](const targets::CodeListing &listing) { return listing.function.empty(); });
  return listings;
}

}  // namespace talc::gpu
