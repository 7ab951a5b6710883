// SPDX-License-Identifier: Apache-2.0
// LLVM dialect -> LLVM IR -> optimized LLVM IR -> PTX.
//
// The version of PTX is the oldest that has the chip, so that old drivers take it. A function that LLVM would have to
// find in a library is an error here, not in the user's driver.
#include "compiler/targets/nvptx/PtxEmitter.h"

#include "compiler/Error.h"
#include "compiler/targets/nvptx/PinLoadHoisting.h"
#include "compiler/targets/nvptx/TaskFunction.h"
#include "dialects/kernel/KernelDialect.h"

#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/NVVM/NVVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/Target/TargetOptions.h"
#include "llvm/Transforms/Utils/Cloning.h"

#include <mutex>

using namespace mlir;

namespace talc::nvptx {

void registerTranslations(MLIRContext &context) {
  registerBuiltinDialectTranslation(context);
  registerLLVMDialectTranslation(context);
  registerNVVMDialectTranslation(context);
}

static void initializeLlvm() {
  static std::once_flag once;
  std::call_once(once, [] {
    LLVMInitializeNVPTXTarget();
    LLVMInitializeNVPTXTargetInfo();
    LLVMInitializeNVPTXTargetMC();
    LLVMInitializeNVPTXAsmPrinter();
  });
}

// A module with the kernel and the symbols that it refers to.
static OwningOpRef<ModuleOp> extractCode(LLVM::LLVMFuncOp kernel, ModuleOp module) {
  OwningOpRef<ModuleOp> code = ModuleOp::create(kernel.getLoc());
  llvm::SmallSetVector<Operation *, 8> referred;
  if (auto uses = SymbolTable::getSymbolUses(kernel.getOperation()))
    for (const SymbolTable::SymbolUse &use : *uses)
      if (Operation *symbol = SymbolTable::lookupSymbolIn(module, use.getSymbolRef().getRootReference()))
        referred.insert(symbol);
  for (Operation *symbol : referred)
    if (symbol != kernel)
      code->push_back(symbol->clone());
  LLVM::LLVMFuncOp copy = kernel.clone();
  copy.setLinkage(LLVM::Linkage::External);
  code->push_back(copy);
  return code;
}

static llvm::Expected<std::unique_ptr<llvm::TargetMachine>> createMachine(const std::string &chip) {
  initializeLlvm();
  llvm::Triple triple("nvptx64-nvidia-cuda");
  std::string reason;
  const llvm::Target *target = llvm::TargetRegistry::lookupTarget(triple, reason);
  if (!target)
    return internalError("LLVM has no backend for NVIDIA GPUs: {}", reason);
  return std::unique_ptr<llvm::TargetMachine>(target->createTargetMachine(
      triple, chip, "", llvm::TargetOptions(), std::nullopt, std::nullopt, llvm::CodeGenOptLevel::Aggressive));
}

static void optimize(llvm::Module &module, llvm::TargetMachine &machine) {
  llvm::PassBuilder builder(&machine);
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager components;
  llvm::ModuleAnalysisManager modules;
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(components);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, components, modules);
  builder.buildPerModuleDefaultPipeline(llvm::OptimizationLevel::O3).run(module, modules);
}

// Asks the driver's compiler not to unroll. LLVM has unrolled already.
static void keepLoops(llvm::Function &function) {
  llvm::DominatorTree dominators(function);
  llvm::LoopInfo loops(dominators);
  for (llvm::Loop *loop : loops.getLoopsInPreorder())
    loop->setLoopAlreadyUnrolled();
}

static llvm::Error writePtx(llvm::Module &module, llvm::TargetMachine &machine, std::string &ptx) {
  llvm::SmallVector<char, 0> text;
  llvm::raw_svector_ostream stream(text);
  llvm::legacy::PassManager passes;
  if (machine.addPassesToEmitFile(passes, stream, nullptr, llvm::CodeGenFileType::AssemblyFile))
    return internalError("LLVM cannot write PTX");
  passes.run(module);
  ptx.assign(text.begin(), text.end());
  if (llvm::StringRef(ptx).contains(".extern .func"))
    return internalError("the kernel '{}' calls a library", module.getName().str());
  return llvm::Error::success();
}

// Moves a function to a module of its own. It has no global variables.
static std::unique_ptr<llvm::Module> splitOff(llvm::Function &function) {
  llvm::ValueToValueMapTy values;
  std::unique_ptr<llvm::Module> module =
      llvm::CloneModule(*function.getParent(), values, [&](const auto *global) { return global == &function; });
  for (llvm::Function &other : llvm::make_early_inc_range(*module))
    if (other.use_empty() && other.isDeclaration())
      other.eraseFromParent();
  for (llvm::GlobalVariable &variable : llvm::make_early_inc_range(module->globals()))
    if (variable.use_empty())
      variable.eraseFromParent();
  function.eraseFromParent();
  return module;
}

static llvm::Error emitTask(llvm::Function &kernel, bool hasRows, unsigned threads, llvm::TargetMachine &machine,
                            KernelPtx &emitted) {
  std::optional<uint64_t> sharedBytes = addTaskFunction(kernel, threads, hasRows);
  if (!sharedBytes)
    return llvm::Error::success();
  llvm::Function *task = kernel.getParent()->getFunction((kernel.getName() + "_task").str());
  // A prefill step is one kernel with the registers of its largest task: the driver's compiler would unroll the loops
  // of all others until registers run out.
  if (hasRows)
    keepLoops(*task);
  emitted.taskSharedBytes = *sharedBytes;
  return writePtx(*splitOff(*task), machine, emitted.task);
}

llvm::Expected<KernelPtx> emitKernel(LLVM::LLVMFuncOp kernel, ModuleOp module, const std::string &chip, bool withTask) {
  auto machine = createMachine(chip);
  if (!machine)
    return machine.takeError();
  OwningOpRef<ModuleOp> code = extractCode(kernel, module);
  llvm::LLVMContext context;
  std::unique_ptr<llvm::Module> translated = translateModuleToLLVMIR(*code, context, kernel.getName());
  if (!translated)
    return internalError("the kernel '{}' cannot be translated to LLVM IR", kernel.getName().str());
  translated->setTargetTriple((*machine)->getTargetTriple());
  translated->setDataLayout((*machine)->createDataLayout());
  KernelPtx emitted;
  emitted.listing.function = kernel.getName().str();
  llvm::Function *function = translated->getFunction(emitted.listing.function);
  function->setCallingConv(llvm::CallingConv::PTX_Kernel);
  const kernel::LaunchAttr launch = kernel::LaunchAttr::lookup(kernel);
  const auto threads = static_cast<unsigned>(launch.getThreads());
  function->addFnAttr("nvvm.reqntid", std::to_string(threads));
  if (launch.getMaxRegisters() > 0)
    function->addFnAttr("nvvm.maxnreg", std::to_string(launch.getMaxRegisters()));
  pinHoistedLoads(*function);
  optimize(*translated, **machine);
  unpinHoistedLoads(*function);
  if (launch.getKeepLoops())
    keepLoops(*function);
  llvm::raw_string_ostream(emitted.listing.llvmIr) << *translated;
  // The task is a copy of the kernel before the backend changes it.
  if (withTask)
    if (llvm::Error error = emitTask(*function, launch.getGrid().hasRows(), threads, **machine, emitted))
      return std::move(error);
  if (llvm::Error error = writePtx(*translated, **machine, emitted.listing.assembly))
    return std::move(error);
  return emitted;
}

}  // namespace talc::nvptx
