// SPDX-License-Identifier: Apache-2.0
// A processor whose code LLVM makes: vectors, caches, and functions that every thread runs with its own number.
#pragma once

#include "compiler/passes/schedule/IsaTraits.h"
#include "compiler/targets/Target.h"

namespace talc::cpu {

// What tells processors apart. Instructions come from `cpu` and `features`, and are no more than the features that the
// runtime asks for before it runs the code; `tune` only orders them.
struct CpuFacts {
  std::string name;  // as users call it: x86-64-v3
  targets::MachineRequirements needs;
  std::string triple;              // LLVM's name of the architecture and system
  void (*initialize)() = nullptr;  // registers LLVM's backend
  std::string cpu, tune;           // LLVM's names: x86-64-v3, znver3
  std::string features{};          // beside those of `cpu`, in LLVM's notation: +neon,+dotprod
  std::string halideName{};        // Halide's name of the processor: arm-64-linux
  // Whether instructions stay as talc's passes order them until registers are allocated, and whether in that order from
  // then on.
  bool keepsOrder = false, keepsSchedule = false;
  // Whether an instruction loads two neighboring vectors, from a register plus a constant.
  bool loadsPairs = false;
  IsaTraits traits;
  // The size of L2. It decides in which order results are computed, never what they are.
  int64_t cacheBytes = 0;
  // Whether prefetches that exceed the line fill buffers are dropped instead of waiting.
  bool dropsPrefetches = false;
  // Whether hardware prefetchers read a stream of memory faster than software prefetches do.
  bool prefetchesStreams = false;
  // The instructions for dot products of bytes, as convert-dots calls them; they change no bits.
  std::string dots;
  // Whether one instruction multiplies a pair of bf16 values and adds; for all but subnormal numbers that changes no
  // bits.
  bool bf16 = false;
  // Whether AMX multiplies them, which makes bits of its own.
  bool amx = false;
};

inline constexpr llvm::StringLiteral texts[] = {"llvm"};

class CpuTarget final : public targets::Target {
public:
  explicit CpuTarget(CpuFacts facts) : cpu(std::move(facts)) {}

  std::string name() const override { return cpu.name; }
  targets::MachineRequirements requirements() const override { return cpu.needs; }
  std::string hostFamily() const override { return cpu.needs.family; }
  mlir::DictionaryAttr manifestEntries(mlir::MLIRContext &context) const override;
  std::string identity() const override;

  std::string weightLayout() const override { return "panels"; }
  void addWeightPacking(mlir::OpPassManager &passes) const override;
  void addActivationQuantization(mlir::OpPassManager &passes, targets::Compute compute) const override;
  void addKvLayout(mlir::OpPassManager &passes) const override;
  void addOpSplitting(mlir::OpPassManager &passes) const override;
  void addPlans(mlir::OpPassManager &passes, const std::string &plans, const std::string &generator) const override;
  std::string checkPlans(llvm::StringRef plans) const override;
  void addSchedule(mlir::OpPassManager &passes) const override;
  void addCodegen(mlir::OpPassManager &passes) const override;

  llvm::Expected<std::vector<targets::ObjectCode>> compile(mlir::ModuleOp module,
                                                           targets::BeginPart begin) const override;
  llvm::Expected<targets::LinkedCode> link(llvm::ArrayRef<targets::ObjectCode> objects) const override;
  llvm::Expected<std::vector<uint8_t>> linkRelocatable(llvm::ArrayRef<targets::ObjectCode> objects) const override;
  llvm::ArrayRef<llvm::StringLiteral> listingKinds() const override { return cpu::texts; }
  llvm::Expected<std::string> listing(llvm::StringRef word, mlir::ModuleOp module,
                                      targets::BeginPart begin) const override;
  llvm::Expected<std::vector<targets::CodeListing>> functionListings(mlir::ModuleOp module,
                                                                     targets::BeginPart begin) const override;

private:
  CpuFacts cpu;
};

// The x86-64 processors that talc has code for, which have AVX2 and FMA. (X86.cpp)
//
// native, with the caches of this machine; x86-64-v3, x86-64-v4, or LLVM's name of a processor with at least x86-64-v3,
// with the caches of common processors of its level. A null pointer for another name.
llvm::Expected<targets::TargetPtr> parseX86(llvm::StringRef name);
std::vector<std::string> x86Names();

// The 64-bit ARM processors that talc has code for, which have NEON and half-precision arithmetic. (Aarch64.cpp)
//
// aarch64, aarch64+dotprod, or LLVM's name of a processor with at least the features of the first; native on such a
// machine. A null pointer for another name.
llvm::Expected<targets::TargetPtr> parseAarch64(llvm::StringRef name);
std::vector<std::string> aarch64Names();

}  // namespace talc::cpu
