// SPDX-License-Identifier: Apache-2.0
// Turns functions of the llvm dialect into x86-64 object code that needs nothing from outside.
#pragma once

#include "compiler/targets/Target.h"
#include "compiler/targets/cpu/ObjectCode.h"

#include "mlir/IR/BuiltinOps.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Target/TargetMachine.h"

#include <memory>

namespace talc::cpu {

class ObjectEmitter {
public:
  static llvm::Expected<std::unique_ptr<ObjectEmitter>> create(const targets::Target &target);

  // LLVM IR of the module's functions and globals in the llvm dialect; other operations are left out. Of the
  // functions only talc_prefill and talc_decode are visible from outside.
  llvm::Expected<std::unique_ptr<llvm::Module>> translate(mlir::ModuleOp module, llvm::LLVMContext &context);

  void optimize(llvm::Module &module);

  llvm::Expected<ObjectCode> emit(llvm::Module &module);

private:
  ObjectEmitter(const targets::Target &target, std::unique_ptr<llvm::TargetMachine> machine)
      : target(target), machine(std::move(machine)) {}
  llvm::Error prepare(llvm::Module &module);

  targets::Target target;
  std::unique_ptr<llvm::TargetMachine> machine;
};

}  // namespace talc::cpu
