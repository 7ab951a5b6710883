// SPDX-License-Identifier: Apache-2.0
// assign-generators: gives kernels to another code generator than the target's own passes.
//
// It runs after assign-plans, since plans may choose a generator. The generator of a function, and its build, are part
// of the function's text, and so of the key of its code in the cache.
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

std::string whyNotMatmul(kernel::MatmulOp matmul) {
  if (matmul.getGroups() > 1)
    return "the matmul has groups";
  if (talc::isQuantizedActivation(cast<MemRefType>(matmul.getX().getType()).getElementType()))
    return "the activations are quantized";
  auto weight = cast<MemRefType>(matmul.getWeight().getType());
  if (!isa<FloatType>(weight.getElementType()))
    return "the weight is stored in quant blocks";
  for (Value memory : {matmul.getX(), matmul.getInit()})
    if (!talc::hasStaticLayout(cast<MemRefType>(memory.getType())))
      return "the strides of a buffer are unknown at compile time";
  return "";
}

std::string whyNotAttention(kernel::AttentionOp attention) {
  kernel::KvLayout layout(cast<talc::KvCacheType>(attention.getCache().getType()));
  if (!isa<FloatType>(layout.keys))
    return "keys are stored in quant blocks";
  return isa<FloatType>(layout.values) ? "" : "values are stored in quant blocks";
}

// Why Halide cannot make the loops of an op; empty: it can.
std::string whyNotHalide(Operation *op) {
  if (!op)
    return "the kernel has several ops";
  if (auto matmul = dyn_cast<kernel::MatmulOp>(op))
    return whyNotMatmul(matmul);
  if (auto attention = dyn_cast<kernel::AttentionOp>(op))
    return whyNotAttention(attention);
  std::string why;
  talc::buildRowExpressions(op, why);
  return why;
}

struct Generator {
  StringLiteral name;
  std::string (*whyNot)(Operation *op);
};
constexpr Generator generators[] = {{"halide", whyNotHalide}};

struct AssignGenerators : talc::impl::AssignGeneratorsBase<AssignGenerators> {
  using Base::Base;
  void runOnOperation() override {
    const auto *entry = llvm::find_if(generators, [&](const Generator &g) { return g.name == generator; });
    if (entry == std::end(generators) && generator != "auto") {
      getOperation().emitError("unknown generator '") << generator << "'; expected halide or auto";
      return signalPassFailure();
    }
    for (auto function : getOperation().getOps<func::FuncOp>())
      if (kernel::TasksOp tasks = kernel::getTasks(function))
        entry == std::end(generators) ? assignByPlan(function, tasks) : assign(*entry, function, tasks, false);
  }

  // Assigns what plans choose, which come from measurements.
  void assignByPlan(func::FuncOp function, kernel::TasksOp tasks) {
    talc::GeneratorTunables plan;
    readPlan(tasks.getPlanAttr(), talc::GeneratorTunables::parameters(), plan);
    const Generator &halide = generators[0];
    if (plan.byHalide == 1)
      return assign(halide, function, tasks, true);
    remarks.declined(function, [&] {
      std::string why = halide.whyNot(tasks.getComputeOp());
      return "mlir makes the loops: " + (why.empty() ? "no plan chooses another generator" : why);
    });
  }

  void assign(const Generator &generator, func::FuncOp function, kernel::TasksOp tasks, bool optional) {
    if (std::string why = generator.whyNot(tasks.getComputeOp()); !why.empty())
      return remarks.declined(function, [&] { return "mlir makes the loops: " + why; });
    Builder b(&getContext());
    NamedAttrList attributes;
    attributes.set(talc::nameKey, b.getStringAttr(generator.name));
    attributes.set(talc::buildKey, b.getStringAttr(build));
    if (optional)
      attributes.set(talc::optionalKey, b.getUnitAttr());
    function->setAttr(talc::generatorAttr, attributes.getDictionary(&getContext()));
    remarks.did(function, [&] {
      return (generator.name + " makes the loops" + (optional ? ": the plan chooses it" : "")).str();
    });
  }
};

}  // namespace
