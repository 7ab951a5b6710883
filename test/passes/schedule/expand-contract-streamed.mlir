// SPDX-License-Identifier: Apache-2.0
// expand-contract: a single row takes one panel at a time when the weights of a step do not fit a cache.
// RUN: talc-opt %s -expand-contract="stream-bytes=1000" -canonicalize -cse | FileCheck %s
// RUN: talc-opt %s -expand-contract="stream-bytes=100000" -canonicalize -cse | FileCheck %s --check-prefix=CACHED

// CHECK: %[[SUMS:.*]]:2 = scf.for
// CHECK-NOT: :8 = scf.for
// CACHED: :8 = scf.for
module attributes {talc.plan = {weight_bytes = 8192 : i64}} {
  func.func @row(%s: !kernel.step, %x: memref<1x16xf32>, %w: memref<8x16x16xf32>, %out: memref<1x128xf32>) {
    kernel.contract %s, %x, %w into %out {
    ^bb0(%sum: f32):
      kernel.yield %sum : f32
    } : (!kernel.step, memref<1x16xf32>, memref<8x16x16xf32>, memref<1x128xf32>) -> ()
    return
  }
}
