// SPDX-License-Identifier: Apache-2.0
// Turns functions of the llvm dialect into x86-64 object code.
#pragma once

#include "compiler/targets/Target.h"
#include "compiler/targets/cpu/ObjectCode.h"

#include "mlir/IR/BuiltinOps.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Target/TargetMachine.h"

#include <memory>

namespace talc::cpu {

// What the runtime calls; a program has some of them.
inline constexpr llvm::StringRef entryPoints[] = {"talc_encode", "talc_prefill", "talc_decode"};

class ObjectEmitter {
public:
  static llvm::Expected<std::unique_ptr<ObjectEmitter>> create(const targets::Target &target);

  // Takes functions and globals of the llvm dialect, and nothing else. Of the functions only the entry points of a step
  // are visible from outside.
  llvm::Error translate(mlir::ModuleOp code);
  void optimize();
  llvm::Expected<ObjectCode> emit();

  const llvm::Module &llvmIr() const { return *module; }

private:
  ObjectEmitter(const targets::Target &target, std::unique_ptr<llvm::TargetMachine> machine)
      : target(target), machine(std::move(machine)) {}
  void prepare(llvm::Function &function) const;

  targets::Target target;
  std::unique_ptr<llvm::TargetMachine> machine;
  llvm::LLVMContext context;
  std::unique_ptr<llvm::Module> module;
};

}  // namespace talc::cpu
