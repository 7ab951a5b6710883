// SPDX-License-Identifier: Apache-2.0
// compact-arguments: passes a buffer as its address, with only those sizes, strides and offsets that are dynamic.
//
//   func.call @kernel(%x) : (memref<?x64xf32>) -> ()   ->   func.call @kernel(%address, %rows) : (!llvm.ptr, i64) -> ()
//
// The upstream convention passes seven values for this buffer; its bare pointers do not support dynamic sizes.
#include "compiler/passes/PassRemarks.h"
#include "compiler/passes/Passes.h"
#include "compiler/passes/codegen/PassedBuffer.h"

#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "llvm/Support/FormatVariadic.h"

namespace talc {
#define GEN_PASS_DEF_COMPACTARGUMENTS
#include "compiler/passes/Passes.h.inc"
}  // namespace talc

using namespace mlir;
using talc::bufferType;
using talc::PassedBuffer;

namespace {

struct CompactArguments : talc::impl::CompactArgumentsBase<CompactArguments> {
  void runOnOperation() override {
    LLVMTypeConverter converter(&getContext());
    for (auto function : getOperation().getOps<func::FuncOp>()) {
      convertArguments(function, converter);
      function.walk([&](func::CallOp call) { convertCall(call, converter); });
    }
  }

  // Replaces arguments from the last to the first, so that the indices of earlier ones stay valid.
  void convertArguments(func::FuncOp function, LLVMTypeConverter &converter) {
    SmallVector<Type> types;
    for (Type type : function.getArgumentTypes())
      if (MemRefType buffer = bufferType(type))
        llvm::append_range(types, PassedBuffer(buffer).types());
      else
        types.push_back(type);
    if (!function.isExternal())
      for (unsigned i = function.getNumArguments(); i-- > 0;)
        if (bufferType(function.getArgument(i).getType()))
          convertArgument(function.front(), i, converter);
    talc::PassRemarks("codegen", "compact-arguments").did(function, [&] {
      auto buffers = llvm::count_if(function.getArgumentTypes(), [](Type type) { return bufferType(type); });
      return llvm::formatv("{0} arguments, of which {1} are buffers, are passed as {2} values",
                           function.getFunctionType().getNumInputs(), buffers, types.size())
          .str();
    });
    function.setType(FunctionType::get(&getContext(), types, function.getResultTypes()));
  }

  void convertArgument(Block &entry, unsigned at, LLVMTypeConverter &converter) {
    Value old = entry.getArgument(at);
    PassedBuffer buffer(cast<MemRefType>(old.getType()));
    SmallVector<Value> values;
    for (Type type : buffer.types())
      values.push_back(entry.insertArgument(at + 1 + values.size(), type, old.getLoc()));
    OpBuilder builder = OpBuilder::atBlockBegin(&entry);
    old.replaceAllUsesWith(buffer.build(builder, old.getLoc(), values, converter));
    entry.eraseArgument(at);
  }

  void convertCall(func::CallOp call, LLVMTypeConverter &converter) {
    OpBuilder builder(call);
    SmallVector<Value> operands;
    for (Value operand : call.getOperands())
      if (MemRefType type = bufferType(operand.getType()))
        llvm::append_range(operands, PassedBuffer(type).take(builder, call.getLoc(), operand, converter));
      else
        operands.push_back(operand);
    call->setOperands(operands);
  }
};

}  // namespace
