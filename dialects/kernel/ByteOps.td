// SPDX-License-Identifier: Apache-2.0
// Operations on vectors of bytes, which only schedule and codegen of processors know.
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

#endif // KERNEL_BYTE_OPS
