// SPDX-License-Identifier: Apache-2.0
// LLVM dialect -> LLVM IR -> optimized LLVM IR -> object code.
//
// Kernels arrive tiled, unrolled and vectorized by talc's own passes. LLVM's loop unrolling would undo that work (it
// spills the accumulators of a register tile), so it is off, and so are the vectorizers. Library functions are declared
// unavailable: no loop may become a call of memset or memcpy, because the runtime's loader resolves no symbols.
#include "compiler/targets/cpu/ObjectEmitter.h"

#include "compiler/Error.h"
#include "dialects/kernel/KernelAttributeNames.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/Analysis/TargetLibraryInfo.h"
#include "llvm/Analysis/TargetTransformInfo.h"
#include "llvm/CodeGen/MachineModuleInfo.h"
#include "llvm/CodeGen/Passes.h"
#include "llvm/CodeGen/TargetPassConfig.h"
#include "llvm/IR/DiagnosticHandler.h"
#include "llvm/IR/DiagnosticInfo.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetOptions.h"
#include "llvm/Transforms/Scalar/EarlyCSE.h"
#include "llvm/Transforms/Scalar/LICM.h"
#include "llvm/Transforms/Scalar/LoopPassManager.h"
#include "llvm/Transforms/Scalar/SeparateConstOffsetFromGEP.h"
#include "llvm/Transforms/Utils/LowerMemIntrinsics.h"

using namespace mlir;

