// SPDX-License-Identifier: Apache-2.0
// LLVM dialect -> LLVM IR -> optimized LLVM IR -> PTX.
//
// The version of PTX is the oldest that has the chip, so that old drivers take it. A function that LLVM would have to
// find in a library is an error here, not in the user's driver.
#include "compiler/targets/nvptx/PtxEmitter.h"

#include "compiler/Error.h"
#include "compiler/passes/schedule/gpu/WorkgroupEmitter.h"
#include "compiler/targets/nvptx/PinLoadHoisting.h"
#include "compiler/targets/nvptx/TaskFunction.h"

#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
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

#include <mutex>

using namespace mlir;

namespace talc::nvptx {

void registerTranslations(MLIRContext &context) {
  registerBuiltinDialectTranslation(context);
  registerLLVMDialectTranslation(context);
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

// The kernel, its memory, and the intrinsics that it calls.
static OwningOpRef<ModuleOp> codeOf(LLVM::LLVMFuncOp kernel, ModuleOp module) {
  OwningOpRef<ModuleOp> code = ModuleOp::create(kernel.getLoc());
  llvm::SmallSetVector<Operation *, 8> referred;
  if (auto uses = SymbolTable::getSymbolUses(kernel.getOperation()))
    for (const SymbolTable::SymbolUse &use : *uses)
      if (Operation *symbol = SymbolTable::lookupSymbolIn(module, use.getSymbolRef().getRootReference()))
        referred.insert(symbol);
  for (Operation *symbol : referred)
    if (symbol != kernel)
      code->push_back(symbol->clone());
  LLVM::LLVMFuncOp own = kernel.clone();
  own.setLinkage(LLVM::Linkage::External);
  code->push_back(own);
  return code;
}

static llvm::Expected<std::unique_ptr<llvm::TargetMachine>> machineFor(const std::string &chip) {
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

// Said to the driver's compiler; LLVM has unrolled what it likes.
static void keepLoops(llvm::Function &function) {
  llvm::DominatorTree dominators(function);
  llvm::LoopInfo loops(dominators);
  for (llvm::Loop *loop : loops.getLoopsInPreorder())
    loop->setLoopAlreadyUnrolled();
}

// A step of many rows is one text with the registers that its largest kernel takes: the driver's compiler unrolls the
// loops of all others until these are used up, and more.
static bool hasRows(LLVM::LLVMFuncOp kernel) {
  return kernel->getAttrOfType<DictionaryAttr>(gridAttr).contains("rows");
}

llvm::Expected<targets::CodeListing> emitKernel(LLVM::LLVMFuncOp kernel, ModuleOp module, const std::string &chip,
                                                std::optional<uint64_t> *taskShared) {
  auto machine = machineFor(chip);
  if (!machine)
    return machine.takeError();
  OwningOpRef<ModuleOp> code = codeOf(kernel, module);
  llvm::LLVMContext context;
  std::unique_ptr<llvm::Module> translated = translateModuleToLLVMIR(*code, context, kernel.getName());
  if (!translated)
    return internalError("the kernel '{}' cannot be translated to LLVM IR", kernel.getName().str());
  translated->setTargetTriple((*machine)->getTargetTriple());
  translated->setDataLayout((*machine)->createDataLayout());
  targets::CodeListing listing;
  listing.function = kernel.getName().str();
  llvm::Function *function = translated->getFunction(listing.function);
  function->setCallingConv(llvm::CallingConv::PTX_Kernel);
  const auto threads = static_cast<unsigned>(kernel->getAttrOfType<IntegerAttr>(threadsAttr).getInt());
  function->addFnAttr("nvvm.reqntid", std::to_string(threads));
  if (auto registers = kernel->getAttrOfType<IntegerAttr>(registersAttr))
    function->addFnAttr("nvvm.maxnreg", std::to_string(registers.getInt()));
  pinHoistedLoads(*function);
  optimize(*translated, **machine);
  unpinHoistedLoads(*function);
  if (kernel->hasAttr(rolledAttr))
    keepLoops(*function);
  if (taskShared)
    *taskShared = addTaskFunction(*function, threads, hasRows(kernel));
  if (llvm::Function *task = translated->getFunction(listing.function + "_task"); task && hasRows(kernel))
    keepLoops(*task);
  llvm::raw_string_ostream(listing.llvmIr) << *translated;
  llvm::SmallVector<char, 0> text;
  llvm::raw_svector_ostream stream(text);
  llvm::legacy::PassManager passes;
  if ((*machine)->addPassesToEmitFile(passes, stream, nullptr, llvm::CodeGenFileType::AssemblyFile))
    return internalError("LLVM cannot write PTX");
  passes.run(*translated);
  listing.assembly.assign(text.begin(), text.end());
  if (llvm::StringRef(listing.assembly).contains(".extern .func"))
    return internalError("the kernel '{}' calls a library", listing.function);
  return listing;
}

}  // namespace talc::nvptx
