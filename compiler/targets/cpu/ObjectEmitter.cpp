// SPDX-License-Identifier: Apache-2.0
// LLVM dialect -> LLVM IR -> optimized LLVM IR -> object code.
//
// Kernels arrive tiled, unrolled and vectorized by talc's own passes. LLVM's loop unrolling would undo that work (it
// spills the accumulators of a register tile), so it is off, and so are the vectorizers. Library functions are declared
// unavailable: no loop may become a call of memset or memcpy, because the runtime's loader resolves no symbols.
#include "compiler/targets/cpu/ObjectEmitter.h"

#include "compiler/Error.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/Analysis/TargetLibraryInfo.h"
#include "llvm/Analysis/TargetTransformInfo.h"
#include "llvm/IR/DiagnosticHandler.h"
#include "llvm/IR/DiagnosticInfo.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Object/ObjectFile.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetOptions.h"
#include "llvm/Transforms/Utils/LowerMemIntrinsics.h"

using namespace mlir;

namespace talc::cpu {

static const char *const entryPoints[] = {"talc_encode", "talc_prefill", "talc_decode"};

static llvm::TargetLibraryInfoImpl noLibrary(const llvm::Triple &triple) {
  llvm::TargetLibraryInfoImpl library(triple);
  library.disableAllFunctions();
  return library;
}

llvm::Expected<std::unique_ptr<ObjectEmitter>> ObjectEmitter::create(const targets::Target &target) {
  LLVMInitializeX86TargetInfo();
  LLVMInitializeX86Target();
  LLVMInitializeX86TargetMC();
  LLVMInitializeX86AsmPrinter();
  llvm::Triple triple("x86_64-unknown-linux-gnu");
  std::string reason;
  const llvm::Target *found = llvm::TargetRegistry::lookupTarget(triple, reason);
  if (!found)
    return internalError("LLVM has no x86-64 backend: {}", reason);
  std::unique_ptr<llvm::TargetMachine> machine(
      found->createTargetMachine(triple, target.cpu, target.features, llvm::TargetOptions(), llvm::Reloc::PIC_,
                                 std::nullopt, llvm::CodeGenOptLevel::Aggressive));
  if (!machine)
    return internalError("LLVM cannot generate code for {}", target.cpu);
  return std::unique_ptr<ObjectEmitter>(new ObjectEmitter(target, std::move(machine)));
}

llvm::Expected<std::unique_ptr<llvm::Module>> ObjectEmitter::translate(ModuleOp module, llvm::LLVMContext &context) {
  registerBuiltinDialectTranslation(*module.getContext());
  registerLLVMDialectTranslation(*module.getContext());
  OwningOpRef<ModuleOp> code = ModuleOp::create(module.getLoc());
  for (Operation &op : module.getOps())
    if (isa_and_nonnull<LLVM::LLVMDialect>(op.getDialect()))
      code->push_back(op.clone());
  std::unique_ptr<llvm::Module> result = translateModuleToLLVMIR(*code, context, "talc");
  if (!result)
    return internalError("the code of the model cannot be translated to LLVM IR");
  if (llvm::Error error = prepare(*result))
    return std::move(error);
  return result;
}

// Says what the code runs on, and hides all but the entry points, so that nothing goes through a table of symbols.
llvm::Error ObjectEmitter::prepare(llvm::Module &module) {
  module.setTargetTriple(machine->getTargetTriple());
  module.setDataLayout(machine->createDataLayout());
  module.setPICLevel(llvm::PICLevel::BigPIC);
  auto isDefined = [&](const char *name) {
    llvm::Function *entry = module.getFunction(name);
    return entry && !entry->isDeclaration();
  };
  if (llvm::none_of(entryPoints, isDefined))
    return internalError("the compiled model has no entry point");
  for (llvm::Function &function : module) {
    if (function.isDeclaration())
      continue;
    function.addFnAttr("target-cpu", target.cpu);
    function.addFnAttr("tune-cpu", target.tune);
    if (!target.features.empty())
      function.addFnAttr("target-features", target.features);
    std::string vectorBits = std::to_string(32 * target.vectorLanes);
    function.addFnAttr("prefer-vector-width", vectorBits);
    function.addFnAttr("min-legal-vector-width", vectorBits);
    function.addFnAttr("no-builtins");
    function.addFnAttr(llvm::Attribute::NoUnwind);
    function.setDSOLocal(true);
    if (llvm::is_contained(entryPoints, function.getName()))
      continue;
    if (!function.hasLocalLinkage())
      function.setVisibility(llvm::GlobalValue::HiddenVisibility);
    // Kernels and layers are shared by many calls; inlining them costs compile time and gains nothing.
    if (!function.hasFnAttribute(llvm::Attribute::AlwaysInline))
      function.addFnAttr(llvm::Attribute::NoInline);
  }
  for (llvm::GlobalVariable &global : module.globals())
    if (!global.hasLocalLinkage())
      global.setVisibility(llvm::GlobalValue::HiddenVisibility);
  return llvm::Error::success();
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

void ObjectEmitter::optimize(llvm::Module &module) {
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
  builder.buildPerModuleDefaultPipeline(llvm::OptimizationLevel::O3).run(module, modules);
  for (llvm::Function &function : module)
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

static llvm::Error checkNothingUndefined(llvm::MemoryBufferRef object) {
  auto file = llvm::object::ObjectFile::createObjectFile(object);
  if (!file)
    return file.takeError();
  for (const llvm::object::SymbolRef &symbol : (*file)->symbols()) {
    llvm::Expected<uint32_t> flags = symbol.getFlags();
    llvm::Expected<llvm::StringRef> name = symbol.getName();
    if (!flags || !name)
      return llvm::joinErrors(flags.takeError(), name.takeError());
    bool undefined = *flags & llvm::object::SymbolRef::SF_Undefined;
    if (undefined && !name->empty() && *name != "_GLOBAL_OFFSET_TABLE_")
      return internalError("the generated code refers to '{}', which it does not define", name->str());
  }
  return llvm::Error::success();
}

llvm::Expected<ObjectCode> ObjectEmitter::emit(llvm::Module &module) {
  ObjectCode code;
  llvm::SmallVector<char, 0> bytes;
  llvm::raw_svector_ostream stream(bytes);
  llvm::legacy::PassManager passes;
  passes.add(new llvm::TargetLibraryInfoWrapperPass(noLibrary(machine->getTargetTriple())));
  if (machine->addPassesToEmitFile(passes, stream, nullptr, llvm::CodeGenFileType::ObjectFile))
    return internalError("LLVM cannot write object files for {}", target.cpu);
  module.getContext().setDiagnosticHandler(std::make_unique<SpillCounter>(code.spills));
  passes.run(module);
  module.getContext().setDiagnosticHandler(nullptr);
  if (llvm::Error error = checkNothingUndefined({{bytes.data(), bytes.size()}, "generated code"}))
    return std::move(error);
  code.bytes.assign(bytes.begin(), bytes.end());
  return code;
}

}  // namespace talc::cpu