namespace talc::cpu {

static llvm::TargetLibraryInfoImpl noLibrary(const llvm::Triple &triple) {
  llvm::TargetLibraryInfoImpl library(triple);
  library.disableAllFunctions();
  return library;
}

llvm::Expected<std::unique_ptr<ObjectEmitter>> ObjectEmitter::create(const CpuFacts &cpu) {
  cpu.initialize();
  llvm::Triple triple(cpu.triple);
  std::string reason;
  const llvm::Target *target = llvm::TargetRegistry::lookupTarget(triple, reason);
  if (!target)
    return internalError("LLVM has no backend for {}: {}", cpu.triple, reason);
  std::unique_ptr<llvm::TargetMachine> machine(
      target->createTargetMachine(triple, cpu.cpu, cpu.features, llvm::TargetOptions(), llvm::Reloc::PIC_, std::nullopt,
                                  llvm::CodeGenOptLevel::Aggressive));
  if (!machine)
    return internalError("LLVM cannot generate code for {}", cpu.cpu);
  return std::unique_ptr<ObjectEmitter>(new ObjectEmitter(cpu, std::move(machine)));
}

llvm::Error ObjectEmitter::translate(ModuleOp code) {
  for (auto function : code.getOps<LLVM::LLVMFuncOp>())
    keepsOrder |= !function.isExternal() && function->hasAttr(kernel::keepsSourceOrderAttr);
  module = translateModuleToLLVMIR(code, context, "talc");
  if (!module)
    return internalError("the code of the model cannot be translated to LLVM IR");
  module->setTargetTriple(machine->getTargetTriple());
  module->setDataLayout(machine->createDataLayout());
  module->setPICLevel(llvm::PICLevel::BigPIC);
  for (llvm::Function &function : *module)
    prepare(function);
  for (llvm::GlobalVariable &global : module->globals())
    if (!global.hasLocalLinkage())
      global.setVisibility(llvm::GlobalValue::HiddenVisibility);
  return llvm::Error::success();
}

// Says what the code runs on, and hides all but the entry points, so that nothing goes through a table of symbols.
void ObjectEmitter::prepare(llvm::Function &function) const {
  if (function.isIntrinsic())
    return;
  function.setDSOLocal(true);
  if (llvm::none_of(artifact::entryTable,
                    [&](const artifact::EntryInfo &entry) { return entry.symbol == function.getName(); })) {
    function.setVisibility(llvm::GlobalValue::HiddenVisibility);
    // Kernels and layers are shared by many calls; inlining them costs compile time and gains nothing.
    function.addFnAttr(llvm::Attribute::NoInline);
  }
  if (function.isDeclaration())
    return;
  function.addFnAttr("target-cpu", cpu.cpu);
  function.addFnAttr("tune-cpu", cpu.tune);
  if (!cpu.features.empty())
    function.addFnAttr("target-features", cpu.features);
  std::string vectorBits = std::to_string(32 * cpu.traits.lanes);
  function.addFnAttr("prefer-vector-width", vectorBits);
  function.addFnAttr("min-legal-vector-width", vectorBits);
  function.addFnAttr("no-builtins");
  function.addFnAttr(llvm::Attribute::NoUnwind);
}

// Copies and fills that the backend would turn into library calls become loops.
static void expandMemoryIntrinsics(llvm::Function &function, const llvm::TargetTransformInfo &costs) {
  constexpr uint64_t inlineBytes = 128;  // the backend expands these itself
  llvm::SmallVector<llvm::MemIntrinsic *> found;
  for (llvm::BasicBlock &block : function)
    for (llvm::Instruction &instruction : block)
      if (auto *memory = llvm::dyn_cast<llvm::MemIntrinsic>(&instruction)) {
        auto *length = llvm::dyn_cast<llvm::ConstantInt>(memory->getLength());
        if (!length || length->getZExtValue() > inlineBytes)
          found.push_back(memory);
      }
  for (llvm::MemIntrinsic *memory : found) {
    if (auto *copy = llvm::dyn_cast<llvm::MemCpyInst>(memory))
      llvm::expandMemCpyAsLoop(copy, costs);
    else if (auto *move = llvm::dyn_cast<llvm::MemMoveInst>(memory))
      llvm::expandMemMoveAsLoop(move, costs);
    else if (auto *fill = llvm::dyn_cast<llvm::MemSetInst>(memory))
      llvm::expandMemSetAsLoop(fill);
    memory->eraseFromParent();
  }
}

// Leaves constants of addresses to the instructions, where neighbors would else have offsets in registers. LLVM's own
// code generators do so by the same passes, for some targets only where a global option says so.
static void separateConstantOffsets(llvm::Module &module, llvm::FunctionAnalysisManager &analyses) {
  llvm::FunctionPassManager passes;
  passes.addPass(llvm::SeparateConstOffsetFromGEPPass(/*LowerGEP=*/true));
  passes.addPass(llvm::EarlyCSEPass());
  passes.addPass(llvm::createFunctionToLoopPassAdaptor(llvm::LICMPass(llvm::LICMOptions()), /*UseMemorySSA=*/true));
  for (llvm::Function &function : module)
    if (!function.isDeclaration())
      passes.run(function, analyses);
}

void ObjectEmitter::optimize() {
  llvm::PipelineTuningOptions tuning;
  tuning.LoopUnrolling = false;
  tuning.LoopInterleaving = false;
  tuning.LoopVectorization = false;
  tuning.SLPVectorization = false;
  llvm::PassBuilder builder(machine.get(), tuning);
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager components;
  llvm::ModuleAnalysisManager modules;
  llvm::TargetLibraryInfoImpl library = noLibrary(machine->getTargetTriple());
  functions.registerPass([&] { return llvm::TargetLibraryAnalysis(library); });
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(components);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, components, modules);
  builder.buildPerModuleDefaultPipeline(llvm::OptimizationLevel::O3).run(*module, modules);
  if (cpu.loadsPairs)
    separateConstantOffsets(*module, functions);
  for (llvm::Function &function : *module)
    if (!function.isDeclaration())
      expandMemoryIntrinsics(function, functions.getResult<llvm::TargetIRAnalysis>(function));
}

namespace {

// Reads the register allocator's remarks: "%1 spills ... generated in function".
class SpillCounter : public llvm::DiagnosticHandler {
public:
  explicit SpillCounter(llvm::StringMap<int64_t> &spills) : spills(spills) {}

