// SPDX-License-Identifier: Apache-2.0
// The interface to a kind of machine: how weights are packed for it, which passes generate its code, and how that code
// becomes part of an artifact. Nothing outside of a target's own folder knows more about it.
#pragma once

#include "compiler/targets/ObjectCode.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <memory>
#include <string>
#include <vector>

namespace talc::targets {

// Called when a part of stage package begins.
using BeginPart = llvm::function_ref<void(llvm::StringRef name)>;

// The arithmetic of matmuls, if the target has it. F32: weights are dequantized, and multiplied in f32. Integers:
// weights stored as integers with scales are multiplied by activations quantized to int8, with integer dot products.
// Bf16: besides, weights in bf16 are multiplied by activations converted to bf16. Without such instructions, F32.
enum class Compute { F32, Integers, Bf16 };

struct MachineRequirements {
  std::string family;                 // of machines, as artifacts name it: x86-64
  std::vector<std::string> features;  // required of a machine of the family, as artifacts name them: avx2, fma

  bool operator==(const MachineRequirements &other) const {
    return family == other.family && features == other.features;
  }
};

// The code that the runtime loads.
struct LinkedCode {
  struct Entry {
    std::string name, symbol;  // of the entry (runtime/artifact/Entries.h), and of its function in the code
    std::string steps = "";    // how steps of the entry run, for people to read; empty: as a call
  };
  std::vector<uint8_t> image;  // in the form that the family's loader reads
  std::vector<Entry> entries;
};

class Target {
public:
  virtual ~Target() = default;

  // The name in --target: x86-64-v3.
  virtual std::string name() const = 0;
  virtual MachineRequirements requirements() const = 0;
  // The family of machines that load the code, whose launcher stub an artifact needs; empty: any family.
  virtual std::string hostFamily() const { return ""; }
  // Whether the code runs through a driver, a shared library that the runtime opens: an artifact then needs a launcher
  // stub that can do so.
  virtual bool usesDriver() const { return false; }
  // The description of the target in an artifact's manifest.
  virtual mlir::DictionaryAttr manifestEntries(mlir::MLIRContext &context) const = 0;
  // Everything that determines the code besides the program: equal for targets that generate equal code.
  virtual std::string identity() const = 0;

  // The layout of packed weights and KV caches, as artifacts name it. The code of several targets in one artifact reads
  // the same weights, so that all of them need one layout; the best of them chooses its details.
  virtual std::string weightLayout() const = 0;

  // Stage optimize: packs weights into the layout of the target, in the storage format that assign-formats chose.
  virtual void addWeightPacking(mlir::OpPassManager &passes) const = 0;
  // Stage optimize, after packing: quantizes or converts activations for `compute`. A target without such instructions
  // adds no pass.
  virtual void addActivationQuantization(mlir::OpPassManager &passes, Compute compute) const {}
  // Stage bufferize, at the start: gives every KV cache the layout that the target's kernels read (`layout-kv-cache`).
  virtual void addKvLayout(mlir::OpPassManager &passes) const = 0;
  // Stage bufferize, before divide-work: splits ops that are too large for one task.
  virtual void addOpSplitting(mlir::OpPassManager &passes) const = 0;
  // Stage schedule, at the start: assigns plans, which cut the loops of compute ops, and generators of their code. Ops
  // that have them keep them, so that this may run again. `plans`: plan overrides and tuning records, in the form that
  // checkPlans accepts. `generator`: see --generator; a target without other generators uses its own passes.
  virtual void addPlans(mlir::OpPassManager &passes, const std::string &plans, const std::string &generator) const {}
  // Returns what is wrong with plan overrides, or nothing.
  virtual std::string checkPlans(llvm::StringRef plans) const {
    return "target " + name() + " has no tuning parameters";
  }
  // Stage schedule: lowers compute ops on planned memory to loops. Stage codegen: lowers loops to the input of
  // compile(). Both end with endStage (compiler/passes/StageEnd.h).
  virtual void addSchedule(mlir::OpPassManager &passes) const = 0;
  virtual void addCodegen(mlir::OpPassManager &passes) const = 0;

  // Stage package: compiles every function that has a body, in the module's order, each to an object of its own, so
  // that a cache can store them one by one.
  virtual llvm::Expected<std::vector<ObjectCode>> compile(mlir::ModuleOp module, BeginPart begin) const = 0;
  // Links the code of a program's functions. Equal objects give equal bytes.
  virtual llvm::Expected<LinkedCode> link(llvm::ArrayRef<ObjectCode> objects) const = 0;
  // One object for linkers (--emit=code).
  virtual llvm::Expected<std::vector<uint8_t>> linkRelocatable(llvm::ArrayRef<ObjectCode> objects) const = 0;
  // The listings that --emit can name, and such a listing.
  virtual llvm::ArrayRef<llvm::StringLiteral> listingKinds() const = 0;
  virtual llvm::Expected<std::string> listing(llvm::StringRef kind, mlir::ModuleOp module, BeginPart begin) const = 0;
  // The listings of every function, for --inspect; empty if the target has none.
  virtual llvm::Expected<std::vector<CodeListing>> functionListings(mlir::ModuleOp, BeginPart) const {
    return std::vector<CodeListing>();
  }
};

// The generator that every target has: the target's own passes.
inline constexpr llvm::StringLiteral builtinGenerator = "mlir";

using TargetPtr = std::shared_ptr<const Target>;

// Parses a name of --target. `native` is this machine.
llvm::Expected<TargetPtr> parseTarget(llvm::StringRef name);

// All names, for messages and help.
std::string targetNames();
// The listings that at least one target has.
std::vector<std::string> allListingKinds();

// Parses a list with commas. The targets are in the order in which a machine that can run several of them prefers them.
// Fails if two of them have the same requirements.
llvm::Expected<std::vector<TargetPtr>> parseTargets(llvm::StringRef list);

}  // namespace talc::targets
