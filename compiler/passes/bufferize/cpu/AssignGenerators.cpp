// SPDX-License-Identifier: Apache-2.0
// assign-generators: gives kernels to another generator than the target's own passes.
//
// It stands at the end of stage bufferize, where kernels are functions: what generator a function has is part of its
// text, and so of the key that its code has in the cache.
#include "compiler/passes/PassRemarks.h"
#include "compiler/passes/Passes.h"
#include "compiler/passes/schedule/cpu/Generators.h"
#include "dialects/kernel/KernelDialect.h"

namespace talc {
#define GEN_PASS_DEF_ASSIGNGENERATORS
#include "compiler/passes/Passes.h.inc"
}  // namespace talc

using namespace mlir;
namespace kernel = talc::kernel;

namespace {

// Why Halide does not make a piece's loops; empty: it does.
std::string refusedByHalide(Operation *piece) {
  auto contract = dyn_cast_or_null<kernel::ContractOp>(piece);
  if (!contract)
    return "Halide makes contractions only";
  if (contract.getGroups() > 1)
    return "the contraction is of groups";
  auto weight = cast<MemRefType>(contract.getWeight().getType());
  if (!isa<FloatType>(weight.getElementType()))
    return "the weight is stored in blocks";
  for (Value memory : {contract.getX(), contract.getInit()})
    if (auto [strides, offset] = cast<MemRefType>(memory.getType()).getStridesAndOffset();
        ShapedType::isDynamic(offset) || llvm::any_of(strides, ShapedType::isDynamic))
      return "a buffer's rows lie at unknown distances";
  return "";
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
    if (found == std::end(generators)) {
      getOperation().emitError("no generator is called '") << generator << "'; expected halide";
      return signalPassFailure();
    }
    for (auto function : getOperation().getOps<func::FuncOp>())
      if (kernel::TasksOp tasks = kernel::tasksOf(function))
        assign(*found, function, tasks.getPiece());
  }

  static void assign(const Generator &generator, func::FuncOp function, Operation *piece) {
    constexpr talc::PassRemarks remarks("bufferize", "assign-generators");
    if (std::string why = generator.refuses(piece); !why.empty())
      return remarks.declined(function, [&] { return why; });
    function->setAttr(talc::generatorAttr, StringAttr::get(function.getContext(), generator.name));
    remarks.did(function, [&] { return generator.name.str() + " makes the loops"; });
  }
};

}  // namespace