  bool isMissedOptRemarkEnabled(llvm::StringRef pass) const override { return pass == "regalloc"; }
  bool isAnyRemarkEnabled() const override { return true; }

  bool handleDiagnostics(const llvm::DiagnosticInfo &info) override {
    auto *remark = llvm::dyn_cast<llvm::DiagnosticInfoOptimizationBase>(&info);
    if (!remark)
      return false;
    int64_t count = 0;
    for (const auto &argument : remark->getArgs())
      if (argument.Key == "NumSpills" && !llvm::StringRef(argument.Val).getAsInteger(10, count) &&
          remark->getRemarkName() == "SpillReloadCopies")
        spills[remark->getFunction().getName()] = count;
    return true;
  }

private:
  llvm::StringMap<int64_t> &spills;
};

}  // namespace

// As TargetMachine::addPassesToEmitFile, which lets nobody leave a pass out.
bool ObjectEmitter::addPasses(llvm::legacy::PassManager &passes, llvm::raw_pwrite_stream &stream,
                              llvm::CodeGenFileType type) {
  passes.add(new llvm::TargetLibraryInfoWrapperPass(noLibrary(machine->getTargetTriple())));
  auto *functions = new llvm::MachineModuleInfoWrapperPass(machine.get());
  llvm::TargetPassConfig *config = machine->createPassConfig(passes);
  config->setDisableVerify(true);
  if (cpu.keepsOrder || keepsOrder)
    config->disablePass(&llvm::MachineSchedulerID);
  if (keepsOrder)
    config->disablePass(&llvm::MachineCombinerID);
  if (cpu.keepsSchedule)
    config->disablePass(&llvm::PostRASchedulerID);
  passes.add(config);
  passes.add(functions);
  if (config->addISelPasses())
    return false;
  config->addMachinePasses();
  config->setInitialized();
  if (machine->addAsmPrinter(passes, stream, nullptr, type, functions->getMMI().getContext()))
    return false;
  passes.add(llvm::createFreeMachineFunctionPass());
  return true;
}

llvm::Error ObjectEmitter::write(llvm::raw_pwrite_stream &stream, llvm::CodeGenFileType type,
                                 llvm::StringMap<int64_t> &spills) {
  llvm::legacy::PassManager passes;
  if (!addPasses(passes, stream, type))
    return internalError("LLVM cannot write code for {}", cpu.cpu);
  context.setDiagnosticHandler(std::make_unique<SpillCounter>(spills));
  passes.run(*module);
  context.setDiagnosticHandler(nullptr);
  return llvm::Error::success();
}

llvm::Expected<targets::ObjectCode> ObjectEmitter::emit() {
  targets::ObjectCode code;
  llvm::SmallVector<char, 0> bytes;
  llvm::raw_svector_ostream stream(bytes);
  if (llvm::Error error = write(stream, llvm::CodeGenFileType::ObjectFile, code.spills))
    return std::move(error);
  code.bytes.assign(bytes.begin(), bytes.end());
  return code;
}

llvm::Expected<targets::CodeListing> ObjectEmitter::list() {
  targets::CodeListing listing;
  llvm::raw_string_ostream(listing.llvmIr) << *module;
  machine->Options.MCOptions.AsmVerbose = true;  // comments tell spills
  llvm::StringMap<int64_t> spills;
  llvm::SmallVector<char, 0> text;
  llvm::raw_svector_ostream stream(text);
  if (llvm::Error error = write(stream, llvm::CodeGenFileType::AssemblyFile, spills))
    return std::move(error);
  listing.assembly.assign(text.begin(), text.end());
  for (const llvm::Function &function : *module)
    if (!function.isDeclaration())
      listing.function = function.getName();
  listing.spills = spills.lookup(listing.function);
  return listing;
}

}  // namespace talc::cpu
