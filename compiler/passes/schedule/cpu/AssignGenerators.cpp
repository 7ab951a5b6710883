// SPDX-License-Identifier: Apache-2.0
// assign-generators: gives kernels to another generator than the target's own passes.
//
// It stands behind assign-plans, which may say who makes a kernel: what generator a function has, in which build, is
// part of its text, and so of the key that its code has in the cache.
#include "compiler/generators/GeneratedCode.h"
#include "compiler/passes/PassRemarks.h"
#include "compiler/passes/Passes.h"
#include "compiler/passes/schedule/cpu/Tunables.h"
#include "compiler/passes/schedule/cpu/halide/HalideBuffers.h"
#include "compiler/passes/schedule/cpu/halide/RowExpressions.h"
#include "dialects/kernel/KernelDialect.h"

#include "mlir/Dialect/Math/IR/Math.h"

namespace talc {
#define GEN_PASS_DEF_ASSIGNGENERATORS
#include "compiler/passes/Passes.h.inc"
}  // namespace talc

using namespace mlir;
namespace kernel = talc::kernel;

namespace {

constexpr talc::PassRemarks remarks("schedule", "assign-generators");

std::string refusedContract(kernel::MatmulOp matmul) {
  if (matmul.getGroups() > 1)
    return "the contraction is of groups";
  if (talc::isQuantizedActivation(cast<MemRefType>(matmul.getX().getType()).getElementType()))
    return "the rows are rounded";
  auto weight = cast<MemRefType>(matmul.getWeight().getType());
  if (!isa<FloatType>(weight.getElementType()))
    return "the weight is stored in blocks";
  for (Value memory : {matmul.getX(), matmul.getInit()})
    if (!talc::haveKnownPlaces(cast<MemRefType>(memory.getType())))
      return "a buffer's rows lie at unknown distances";
  return "";
}

std::string refusedAttention(kernel::AttentionOp attention) {
  kernel::KvLayout layout(cast<talc::KvCacheType>(attention.getCache().getType()));
  if (!isa<FloatType>(layout.keys))
    return "keys are stored in blocks";
  return isa<FloatType>(layout.values) ? "" : "values are stored in blocks";
}

// Why Halide does not make a piece's loops; empty: it does.
std::string refusedByHalide(Operation *piece) {
  if (!piece)
    return "the kernel has several pieces";
  if (auto matmul = dyn_cast<kernel::MatmulOp>(piece))
    return refusedContract(matmul);
  if (auto attention = dyn_cast<kernel::AttentionOp>(piece))
    return refusedAttention(attention);
  std::string why;
  talc::buildRowExpressions(piece, why);
  return why;
}

struct Generator {
  StringLiteral name;
  std::string (*refuses)(Operation *piece);
};
constexpr Generator generators[] = {{"halide", refusedByHalide}};

struct AssignGenerators : talc::impl::AssignGeneratorsBase<AssignGenerators> {
  using Base::Base;
  void runOnOperation() override {
    const auto *found = llvm::find_if(generators, [&](const Generator &g) { return g.name == generator; });
    if (found == std::end(generators) && generator != "auto") {
      getOperation().emitError("no generator is called '") << generator << "'; expected halide or auto";
      return signalPassFailure();
    }
    for (auto function : getOperation().getOps<func::FuncOp>())
      if (kernel::TasksOp tasks = kernel::getTasks(function))
        found == std::end(generators) ? assignWanted(function, tasks) : assign(*found, function, tasks, false);
  }

  // What plans want, which come from measurements.
  void assignWanted(func::FuncOp function, kernel::TasksOp tasks) {
    talc::GeneratorTunables plan;
    readPlan(tasks.getPlanAttr(), talc::GeneratorTunables::parameters(), plan);
    const Generator &halide = generators[0];
    if (plan.byHalide == 1)
      return assign(halide, function, tasks, true);
    remarks.declined(function, [&] {
      std::string why = halide.refuses(tasks.getComputeOp());
      return "mlir makes the loops: " + (why.empty() ? "no plan says that others are faster" : why);
    });
  }

  void assign(const Generator &generator, func::FuncOp function, kernel::TasksOp tasks, bool optional) {
    if (std::string why = generator.refuses(tasks.getComputeOp()); !why.empty())
      return remarks.declined(function, [&] { return "mlir makes the loops: " + why; });
    Builder b(&getContext());
    NamedAttrList attributes;
    attributes.set(talc::nameKey, b.getStringAttr(generator.name));
    attributes.set(talc::buildKey, b.getStringAttr(build));
    if (optional)
      attributes.set(talc::optionalKey, b.getUnitAttr());
    function->setAttr(talc::generatorAttr, attributes.getDictionary(&getContext()));
    remarks.did(function,
                [&] { return (generator.name + " makes the loops" + (optional ? ": the plan wants it" : "")).str(); });
  }
};

}  // namespace
