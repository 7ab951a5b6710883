// SPDX-License-Identifier: Apache-2.0
// expand-recurrences: a task takes a block of columns of a sequence through its tokens.
// RUN: talc-opt %s -expand-recurrences="lanes=16" | FileCheck %s

// A window of two rows stays in registers; the last vector of 40 features is masked.
// CHECK-LABEL: @conv
// CHECK: %[[SPANS:.*]] = kernel.span_count
// CHECK: %[[TASKS:.*]] = arith.muli %[[SPANS]], %c2
// CHECK: kernel.tasks {{.*}} over heads by heads of(%[[TASKS]]) {
// CHECK: kernel.span
// CHECK: %[[STATE:.*]] = kernel.columns {{.*}} -> memref<1x2x2x32xf32>
// Zeros where the sequence begins.
// CHECK: scf.if
// CHECK-COUNT-2: vector.store %{{.*}}, %[[STATE]]
// CHECK: scf.for %[[COLUMN:.*]] = %c0{{.*}} to %c32{{.*}} step %c16
// CHECK: vector.create_mask
// CHECK-COUNT-2: vector.load %[[STATE]]
// CHECK: scf.for {{.*}} iter_args({{.*}}) -> (vector<16xf32>, vector<16xf32>)
// CHECK: vector.maskedload
// CHECK-COUNT-3: vector.fma
// CHECK: math.exp
// CHECK: arith.divf
// CHECK: vector.maskedstore
// CHECK-COUNT-2: vector.store %{{.*}}, %[[STATE]]
func.func @conv(%s: !kernel.step, %x: memref<?x40xf32>, %w: memref<3x40xf32>, %b: memref<40xf32>, %m: !talc.kv_cache<1 x 40 x 2, recurrence in #kernel.columns<32>>, %y: memref<?x40xf32>) {
  kernel.tasks %s over heads by heads {
  ^bb0(%head: index):
    kernel.causal_conv %s, %x, %w bias %b, %m then silu into %y : (!kernel.step, memref<?x40xf32>, memref<3x40xf32>, memref<40xf32>, !talc.kv_cache<1 x 40 x 2, recurrence in #kernel.columns<32>>, memref<?x40xf32>) -> ()
  }
  return
}

// A head of 8 rows and 32 columns: two vectors for each row. The delta rule reads the block, then changes it.
// CHECK-LABEL: @delta
// CHECK: kernel.tasks {{.*}} over heads by heads
// CHECK: %[[STATE:.*]] = kernel.columns {{.*}} -> memref<4x1x8x32xf32>
// CHECK: scf.for
// CHECK: math.exp
// CHECK: scf.for {{.*}} -> (vector<16xf32>, vector<16xf32>)
// CHECK-NOT: vector.store
// CHECK: arith.subf
// CHECK: scf.for {{.*}} -> (vector<16xf32>, vector<16xf32>)
// CHECK-COUNT-2: vector.store %{{.*}}, %[[STATE]]
// CHECK-NOT: vector.reduction
func.func @delta(%s: !kernel.step, %q: memref<?x16xf32>, %v: memref<?x128xf32>, %h: memref<?x4xf32>, %r: memref<4xf32>, %m: !talc.kv_cache<4 x 32 x 8, recurrence in #kernel.columns<32>>, %y: memref<?x128xf32>) {
  kernel.tasks %s over heads by heads {
  ^bb0(%head: index):
    kernel.recurrence delta %s, %q, %q, %v, %m decay %h rates %r factors %h into %y : (!kernel.step, memref<?x16xf32>, memref<?x16xf32>, memref<?x128xf32>, !talc.kv_cache<4 x 32 x 8, recurrence in #kernel.columns<32>>, memref<?x4xf32>, memref<4xf32>, memref<?x4xf32>, memref<?x128xf32>) -> ()
  }
  return
}

// The rates of a block are computed once, into memory of the function.
// CHECK-LABEL: @scan
// CHECK: memref.alloca() {{.*}}: memref<5x32xf32>
// CHECK: kernel.tasks {{.*}} over heads by heads
// CHECK: math.exp
// CHECK: scf.for
// CHECK: scf.for {{.*}} -> (vector<16xf32>, vector<16xf32>)
// CHECK-COUNT-2: math.exp
func.func @scan(%s: !kernel.step, %x: memref<?x64xf32>, %b: memref<?x5xf32>, %r: memref<5x64xf32>, %d: memref<64xf32>, %m: !talc.kv_cache<1 x 64 x 5, recurrence in #kernel.columns<32>>, %y: memref<?x64xf32>) {
  kernel.tasks %s over heads by heads {
  ^bb0(%head: index):
    kernel.selective_scan %s, %x, %x, %b, %b, %m rates %r skip %d into %y : (!kernel.step, memref<?x64xf32>, memref<?x64xf32>, memref<?x5xf32>, memref<?x5xf32>, !talc.kv_cache<1 x 64 x 5, recurrence in #kernel.columns<32>>, memref<5x64xf32>, memref<64xf32>, memref<?x64xf32>) -> ()
  }
  return
}
