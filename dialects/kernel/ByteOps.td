// SPDX-License-Identifier: Apache-2.0
// Vector operations that only the CPU passes of stages schedule and codegen use.
#ifndef KERNEL_BYTE_OPS
#define KERNEL_BYTE_OPS

include "dialects/kernel/KernelDialect.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "mlir/IR/OpBase.td"

def Kernel_TableLookupOp : Op<Kernel_Dialect, "table_lookup", [Pure, AllTypesMatch<["indices", "result"]>]> {
  let summary = "looks bytes up in a table of sixteen";
  let description = [{
    result[i] = table[indices[i]]; indices are from 0 to 15.
  }];
  let arguments = (ins VectorOfRankAndType<[1], [I8]>:$indices, DenseI8ArrayAttr:$table);
  let results = (outs VectorOfRankAndType<[1], [I8]>:$result);
  let assemblyFormat = "$indices `in` $table attr-dict `:` type($indices)";
  let hasVerifier = 1;
}

def Kernel_LdexpOp : Op<Kernel_Dialect, "ldexp",
                             [Pure, AllTypesMatch<["x", "result"]>, AllShapesMatch<["x", "exponent"]>]> {
  let summary = "multiplies numbers by powers of two";
  let description = [{
    result[i] = x[i] * 2^exponent[i], rounded once.
  }];
  let arguments = (ins VectorOfRankAndType<[1], [F32]>:$x, VectorOfRankAndType<[1], [I32]>:$exponent);
  let results = (outs VectorOfRankAndType<[1], [F32]>:$result);
  let assemblyFormat = "$x `by` $exponent attr-dict `:` type($x) `,` type($exponent)";
}

#endif // KERNEL_BYTE_OPS
