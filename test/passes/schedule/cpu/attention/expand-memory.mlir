// SPDX-License-Identifier: Apache-2.0
// expand-memory: a task is a head of the state; its sequences one after another, their rows in order.
// RUN: talc-opt %s -expand-memory="lanes=16" | FileCheck %s

// CHECK-LABEL: @linear
// CHECK-COUNT-3: memref.alloca() {{.*}}: memref<24xf32>
// CHECK: kernel.tasks {{.*}} over heads by heads of(%c2{{.*}}) {
// CHECK-NEXT: ^bb0(%[[HEAD:.*]]: index):
// CHECK: scf.for %[[S:.*]] =
// CHECK: kernel.span {{.*}}[%[[S]]]
// CHECK: %[[M:.*]] = kernel.matrices {{.*}} -> memref<2x2x25x24xf32>
// CHECK: kernel.segment {{.*}}[%[[S]]]
// The first token of a segment: the first segment finds nothing, others what those before them left.
// CHECK: scf.if
// CHECK: scf.if
// CHECK: } else {
// CHECK: arith.addf
// Each row: the queries of the group read, then the key leaves its value.
// CHECK: scf.for %[[ROW:.*]] =
// CHECK: scf.for %{{.*}} = %c0{{.*}} to %c2
// CHECK: math.exp
// CHECK: iter_args(%{{.*}} = %{{.*}}, %{{.*}} = %{{.*}}) -> (vector<16xf32>, vector<16xf32>)
// CHECK-COUNT-2: vector.fma
// CHECK-COUNT-2: arith.divf
// CHECK: math.exp
// CHECK: arith.divf
// CHECK: vector.fma
// CHECK-NOT: iter_args
// CHECK: vector.store %{{.*}}, %[[M]][%[[HEAD]], %c1
// CHECK: vector.fma
// CHECK: vector.store %{{.*}}, %[[M]][%[[HEAD]], %c1
func.func @linear(%s: !kernel.step, %l: memref<?x96xf32>, %q: memref<?x96xf32>, %k: memref<?x48xf32>, %v: memref<?x48xf32>, %m: !talc.kv_cache<2 x 24 x 64, memory in #kernel.matrices>, %g: memref<4xf32>, %y: memref<?x96xf32>) {
  kernel.tasks %s over heads by heads {
  ^bb0(%head: index):
    kernel.memory linear %s, %l, %q, %k, %v, %m gates %g heads 4 into %y : (!kernel.step, memref<?x96xf32>, memref<?x96xf32>, memref<?x48xf32>, memref<?x48xf32>, !talc.kv_cache<2 x 24 x 64, memory in #kernel.matrices>, memref<4xf32>, memref<?x96xf32>) -> ()
  }
  return
}

// The delta rule reads what the memory has for the key, too.
// CHECK-LABEL: @delta
// CHECK: iter_args
// CHECK: iter_args
// CHECK: arith.subf
func.func @delta(%s: !kernel.step, %l: memref<1x96xf32>, %q: memref<1x96xf32>, %k: memref<1x48xf32>, %v: memref<1x48xf32>, %m: !talc.kv_cache<2 x 24 x 64, memory in #kernel.matrices>, %g: memref<4xf32>, %y: memref<1x96xf32>) {
  kernel.tasks %s over heads by heads {
  ^bb0(%head: index):
    kernel.memory delta %s, %l, %q, %k, %v, %m gates %g heads 4 into %y : (!kernel.step, memref<1x96xf32>, memref<1x96xf32>, memref<1x48xf32>, memref<1x48xf32>, !talc.kv_cache<2 x 24 x 64, memory in #kernel.matrices>, memref<4xf32>, memref<1x96xf32>) -> ()
  }
  return
}
