// SPDX-License-Identifier: Apache-2.0
// Operations on vectors, which only schedule and codegen of processors know.
#ifndef KERNEL_BYTE_OPS
#define KERNEL_BYTE_OPS

include "dialects/kernel/KernelDialect.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "mlir/IR/OpBase.td"

def Kernel_TableLookupOp : Op<Kernel_Dialect, "table_lookup", [Pure, AllTypesMatch<["indices", "result"]>]> {
  let summary = "bytes of a table of sixteen";
  let description = [{
    result[i] = table[places[i]]: places are from 0 to 15.
  }];
  let arguments = (ins VectorOfRankAndType<[1], [I8]>:$indices, DenseI8ArrayAttr:$table);
  let results = (outs VectorOfRankAndType<[1], [I8]>:$result);
  let assemblyFormat = "$indices `in` $table attr-dict `:` type($indices)";
  let hasVerifier = 1;
}

def Kernel_LdexpOp : Op<Kernel_Dialect, "ldexp",
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
