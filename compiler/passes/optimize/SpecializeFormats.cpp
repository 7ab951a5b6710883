// SPDX-License-Identifier: Apache-2.0
// specialize-formats: layers whose weights are stored in different formats get functions of their own.
#include "compiler/passes/PassRemarks.h"
#include "compiler/passes/Passes.h"
#include "compiler/passes/optimize/StorageTypes.h"
#include "dialects/talc/TalcDialect.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"

namespace talc {
#define GEN_PASS_DEF_SPECIALIZEFORMATS
#include "compiler/passes/Passes.h.inc"
}  // namespace talc

using namespace mlir;
using namespace talc;

namespace {

constexpr PassRemarks remarks("optimize", "specialize-formats");

// The storage formats of the matrices among the operands of a call.
using Formats = SmallVector<Type>;

struct SpecializeFormats : talc::impl::SpecializeFormatsBase<SpecializeFormats> {
  void runOnOperation() override {
    // Callers come first, so that all calls of a function are known when it is cloned.
    SmallVector<func::FuncOp> functions(CallSites(getOperation()).calleesFirst());
    for (func::FuncOp function : llvm::reverse(functions))
      specialize(function);
  }

  static Formats operandFormats(func::CallOp call, StorageTypes &storage) {
    Formats formats;
    for (Value operand : call.getOperands())
      if (auto type = dyn_cast<RankedTensorType>(operand.getType());
          type && type.hasStaticShape() && type.getRank() == 2)
        formats.push_back(storage.getType(operand));
    return formats;
  }

  // call @block(a), call @block(b)  ->  call @block(a), call @block_2(b)   if a and b are stored in different formats
  void specialize(func::FuncOp function) {
    StorageTypes storage(getOperation());
    CallSites callSites(getOperation());
    SmallVector<std::pair<Formats, func::FuncOp>> variants;
    SymbolTable symbols(getOperation());
    for (func::CallOp call : callSites.callsTo(function)) {
      Formats formats = operandFormats(call, storage);
      auto it = llvm::find_if(variants, [&](auto &variant) { return variant.first == formats; });
      if (it == variants.end()) {
        variants.emplace_back(formats, variants.empty() ? function : copy(function, symbols));
        it = std::prev(variants.end());
      }
      call.setCallee(it->second.getSymName());
    }
    if (variants.size() > 1)
      remarks.did(function, [&] {
        return llvm::formatv("@{0} becomes {1} functions, one for each combination of formats of its weights",
                             function.getSymName(), variants.size());
      });
  }

  static func::FuncOp copy(func::FuncOp function, SymbolTable &symbols) {
    func::FuncOp result = function.clone();
    symbols.insert(result, std::next(Block::iterator(function)));
    return result;
  }
};

}  // namespace
