// SPDX-License-Identifier: Apache-2.0
// verify names what is invalid in a program, and changes nothing otherwise.
// DEFINE: %{unverified} = talc-opt %s --mlir-very-unsafe-disable-verifier-on-parsing --verify-each=false
// RUN: %{unverified} | FileCheck %s
// RUN: not %{unverified} -verify-ir 2>&1 | FileCheck %s --check-prefix=INVALID
// RUN: not %{unverified} -verify-ir -canonicalize -o %t 2>/dev/null
// RUN: not ls %t

// CHECK: kernel.norm
// INVALID: verify-ir.mlir:[[#@LINE+2]]:{{.*}}: error: 'kernel.norm' op scale is 'memref<9xf32>', expected 8 f32
func.func @norm(%s: !kernel.step, %x: memref<2x8xf32>, %scale: memref<9xf32>) {
  kernel.norm rms %s, %x, %scale epsilon 0.5 groups 1 into %x : (!kernel.step, memref<2x8xf32>, memref<9xf32>, memref<2x8xf32>) -> ()
  return
}
