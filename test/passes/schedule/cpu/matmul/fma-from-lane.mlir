// SPDX-License-Identifier: Apache-2.0
// Vectors of four lanes: an iteration of a register tile takes four steps of k, whose scalars are the lanes of one vector of each
// row. Steps that are left, and wider vectors, load scalars one by one.
// RUN: talc-opt %s -assign-plans="lanes=4" -expand-matmul="lanes=4" -expand-moe="lanes=4" -expand-attention="lanes=4" -canonicalize -cse | FileCheck %s
// RUN: talc-opt %s -assign-plans -expand-matmul -expand-moe -expand-attention -canonicalize -cse | FileCheck %s --check-prefix=WIDE

func.func @attention(%s: !kernel.step, %q: memref<?x14xf32>, %kv: !talc.kv_cache<1 x 14 x 128 in #kernel.kv_panels<16 x f32>>, %out: memref<?x14xf32>) {
  kernel.tasks %s over queries by heads {
  ^bb0(%p0: index, %p1: index, %p2: index, %p3: index, %p4: index):
    kernel.attention causal %s, %q, %kv heads 1 scale 0.25 window 0 into %out : (!kernel.step, memref<?x14xf32>, !talc.kv_cache<1 x 14 x 128 in #kernel.kv_panels<16 x f32>>, memref<?x14xf32>) -> ()
  }
  return
}
// Scores of six rows: 14 products are three iterations and two steps.
// CHECK-LABEL: @attention(
// CHECK: %[[S:.*]] = memref.alloca() {alignment = 64 : i64} : memref<48x144xf32>
// CHECK: scf.for %[[K:.*]] = %c0 to %c12 step %c4 iter_args(
// CHECK-COUNT-6: vector.load %{{.*}}[%[[K]]] : memref<14xf32, strided<[1], offset: ?>>, vector<4xf32>
// CHECK-NOT: memref.load
// CHECK-NOT: vector.load %{{.*}} : memref<14xf32
// CHECK: vector.extract %{{.*}}[0] : f32 from vector<4xf32>
// CHECK-COUNT-24: vector.fma
// CHECK: vector.extract %{{.*}}[3] : f32 from vector<4xf32>
// CHECK-COUNT-24: vector.fma
// CHECK-NEXT: scf.yield
// CHECK: memref.load %{{.*}}[%c12] : memref<14xf32
// CHECK: memref.load %{{.*}}[%c13] : memref<14xf32
//
// 2^x is taken of three rows in a loop: its constants need registers, too.
// CHECK: scf.for %{{.*}} step %c4 iter_args({{.*}}) -> (vector<4xf32>, vector<4xf32>, vector<4xf32>) {
// CHECK-COUNT-3: math.exp2
// CHECK-NOT: math.exp2
// CHECK: scf.yield
//
// Weights of a panel's keys, of which the last one has less than 16: whole iterations, then the keys that are left.
// CHECK: %[[KEYS:.*]] = arith.minsi %{{.*}}, %c16
// CHECK-NEXT: %[[FOURS:.*]] = arith.divui %[[KEYS]], %c4
// CHECK-NEXT: %[[WHOLE:.*]] = arith.muli %[[FOURS]], %c4
// CHECK-NEXT: %[[SUMS:.*]]:24 = scf.for %{{.*}} = %c0 to %[[WHOLE]] step %c4 iter_args(
// CHECK-COUNT-6: vector.load %[[S]][%{{.*}}] : memref<48x144xf32>, vector<4xf32>
// CHECK-NOT: memref.load
// CHECK: vector.extract %{{.*}}[0] : f32 from vector<4xf32>
// CHECK-COUNT-96: vector.fma
// CHECK-NEXT: scf.yield
// CHECK: scf.for %{{.*}} = %[[WHOLE]] to %[[KEYS]] step %c1 iter_args(%{{.*}} = %[[SUMS]]#0,
// CHECK-COUNT-6: memref.load %[[S]][
//
// WIDE-LABEL: @attention(
// WIDE-NOT: vector.extract %{{.*}}[1] : f32
// WIDE: scf.for %{{.*}} = %c0 to %c14 step %c2 iter_args(
// WIDE-NOT: vector.extract %{{.*}}[1] : f32
// WIDE: scf.for %{{.*}} step %c8 iter_args({{.*}}) -> (vector<8xf32>, vector<8xf32>, vector<8xf32>, vector<8xf32>, vector<8xf32>, vector<8xf32>) {
// WIDE-COUNT-6: math.exp2
// WIDE: %[[KEYS:.*]] = arith.minsi %{{.*}}, %c16
// WIDE-NEXT: scf.for %{{.*}} = %c0 to %[[KEYS]] step %c1 iter_args(
// WIDE-NOT: vector.extract %{{.*}}[1] : f32

func.func @matmul(%s: !kernel.step, %x: memref<6x9xf32>, %w: memref<1x9x16xf32>, %out: memref<6x16xf32>) {
  kernel.tasks %s over tiles by columns {
  ^bb0(%p0: index, %p1: index, %p2: index, %p3: index, %p4: index):
    kernel.matmul %s, %x, %w into %out {
    ^bb0(%sum: f32):
      kernel.yield %sum : f32
    } : (!kernel.step, memref<6x9xf32>, memref<1x9x16xf32>, memref<6x16xf32>) -> ()
  }
  return
}
// CHECK-LABEL: @matmul(
// CHECK: scf.for %[[K:.*]] = %c0 to %c8 step %c4 iter_args(
// CHECK-COUNT-6: vector.load %{{.*}}, %[[K]]] : memref<6x9xf32>, vector<4xf32>
// CHECK-NOT: memref.load
// CHECK-COUNT-96: vector.fma
// CHECK-NEXT: scf.yield
// CHECK: memref.load %{{.*}}, %c8] : memref<6x9xf32>
// WIDE-LABEL: @matmul(
// WIDE-NOT: vector.extract

func.func @experts(%s: !kernel.step, %x: memref<?x9xf32>, %routes: memref<?x4xf32>, %w: memref<12x9x16xf32>, %y: memref<?x40xf32>) {
  kernel.tasks %s over tiles by adaptive {
  ^bb0(%r0: index, %r1: index, %p0: index, %p1: index, %next: index):
    kernel.experts %s, %x routes %routes, %w slots 1 into %y {
    ^bb0(%sum: f32, %weight: f32, %before: f32):
      %a = arith.mulf %sum, %weight : f32
      %b = arith.addf %a, %before : f32
      kernel.yield %b : f32
    } : (!kernel.step, memref<?x9xf32>, memref<?x4xf32>, memref<12x9x16xf32>, memref<?x40xf32>) -> ()
  }
  return
}
// CHECK-LABEL: @experts(
// CHECK: case 6
// CHECK: scf.for %[[K:.*]] = %c0 to %c8 step %c4 iter_args(
// CHECK-COUNT-6: vector.load %{{.*}} : memref<?x9xf32>, vector<4xf32>
// CHECK-COUNT-96: vector.fma
// CHECK-NEXT: scf.yield
// CHECK: memref.load %{{.*}} : memref<?x9xf32>
// WIDE-LABEL: @experts(
// WIDE-NOT: vector.extract %{{.*}} : f32 from vector<{{4|8}}xf32>
