// SPDX-License-Identifier: Apache-2.0
// The way from kernels to SPIR-V in an artifact.
#include "compiler/targets/vulkan/VulkanTarget.h"

#include "compiler/Error.h"
#include "compiler/targets/gpu/EmitObjects.h"
#include "compiler/targets/gpu/LaunchLinker.h"
#include "dialects/kernel/KernelDialect.h"

#include "mlir/Dialect/SPIRV/IR/SPIRVDialect.h"
#include "mlir/Dialect/SPIRV/IR/SPIRVOps.h"
#include "mlir/IR/Builders.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Target/SPIRV/Deserialization.h"
#include "mlir/Target/SPIRV/Serialization.h"

using namespace mlir;

namespace talc::vulkan {

llvm::Expected<targets::TargetPtr> parseVulkan(llvm::StringRef name) {
  return name == "vulkan" ? std::make_shared<VulkanTarget>() : targets::TargetPtr();
}

std::vector<std::string> vulkanNames() {
  return {"vulkan"};
}

DictionaryAttr VulkanTarget::manifestEntries(MLIRContext &context) const {
  Builder builder(&context);
  return builder.getDictionaryAttr(builder.getNamedAttr("spirv", builder.getStringAttr("1.3")));
}

static llvm::Error checkFunctions(ModuleOp module) {
  for (auto any : module.getOps<FunctionOpInterface>())
    if (!any.isExternal())
      return makeError(ErrorCode::Program, "function '{}' is not a SPIR-V module; stage codegen converts it",
                       any.getName().str());
  return llvm::Error::success();
}

static int64_t sharedBytes(spirv::ModuleOp module) {
  int64_t bytes = 0;
  for (auto variable : module.getOps<spirv::GlobalVariableOp>())
    if (variable.storageClass() == spirv::StorageClass::Workgroup)
      bytes += *cast<spirv::SPIRVType>(cast<spirv::PointerType>(variable.getType()).getPointeeType()).getSizeInBytes();
  return bytes;
}

static llvm::Expected<gpu::KernelCode> emitKernel(Operation *op) {
  auto kernel = cast<spirv::ModuleOp>(op);
  SmallVector<uint32_t, 0> words;
  spirv::SerializationOptions options;
  options.emitSymbolName = false;
  if (failed(spirv::serialize(kernel, words, options)))
    return internalError("the kernel '{}' cannot be written as SPIR-V", kernel.getName()->str());
  int64_t arguments = kernel::LaunchAttr::lookup(op).getArgumentCount();
  std::string bytes(reinterpret_cast<const char *>(words.data()), words.size() * sizeof(uint32_t));
  return gpu::KernelCode{arguments, sharedBytes(kernel), std::move(bytes), ""};
}

llvm::Expected<std::vector<targets::ObjectCode>> VulkanTarget::compile(ModuleOp module,
                                                                       targets::BeginPart begin) const {
  if (llvm::Error error = checkFunctions(module))
    return std::move(error);
  begin("emit-spirv");
  return gpu::makeObjects(module, emitKernel);
}

static std::string printModule(spirv::ModuleOp kernel) {
  std::string text;
  llvm::raw_string_ostream(text) << *kernel << "\n";
  return text;
}

llvm::Expected<std::vector<targets::CodeListing>> VulkanTarget::functionListings(ModuleOp module,
                                                                                 targets::BeginPart begin) const {
  begin("list-code");
  return gpu::makeListings(module, [](Operation *op) -> llvm::Expected<targets::CodeListing> {
    auto kernel = cast<spirv::ModuleOp>(op);
    return targets::CodeListing{kernel.getName()->str(), "", printModule(kernel), 0,
                                gpu::describeResources(op, sharedBytes(kernel))};
  });
}

llvm::Expected<std::string> VulkanTarget::listing(llvm::StringRef, ModuleOp module, targets::BeginPart begin) const {
  auto all = functionListings(module, begin);
  if (!all)
    return all.takeError();
  std::string text;
  for (const targets::CodeListing &listing : *all)
    text += listing.assembly;
  return text;
}

// Kernels follow each other, each behind its number of words.
static llvm::Expected<std::string> linkModules(llvm::ArrayRef<std::string> modules) {
  std::string all;
  for (const std::string &module : modules) {
    auto words = static_cast<uint32_t>(module.size() / sizeof(uint32_t));
    all.append(reinterpret_cast<const char *>(&words), sizeof(words));
    all += module;
  }
  return all;
}

llvm::Expected<targets::LinkedCode> VulkanTarget::link(llvm::ArrayRef<targets::ObjectCode> objects) const {
  return gpu::linkLaunches(objects, linkModules);
}

llvm::Expected<std::vector<uint8_t>> VulkanTarget::linkRelocatable(llvm::ArrayRef<targets::ObjectCode> objects) const {
  auto modules = gpu::getKernelModules(objects);
  if (!modules)
    return modules.takeError();
  MLIRContext context;
  context.loadDialect<spirv::SPIRVDialect>();
  std::string text;
  for (const std::string &module : *modules) {
    std::vector<uint32_t> words(module.size() / sizeof(uint32_t));
    std::memcpy(words.data(), module.data(), words.size() * sizeof(uint32_t));
    OwningOpRef<spirv::ModuleOp> kernel = spirv::deserialize(words, &context);
    if (!kernel)
      return internalError("a module of SPIR-V cannot be read back");
    text += printModule(*kernel);
  }
  return std::vector<uint8_t>(text.begin(), text.end());
}

}  // namespace talc::vulkan
