// SPDX-License-Identifier: Apache-2.0
// Writes kernels and lists of launches as JSON.
#include "compiler/targets/gpu/KernelObject.h"

#include "compiler/Error.h"
#include "compiler/passes/codegen/gpu/Launches.h"
#include "compiler/passes/schedule/gpu/WorkgroupEmitter.h"

#include "mlir/IR/Threading.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/StringExtras.h"

#include <mutex>
#include <nlohmann/json.hpp>

using namespace mlir;
using Json = nlohmann::ordered_json;

namespace talc::gpu {

bool isKernel(Operation *op) {
  auto function = dyn_cast<FunctionOpInterface>(op);
  return op->hasAttr(threadsAttr) && op->hasAttr(gridAttr) && !(function && function.isExternal());
}

bool isList(Operation *op) {
  return op->hasAttr(launchesAttr);
}

static targets::ObjectCode objectOf(const Json &json) {
  std::string text = json.dump();
  return {{text.begin(), text.end()}, {}};
}

// Texts, numbers, and names of functions.
static Json describe(DictionaryAttr fields) {
  Json object = Json::object();
  for (NamedAttribute field : fields)
    if (auto number = dyn_cast<IntegerAttr>(field.getValue()))
      object[field.getName().str()] = number.getInt();
    else if (auto text = dyn_cast<StringAttr>(field.getValue()))
      object[field.getName().str()] = text.str();
    else if (auto symbol = dyn_cast<FlatSymbolRefAttr>(field.getValue()))
      object[field.getName().str()] = symbol.getValue().str();
  return object;
}

std::string resourcesOf(Operation *kernel, int64_t sharedBytes) {
  int64_t threads = kernel->getAttrOfType<IntegerAttr>(threadsAttr).getInt();
  auto tile = kernel->getAttrOfType<StringAttr>(tileAttr);
  return (tile ? tile.str() + "; " : "") + "workgroups of " + std::to_string(threads) + " threads, " +
         std::to_string(sharedBytes) + " bytes of shared memory";
}

static targets::ObjectCode kernelObject(Operation *kernel, const KernelCode &made) {
  auto registers = kernel->getAttrOfType<IntegerAttr>(registersAttr);
  return objectOf({{"kernel", SymbolTable::getSymbolName(kernel).str()},
                   {"threads", kernel->getAttrOfType<IntegerAttr>(threadsAttr).getInt()},
                   {"registers", registers ? registers.getInt() : 0},
                   {"arguments", made.arguments},
                   {"shared", made.sharedBytes},
                   {"grid", describe(kernel->getAttrOfType<DictionaryAttr>(gridAttr))},
                   {"code", llvm::toHex(made.code, /*LowerCase=*/true)},
                   {"task", llvm::toHex(made.taskCode, /*LowerCase=*/true)}});
}

static targets::ObjectCode listObject(Operation *list) {
  Json launches = Json::array();
  for (auto launch : list->getAttrOfType<ArrayAttr>(launchesAttr).getAsRange<DictionaryAttr>()) {
    Json described = describe(launch), arguments = Json::array();
    for (auto argument : launch.getAs<ArrayAttr>(launchKeys::arguments).getAsRange<DictionaryAttr>())
      arguments.push_back(describe(argument));
    described["arguments"] = std::move(arguments);
    launches.push_back(std::move(described));
  }
  return objectOf({{"list", SymbolTable::getSymbolName(list).str()}, {"launches", std::move(launches)}});
}

// Runs action(kernel, its number among the functions that are to have code) for all kernels, on all processors.
static llvm::Error forEachKernel(ModuleOp module, llvm::function_ref<llvm::Error(Operation *, size_t)> action) {
  std::vector<std::pair<Operation *, size_t>> kernels;
  size_t place = 0;
  for (Operation &op : *module.getBody())
    if (isKernel(&op))
      kernels.push_back({&op, place++});
    else if (isList(&op))
      ++place;
  std::mutex mutex;
  llvm::Error all = llvm::Error::success();
  parallelForEach(module.getContext(), kernels, [&](auto &kernel) {
    if (llvm::Error error = action(kernel.first, kernel.second)) {
      std::lock_guard lock(mutex);
      all = llvm::joinErrors(std::move(all), std::move(error));
    }
  });
  return all;
}

llvm::Expected<std::vector<targets::ObjectCode>> makeObjects(ModuleOp module, EmitKernel emit) {
  std::vector<targets::ObjectCode> objects;
  for (Operation &op : *module.getBody())
    if (isKernel(&op) || isList(&op))
      objects.push_back(isList(&op) ? listObject(&op) : targets::ObjectCode());
  llvm::Error error = forEachKernel(module, [&](Operation *kernel, size_t place) -> llvm::Error {
    auto made = emit(kernel);
    if (!made)
      return made.takeError();
    objects[place] = kernelObject(kernel, *made);
    return llvm::Error::success();
  });
  if (error)
    return std::move(error);
  return objects;
}

llvm::Expected<std::vector<targets::CodeListing>> makeListings(ModuleOp module, ListKernel list) {
  std::vector<targets::CodeListing> all(llvm::range_size(*module.getBody()));
  llvm::Error error = forEachKernel(module, [&](Operation *kernel, size_t place) -> llvm::Error {
    auto listing = list(kernel);
    if (!listing)
      return listing.takeError();
    all[place] = std::move(*listing);
    return llvm::Error::success();
  });
  if (error)
    return std::move(error);
  llvm::erase_if(all, [](const targets::CodeListing &listing) { return listing.function.empty(); });
  return all;
}

}  // namespace talc::gpu
