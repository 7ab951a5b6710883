// SPDX-License-Identifier: Apache-2.0
// The names of NVIDIA architectures, and the way from kernels to the code of an artifact.
#include "compiler/targets/nvptx/NvptxTarget.h"

#include "compiler/Error.h"
#include "compiler/targets/gpu/EmitObjects.h"
#include "compiler/targets/gpu/LaunchLinker.h"
#include "compiler/targets/nvptx/PersistentKernel.h"
#include "compiler/targets/nvptx/PtxEmitter.h"
#include "compiler/targets/nvptx/PtxModule.h"
#include "compiler/targets/nvptx/PtxRegisters.h"

#include "mlir/IR/Builders.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;

namespace talc::nvptx {

// The oldest architecture that code may be for; newer GPUs run it, too. LLVM aborts on names that it does not know.
static constexpr llvm::StringLiteral chips[] = {"sm_80", "sm_86",  "sm_87",  "sm_89",
                                                "sm_90", "sm_100", "sm_103", "sm_120"};

llvm::Expected<targets::TargetPtr> parseNvptx(llvm::StringRef name) {
  if (name != "nvptx" && !name.starts_with("nvptx:"))
    return targets::TargetPtr();
  llvm::StringRef chip = name == "nvptx" ? llvm::StringRef(chips[0]) : name.drop_front(6);
  if (!llvm::is_contained(chips, chip))
    return makeError(ErrorCode::BadTarget, "--target={}: unknown GPU '{}'; expected {}", name.str(), chip.str(),
                     llvm::join(llvm::ArrayRef(chips), ", "));
  return std::make_shared<NvptxTarget>(chip.str());
}

std::vector<std::string> nvptxNames() {
  std::vector<std::string> names = {"nvptx"};
  for (llvm::StringLiteral chip : chips)
    names.push_back(("nvptx:" + chip).str());
  return names;
}

DictionaryAttr NvptxTarget::manifestEntries(MLIRContext &context) const {
  Builder builder(&context);
  return builder.getDictionaryAttr(builder.getNamedAttr("chip", builder.getStringAttr(chip)));
}

// The size of a buffer in shared memory: of f32, or of bytes that several buffers share.
static int64_t getByteSize(Type type) {
  if (auto array = dyn_cast<LLVM::LLVMArrayType>(type))
    return static_cast<int64_t>(array.getNumElements()) * getByteSize(array.getElementType());
  return type.isInteger(8) ? 1 : 4;
}

static int64_t sharedBytes(LLVM::LLVMFuncOp kernel) {
  auto module = kernel->getParentOfType<ModuleOp>();
  int64_t bytes = 0;
  auto add = [&](LLVM::AddressOfOp op) {
    auto global = module.lookupSymbol<LLVM::GlobalOp>(op.getGlobalName());
    bytes += global ? getByteSize(global.getType()) : 0;
  };
  llvm::SmallPtrSet<Attribute, 4> seen;
  kernel.walk([&](LLVM::AddressOfOp op) {
    if (seen.insert(op.getGlobalNameAttr()).second)
      add(op);
  });
  return bytes;
}

static llvm::Error checkFunctions(ModuleOp module) {
  for (auto any : module.getOps<FunctionOpInterface>())
    if (!any.isExternal() && !(isa<LLVM::LLVMFuncOp>(*any) && gpu::isKernel(any)))
      return makeError(ErrorCode::Program,
                       "function '{}' is not a kernel in the llvm dialect; stage codegen converts it",
                       any.getName().str());
  return llvm::Error::success();
}

llvm::Expected<std::vector<targets::ObjectCode>> NvptxTarget::compile(ModuleOp module, targets::BeginPart begin) const {
  if (llvm::Error error = checkFunctions(module))
    return std::move(error);
  begin("emit-ptx");
  registerTranslations(*module.getContext());
  return gpu::makeObjects(module, [&](Operation *op) -> llvm::Expected<gpu::KernelCode> {
    auto kernel = cast<LLVM::LLVMFuncOp>(op);
    auto emitted = emitKernel(kernel, module, chip, /*withTask=*/true);
    if (!emitted)
      return emitted.takeError();
    gpu::KernelCode code = {kernel.getNumArguments(), sharedBytes(kernel), std::move(emitted->listing.assembly),
                            std::move(emitted->task)};
    if (!code.taskCode.empty())
      code.sharedBytes = static_cast<int64_t>(emitted->taskSharedBytes);
    return code;
  });
}

static std::string describeRegisters(llvm::StringRef ptx, const std::string &chip) {
  if (auto registers = ptxasRegisters(ptx, chip))
    return std::to_string(*registers) + " registers by ptxas";
  return "at most " + std::to_string(ptxRegisterPressure(ptx)) + " registers of 32 bits alive in the text";
}

llvm::Expected<std::vector<targets::CodeListing>> NvptxTarget::functionListings(ModuleOp module,
                                                                                targets::BeginPart begin) const {
  begin("list-code");
  registerTranslations(*module.getContext());
  return gpu::makeListings(module, [&](Operation *op) -> llvm::Expected<targets::CodeListing> {
    auto kernel = cast<LLVM::LLVMFuncOp>(op);
    auto emitted = emitKernel(kernel, module, chip, /*withTask=*/false);
    if (!emitted)
      return emitted.takeError();
    targets::CodeListing listing = std::move(emitted->listing);
    listing.resources =
        gpu::describeResources(kernel, sharedBytes(kernel)) + ", " + describeRegisters(listing.assembly, chip);
    return listing;
  });
}

// Links the code of kernels, and declares the shared memory of persistent kernels.
static llvm::Expected<std::string> linkModules(llvm::ArrayRef<std::string> codes) {
  if (codes.empty())
    return std::string();
  std::vector<PtxModule> modules;
  for (const std::string &code : codes) {
    auto module = PtxModule::parse(code);
    if (!module)
      return module.takeError();
    modules.push_back(std::move(*module));
  }
  auto linked = PtxModule::link(modules);
  if (!linked)
    return linked.takeError();
  linked->globals = persistentDeclarations + linked->globals;
  return linked->text();
}

static auto persistentKernelMaker(const std::string &chip) {
  return [facts = findGpu(chip)](const std::string &name, llvm::ArrayRef<gpu::EntryKernel> kernels,
                                 gpu::PersistentKernel &persistent) {
    return makePersistentKernel(name, kernels, *facts, persistent);
  };
}

static llvm::Expected<std::string> linkAllKernels(llvm::ArrayRef<targets::ObjectCode> objects,
                                                  const std::string &chip) {
  auto codes = gpu::getKernelModules(objects, persistentKernelMaker(chip));
  return codes ? linkModules(*codes) : codes.takeError();
}

// The PTX of a program includes its persistent kernels.
llvm::Expected<std::string> NvptxTarget::listing(llvm::StringRef word, ModuleOp module,
                                                 targets::BeginPart begin) const {
  if (word == "ptx") {
    auto objects = compile(module, begin);
    return objects ? linkAllKernels(*objects, chip) : llvm::Expected<std::string>(objects.takeError());
  }
  auto all = functionListings(module, begin);
  if (!all)
    return all.takeError();
  std::string text;
  for (const targets::CodeListing &listing : *all)
    text += listing.llvmIr;
  return text;
}

llvm::Expected<targets::LinkedCode> NvptxTarget::link(llvm::ArrayRef<targets::ObjectCode> objects) const {
  return gpu::linkLaunches(objects, linkModules, persistentKernelMaker(chip));
}

llvm::Expected<std::vector<uint8_t>> NvptxTarget::linkRelocatable(llvm::ArrayRef<targets::ObjectCode> objects) const {
  auto text = linkAllKernels(objects, chip);
  if (!text)
    return text.takeError();
  return std::vector<uint8_t>(text->begin(), text->end());
}

}  // namespace talc::nvptx
