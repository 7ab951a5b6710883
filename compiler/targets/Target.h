// SPDX-License-Identifier: Apache-2.0
// What the compiler asks of a kind of machine: how weights are packed for it, which passes make its code, and how that
// code becomes part of an artifact. Nothing outside a target's own folder knows more about it.
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

// What weights are multiplied as, where the target can: as f32 that they are widened to; those of small integers as
// integers; and those of bf16 by activations rounded to bf16, too. What cannot be is widened.
enum class Compute { F32, Integers, Bf16 };

struct MachineRequirements {
  std::string family;                 // of machines, as artifacts name it: x86-64
  std::vector<std::string> features;  // that a machine of the family must have, as artifacts name them: avx2, fma

  bool operator==(const MachineRequirements &other) const {
    return family == other.family && features == other.features;
  }
};

// What the runtime loads.
struct LinkedCode {
  struct Entry {
    std::string name, symbol;  // of the entry (runtime/artifact/Entries.h), and of its function in the code
    std::string steps = "";    // for people: how steps of the entry run; empty: as a call
  };
  std::vector<uint8_t> image;  // in the form that the family's loader takes
  std::vector<Entry> entries;
};

class Target {
public:
  virtual ~Target() = default;

  // As users call it: x86-64-v3.
  virtual std::string name() const = 0;
  virtual MachineRequirements requirements() const = 0;
  // The family of machines that load the code, and whose runtime a product begins with; empty: any can.
  virtual std::string hostFamily() const { return ""; }
  // Whether its code runs through a driver, a shared library that the runtime opens: a product then begins with a
  // runtime that can.
  virtual bool usesDriver() const { return false; }
  // Texts and numbers for readers of an artifact's manifest.
  virtual mlir::DictionaryAttr manifestEntries(mlir::MLIRContext &context) const = 0;
  // All that code follows from beside the program: equal for targets that make equal code.
  virtual std::string identity() const = 0;

  // How packed weights and states lie in memory, as artifacts name it. Code of several targets in one artifact reads
  // the same weights, so all of them have one layout; it is filled in as the best of them likes it.
  virtual std::string weightLayout() const = 0;

  // Stage optimize: gives everything that is stored its layout, and the element type `weights` (checkpoint, f32, ...).
  virtual void addWeightPacking(mlir::OpPassManager &passes, const std::string &weights) const = 0;
  // Stage optimize, with packed weights: rounds activations to what weights are to be multiplied as. A target without
  // such products leaves them.
  virtual void addActivationQuantization(mlir::OpPassManager &passes, Compute compute) const {}
  // Stage bufferize, at first: gives every state the layout that the target's kernels read (`layout-kv-cache`).
  virtual void addKvLayout(mlir::OpPassManager &passes) const = 0;
  // Stage bufferize: replaces pieces by several where these are better tasks; divide-work follows.
  virtual void addOpSplitting(mlir::OpPassManager &passes) const = 0;
  // Stage schedule, at first: says how pieces are to be cut into loops, and who makes their code. Pieces that know it
  // already stay as they are, so that this may run again. `plans`: what the user and records say of single kernels, as
  // checkPlans takes it. `generator`: as of --generator; a target that has no other than its own passes takes these.
  virtual void addPlans(mlir::OpPassManager &passes, const std::string &plans, const std::string &generator) const {}
  // What is wrong with a text of plans, or nothing.
  virtual std::string checkPlans(llvm::StringRef plans) const {
    return "target " + name() + " has no plans of its kernels that can be given";
  }
  // Stage schedule: pieces on planned memory become loops. Stage codegen: those become what compile() takes. Each ends
  // with endStage (compiler/passes/StageEnd.h).
  virtual void addSchedule(mlir::OpPassManager &passes) const = 0;
  virtual void addCodegen(mlir::OpPassManager &passes) const = 0;

  // Stage package: code of every function that has a body, in the module's order, apart from one another, so that a
  // cache can keep them one by one.
  virtual llvm::Expected<std::vector<ObjectCode>> compile(mlir::ModuleOp module, BeginPart begin) const = 0;
  // Links the code of a program's functions. Equal objects give equal bytes.
  virtual llvm::Expected<LinkedCode> link(llvm::ArrayRef<ObjectCode> objects) const = 0;
  // One object for linkers (--emit=code).
  virtual llvm::Expected<std::vector<uint8_t>> linkRelocatable(llvm::ArrayRef<ObjectCode> objects) const = 0;
  // Words of --emit for the code as a text to be read, and that text.
  virtual llvm::ArrayRef<llvm::StringLiteral> listingKinds() const = 0;
  virtual llvm::Expected<std::string> listing(llvm::StringRef word, mlir::ModuleOp module, BeginPart begin) const = 0;
  // What becomes of every function, for --inspect. None: the target has no texts to show.
  virtual llvm::Expected<std::vector<CodeListing>> functionListings(mlir::ModuleOp, BeginPart) const {
    return std::vector<CodeListing>();
  }
};

// The generator that every target has: its own passes.
inline constexpr llvm::StringLiteral builtinGenerator = "mlir";

using TargetPtr = std::shared_ptr<const Target>;

// A name that --target takes. `native` is this machine.
llvm::Expected<TargetPtr> parseTarget(llvm::StringRef name);

// Which names there are, for messages and help.
std::string targetNames();
// Which texts some target has.
std::vector<std::string> allListingKinds();

// The targets of a list with commas, in the order in which a machine that runs several of them prefers them. Fails if
// two of them need the same of a machine.
llvm::Expected<std::vector<TargetPtr>> parseTargets(llvm::StringRef list);

}  // namespace talc::targets
