// SPDX-License-Identifier: Apache-2.0
// The compute ops that read and write the state of a recurrence. See talc/RecurrenceOps.td for the formulas.
#ifndef KERNEL_RECURRENCE_OPS
#define KERNEL_RECURRENCE_OPS

include "dialects/kernel/ComputeOpBase.td"

// Writes a state besides its init. A task is a block of columns of the state of one sequence, for which it takes all
// tokens of the step, one after the other.
class Kernel_StateOp<string opName, list<Trait> traits = []>
    : Kernel_Op<opName, [DestinationStyleOpInterface, DeclareOpInterfaceMethods<MemoryEffectsOpInterface>,
                         DeclareOpInterfaceMethods<ComputeOpInterface, ["getDivision", "getTaskSpace"]>] # traits> {
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let extraClassDeclaration = "::mlir::MutableOperandRange getDpsInitsMutable() { return getInitMutable(); }\n";
  let extraClassDefinition = [{
    void $cppClass::getEffects(ComputeOpEffects &effects) { addStateEffects(*this, getStateMutable(), effects); }
    Share $cppClass::getDivision() { return Share::heads; }
    TaskSpace $cppClass::getTaskSpace(Share) { return TaskSpace::heads; }
  }];
  let hasVerifier = 1;
}

def Kernel_CausalConvOp : Kernel_StateOp<"causal_conv"> {
  let summary = "a short convolution of every feature over the last tokens; see `talc.causal_conv`";
  let description = "x and init [T, C], weight [k, C], bias [C]; the state holds the last k - 1 rows of x.";
  let arguments = (ins Kernel_Step:$step, Kernel_Data:$x, Kernel_Data:$weight, Optional<Kernel_Data>:$bias,
                       Talc_KvCache:$state, Kernel_Data:$init, OptionalAttr<Talc_ActivationKindAttr>:$activation);
  let assemblyFormat = [{
    $step `,` $x `,` $weight (`bias` $bias^)? `,` $state (`then` $activation^)? `into` $init attr-dict `:`
    functional-type(operands, results)
  }];
}

def Kernel_RecurrenceOp : Kernel_StateOp<"recurrence"> {
  let summary = "a matrix for every head that each token decays, adds to, and reads; see `talc.recurrence`";
  let description = [{
    queries and keys [T, Hk*dk], values and init [T, H*dv], decay and factors [T, H], rates and skip [H]; the state has H
    heads of dk rows and dv columns.
  }];
  let arguments = (ins Talc_RecurrenceUpdateAttr:$update, Kernel_Step:$step, Kernel_Data:$queries, Kernel_Data:$keys,
                       Kernel_Data:$values, Talc_KvCache:$state, Kernel_Data:$decay, Kernel_Data:$rates,
                       Kernel_Data:$factors, Optional<Kernel_Data>:$skip, Kernel_Data:$init);
  let assemblyFormat = [{
    `` $update $step `,` $queries `,` $keys `,` $values `,` $state `decay` $decay `rates` $rates `factors` $factors
    (`skip` $skip^)? `into` $init attr-dict `:` functional-type(operands, results)
  }];
}

def Kernel_SelectiveScanOp : Kernel_StateOp<"selective_scan"> {
  let summary = "numbers of every feature that each token decays, adds to, and reads; see `talc.selective_scan`";
  let description = [{
    x, steps and init [T, G*C], input and output [T, G*N], rates [N, G*C], skip [G*C]; the state has G groups of N rows and C
    columns.
  }];
  let arguments = (ins Kernel_Step:$step, Kernel_Data:$x, Kernel_Data:$steps, Kernel_Data:$input, Kernel_Data:$output,
                       Talc_KvCache:$state, Kernel_Data:$rates, Kernel_Data:$skip, Kernel_Data:$init);
  let assemblyFormat = [{
    $step `,` $x `,` $steps `,` $input `,` $output `,` $state `rates` $rates `skip` $skip `into` $init attr-dict `:`
    functional-type(operands, results)
  }];
}

#endif // KERNEL_RECURRENCE_OPS
