// SPDX-License-Identifier: Apache-2.0
// Names of NVIDIA's cards, and how their code becomes part of an artifact.
#include "compiler/targets/nvptx/NvptxTarget.h"

#include "compiler/Error.h"
#include "compiler/targets/nvptx/KernelObject.h"
#include "compiler/targets/nvptx/LaunchLinker.h"
#include "compiler/targets/nvptx/PtxEmitter.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/Threading.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/StringExtras.h"

#include <mutex>

using namespace mlir;

namespace talc::nvptx {

// What a card is at least; a newer one runs its code, too. LLVM ends the process on what it does not know.
static constexpr llvm::StringLiteral chips[] = {"sm_80", "sm_86",  "sm_87",  "sm_89",
                                                "sm_90", "sm_100", "sm_103", "sm_120"};

llvm::Expected<targets::TargetPtr> parseNvptx(llvm::StringRef name) {
  if (name != "nvptx" && !name.starts_with("nvptx:"))
    return targets::TargetPtr();
  llvm::StringRef chip = name == "nvptx" ? llvm::StringRef(chips[0]) : name.drop_front(6);
  if (!llvm::is_contained(chips, chip))
    return makeError(ErrorCode::BadTarget, "--target={}: unknown card '{}'; expected {}", name.str(), chip.str(),
                     llvm::join(llvm::ArrayRef(chips), ", "));
  return std::make_shared<NvptxTarget>(chip.str());
}

std::vector<std::string> nvptxNames() {
  std::vector<std::string> names = {"nvptx"};
  for (llvm::StringLiteral chip : chips)
    names.push_back(("nvptx:" + chip).str());
  return names;
}

DictionaryAttr NvptxTarget::facts(MLIRContext &context) const {
  Builder builder(&context);
  return builder.getDictionaryAttr(builder.getNamedAttr("chip", builder.getStringAttr(chip)));
}

// Runs action(kernel, its number among the functions that are to have code) for all kernels, on all processors.
static llvm::Error forEachKernel(ModuleOp module, llvm::function_ref<llvm::Error(LLVM::LLVMFuncOp, size_t)> action) {
  std::vector<std::pair<LLVM::LLVMFuncOp, size_t>> kernels;
  size_t place = 0;
  for (auto function : module.getOps<LLVM::LLVMFuncOp>())
    if (isKernel(function))
      kernels.push_back({function, place++});
    else if (isList(function))
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

static llvm::Error checkFunctions(ModuleOp module) {
  for (auto any : module.getOps<FunctionOpInterface>())
    if (!any.isExternal() && !isKernel(dyn_cast<LLVM::LLVMFuncOp>(*any)))
      return makeError(ErrorCode::Program, "function '{}' is no kernel in the llvm dialect; stage codegen converts it",
                       any.getName().str());
  return llvm::Error::success();
}

llvm::Expected<std::vector<targets::ObjectCode>> NvptxTarget::compile(ModuleOp module, targets::BeginPart begin) const {
  if (llvm::Error error = checkFunctions(module))
    return std::move(error);
  begin("emit-ptx");
  registerTranslations(*module.getContext());
  std::vector<targets::ObjectCode> objects;
  for (auto function : module.getOps<LLVM::LLVMFuncOp>())
    if (isKernel(function) || isList(function))
      objects.push_back(isList(function) ? listObject(function) : targets::ObjectCode());
  llvm::Error error = forEachKernel(module, [&](LLVM::LLVMFuncOp kernel, size_t place) -> llvm::Error {
    auto listing = emitKernel(kernel, module, chip);
    if (!listing)
      return listing.takeError();
    objects[place] = kernelObject(kernel, listing->assembly);
    return llvm::Error::success();
  });
  if (error)
    return std::move(error);
  return objects;
}

llvm::Expected<std::vector<targets::CodeListing>> NvptxTarget::listings(ModuleOp module,
                                                                        targets::BeginPart begin) const {
  begin("list-code");
  registerTranslations(*module.getContext());
  std::vector<targets::CodeListing> all(llvm::range_size(module.getOps<LLVM::LLVMFuncOp>()));
  llvm::Error error = forEachKernel(module, [&](LLVM::LLVMFuncOp kernel, size_t place) -> llvm::Error {
    auto listing = emitKernel(kernel, module, chip);
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

llvm::Expected<std::string> NvptxTarget::llvmIr(ModuleOp module, targets::BeginPart begin) const {
  auto all = listings(module, begin);
  if (!all)
    return all.takeError();
  std::string text;
  for (const targets::CodeListing &listing : *all)
    text += listing.llvmIr;
  return text;
}

llvm::Expected<targets::LinkedCode> NvptxTarget::link(llvm::ArrayRef<targets::ObjectCode> objects) const {
  return linkLaunches(objects);
}

llvm::Expected<std::vector<uint8_t>> NvptxTarget::linkRelocatable(llvm::ArrayRef<targets::ObjectCode> objects) const {
  auto text = linkText(objects);
  if (!text)
    return text.takeError();
  return std::vector<uint8_t>(text->begin(), text->end());
}

}  // namespace talc::nvptx
