// SPDX-License-Identifier: Apache-2.0
// Turns functions of the llvm dialect into x86-64 object code that needs nothing from outside.
#pragma once

#include "compiler/targets/Target.h"

#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Target/TargetMachine.h"

#include <memory>
#include <vector>

namespace talc::cpu {

class ObjectEmitter {
public:
  static llvm::Expected<std::unique_ptr<ObjectEmitter>> create(const targets::Target &target);

  // Optimized LLVM IR of the module's functions and globals in the llvm dialect; other operations are left out. Of the
  // functions only talc_prefill and talc_decode are visible from outside.
  llvm::Expected<std::unique_ptr<llvm::Module>> translate(mlir::ModuleOp module, llvm::LLVMContext &context);

  // A relocatable object without undefined symbols.
  llvm::Expected<std::vector<uint8_t>> emit(llvm::Module &module);

  // How many times the code that emit() made writes a register to the stack for want of registers, by function; a
  // function that is not there spills nothing.
  const llvm::StringMap<int64_t> &spills() const { return spillsOfFunctions; }

private:
  ObjectEmitter(const targets::Target &target, std::unique_ptr<llvm::TargetMachine> machine)
      : target(target), machine(std::move(machine)) {}
  llvm::Error prepare(llvm::Module &module);
  void optimize(llvm::Module &module);

  targets::Target target;
  std::unique_ptr<llvm::TargetMachine> machine;
  llvm::StringMap<int64_t> spillsOfFunctions;
};

}  // namespace talc::cpu
