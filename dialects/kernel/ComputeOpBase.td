// SPDX-License-Identifier: Apache-2.0
// The classes of compute ops.
#ifndef COMPUTE_OP_BASE
#define COMPUTE_OP_BASE

include "dialects/kernel/KernelDialect.td"
include "dialects/kernel/ComputeOpInterface.td"
include "dialects/talc/TalcDialect.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/DestinationStyleOpInterface.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

// A tensor before bufferization, a buffer after it.
def Kernel_Data : AnyTypeOf<[AnyRankedTensor, AnyStridedMemRef]>;

class Kernel_Op<string opName, list<Trait> traits = []> : Op<Kernel_Dialect, opName, traits>;

// An op that writes its `init` operand, and on tensors returns the new value. Its methods of ComputeOpInterface.td and
// its verifier are in ops/<Name>.cpp; `methods` are those that it overrides.
class Kernel_ComputeOp<string opName, list<string> methods = [], list<Trait> traits = []>
    : Kernel_Op<opName, [DestinationStyleOpInterface, DeclareOpInterfaceMethods<MemoryEffectsOpInterface>,
                         DeclareOpInterfaceMethods<ComputeOpInterface, methods>] # traits> {
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let extraClassDeclaration = "::mlir::MutableOperandRange getDpsInitsMutable() { return getInitMutable(); }\n";
  // On buffers it reads its operands and writes its init; on tensors it has no effect.
  code effects = [{
    void $cppClass::getEffects(
        ::llvm::SmallVectorImpl<::mlir::SideEffects::EffectInstance<::mlir::MemoryEffects::Effect>> &effects) {
      addComputeOpEffects(*this, effects);
    }
  }];
  let extraClassDefinition = effects;
  let hasVerifier = 1;
}

// A compute op that maps every row of x to a row of the same width, with a fixed number of operations per element. It
// needs no file in ops/.
class Kernel_RowWiseOp<string opName, int operations> : Kernel_ComputeOp<opName> {
  let arguments = (ins Kernel_Step:$step, Kernel_Data:$x, Kernel_Data:$init);
  let assemblyFormat = "$step `,` $x `into` $init attr-dict `:` functional-type(operands, results)";
  let extraClassDefinition = effects # [{
    ::talc::kernel::OpCosts $cppClass::getCosts() {
      return rowWiseCosts(getX(), getInit(), }] # operations # [{);
    }
    void $cppClass::printShapes(::llvm::raw_ostream &out) { out << features(getX()); }
    ::llvm::LogicalResult $cppClass::verify() { return expectSameShape(*this, getX(), getInit()); }
  }];
}

#endif // COMPUTE_OP_BASE
