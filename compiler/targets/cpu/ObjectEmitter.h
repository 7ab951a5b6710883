// SPDX-License-Identifier: Apache-2.0
// Turns functions of the llvm dialect into object code of a processor.
#pragma once

#include "compiler/targets/cpu/CpuTarget.h"
#include "runtime/artifact/Entries.h"

#include "mlir/IR/BuiltinOps.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/Target/TargetMachine.h"

#include <memory>

namespace talc::cpu {

class ObjectEmitter {
public:
  static llvm::Expected<std::unique_ptr<ObjectEmitter>> create(const CpuFacts &cpu);

  // Takes functions and globals of the llvm dialect, and nothing else. Of the functions only the entry points of a step
  // are visible from outside.
  llvm::Error translate(mlir::ModuleOp code);
  void optimize();
  llvm::Expected<targets::ObjectCode> emit();
  // The listing of the only function that is defined; instead of emit(), since both change the code.
  llvm::Expected<targets::CodeListing> list();

  const llvm::Module &llvmIr() const { return *module; }

private:
  ObjectEmitter(const CpuFacts &cpu, std::unique_ptr<llvm::TargetMachine> machine)
      : cpu(cpu), machine(std::move(machine)) {}
  void prepare(llvm::Function &function) const;
  bool addPasses(llvm::legacy::PassManager &passes, llvm::raw_pwrite_stream &stream, llvm::CodeGenFileType type);
  llvm::Error write(llvm::raw_pwrite_stream &stream, llvm::CodeGenFileType type, llvm::StringMap<int64_t> &spills);

  CpuFacts cpu;
  std::unique_ptr<llvm::TargetMachine> machine;
  bool keepsOrder = false;  // of the function that is defined: kernel.keeps_source_order
  llvm::LLVMContext context;
  std::unique_ptr<llvm::Module> module;
};

}  // namespace talc::cpu
