// SPDX-License-Identifier: Apache-2.0
// check-dialects verifies, too: the canonicalizer and what folds in it come behind the pass verify.
// DEFINE: %{unverified} = talc-opt %s --mlir-very-unsafe-disable-verifier-on-parsing --verify-each=false
// RUN: %{unverified} | FileCheck %s
// RUN: not %{unverified} -check-dialects="dialects=builtin,func,kernel" 2>&1 | FileCheck %s --check-prefix=INVALID

// CHECK: kernel.norm
// INVALID: check-dialects-invalid.mlir:[[#@LINE+2]]:{{.*}}: error: 'kernel.norm' op scale is 'memref<9xf32>', expected 8 f32
func.func @norm(%s: !kernel.step, %x: memref<2x8xf32>, %scale: memref<9xf32>) {
  kernel.norm rms %s, %x, %scale epsilon 0.5 groups 1 into %x : (!kernel.step, memref<2x8xf32>, memref<9xf32>, memref<2x8xf32>) -> ()
  return
}
