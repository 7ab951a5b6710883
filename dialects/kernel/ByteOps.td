// SPDX-License-Identifier: Apache-2.0
// Operations on vectors, which only schedule and codegen of processors know.
#ifndef KERNEL_BYTE_OPS
#define KERNEL_BYTE_OPS

include "dialects/kernel/KernelDialect.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "mlir/IR/OpBase.td"

def Kernel_LookUpOp : Op<Kernel_Dialect, "look_up", [Pure, AllTypesMatch<["places", "result"]>]> {
  let summary = "bytes of a table of sixteen";
  let description = [{
    result[i] = table[places[i]]: places are from 0 to 15.
  }];
  let arguments = (ins VectorOfRankAndType<[1], [I8]>:$places, DenseI8ArrayAttr:$table);
  let results = (outs VectorOfRankAndType<[1], [I8]>:$result);
  let assemblyFormat = "$places `in` $table attr-dict `:` type($places)";
  let hasVerifier = 1;
}

def Kernel_TimesPowerOp : Op<Kernel_Dialect, "times_power",
                             [Pure, AllTypesMatch<["number", "result"]>, AllShapesMatch<["number", "power"]>]> {
  let summary = "numbers times powers of two";
  let description = [{
    result[i] = number[i] * 2^power[i], rounded once.
  }];
  let arguments = (ins VectorOfRankAndType<[1], [F32]>:$number, VectorOfRankAndType<[1], [I32]>:$power);
  let results = (outs VectorOfRankAndType<[1], [F32]>:$result);
  let assemblyFormat = "$number `by` $power attr-dict `:` type($number) `,` type($power)";
}

#endif // KERNEL_BYTE_OPS
