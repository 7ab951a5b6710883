// SPDX-License-Identifier: Apache-2.0
// Functions are compiled apart from one another: none is inlined, so nothing is lost, and processors share the work.
#include "compiler/targets/cpu/CompileAndLink.h"

#include "compiler/Error.h"

#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace talc::cpu {

static OwningOpRef<ModuleOp> emptyModule(Operation *like) {
  registerBuiltinDialectTranslation(*like->getContext());
  registerLLVMDialectTranslation(*like->getContext());
  return ModuleOp::create(like->getLoc());
}

OwningOpRef<ModuleOp> allCode(ModuleOp module) {
  OwningOpRef<ModuleOp> code = emptyModule(module);
  for (Operation &op : module.getOps())
    if (isa_and_nonnull<LLVM::LLVMDialect>(op.getDialect()))
      code->push_back(op.clone());
  return code;
}

// The declaration of a symbol that another function sees.
static llvm::Expected<Operation *> reference(Operation *symbol) {
  if (isa<LLVM::LLVMFuncOp>(symbol)) {
    Operation *declared = symbol->cloneWithoutRegions();
    cast<LLVM::LLVMFuncOp>(declared).setLinkage(LLVM::Linkage::External);
    return declared;
  }
  auto global = dyn_cast<LLVM::GlobalOp>(symbol);
  if (!global || !global.getConstant())
    return internalError("the generated code has a variable '{}'", SymbolTable::getSymbolName(symbol).str());
  auto copy = global.clone();
  copy.setLinkage(LLVM::Linkage::Internal);
  return copy;
}

llvm::Expected<OwningOpRef<ModuleOp>> extractFunction(LLVM::LLVMFuncOp function, const SymbolTable &symbols) {
  OwningOpRef<ModuleOp> code = emptyModule(function);
  LLVM::LLVMFuncOp defined = function.clone();
  defined.setLinkage(LLVM::Linkage::External);
  code->push_back(defined);
  llvm::SmallSetVector<Operation *, 16> referred;
  if (auto uses = SymbolTable::getSymbolUses(function.getOperation()))
    for (const SymbolTable::SymbolUse &use : *uses)
      if (Operation *symbol = symbols.lookup(use.getSymbolRef().getRootReference()); symbol && symbol != function)
        referred.insert(symbol);
  for (Operation *symbol : referred) {
    llvm::Expected<Operation *> op = reference(symbol);
    if (!op)
      return op.takeError();
    code->push_back(*op);
  }
  return code;
}

}  // namespace talc::cpu
