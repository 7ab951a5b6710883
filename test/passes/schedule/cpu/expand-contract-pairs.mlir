// SPDX-License-Identifier: Apache-2.0
// expand-contract: rows rounded to bf16 times a weight of bf16, two k at a time.
// RUN: talc-opt %s -assign-plans="lanes=16" -expand-contract="lanes=16" -distribute-tasks -canonicalize -cse | FileCheck %s
// RUN: talc-opt %s -assign-plans="lanes=4" -expand-contract="lanes=4" -distribute-tasks -canonicalize -cse | FileCheck %s --check-prefix=NEON

// Two rows of a panel become pairs; a row's two numbers are a word in every lane.
// CHECK-LABEL: @row(
// CHECK: scf.for %[[PAIR:.*]] = %c0 to %c32 step %c1
// CHECK-DAG: vector.load %{{.*}} : memref<1x64xbf16>, vector<2xbf16>
// CHECK-DAG: vector.interleave %{{.*}}, %{{.*}} : vector<16xi16> -> vector<32xi16>
// CHECK: kernel.dot_pairs %{{.*}}, %{{.*}} plus %{{.*}} : vector<32xbf16> -> vector<16xf32>
// CHECK-NOT: kernel.dot_pairs
// CHECK-NOT: vector.fma
// CHECK: return
// Vectors of four lanes are widened.
// NEON-LABEL: @row(
// NEON-NOT: kernel.dot_pairs
// NEON: vector.fma
func.func @row(%s: !kernel.step, %x: memref<1x64xbf16>, %w: memref<1x64x16xbf16>, %y: memref<1x16xf32>) {
  kernel.tasks %s over tiles by columns {
  ^bb0(%r0: index, %r1: index, %p0: index, %p1: index, %next: index):
    kernel.contract %s, %x, %w into %y {
    ^bb0(%sum: f32):
      kernel.yield %sum : f32
    } : (!kernel.step, memref<1x64xbf16>, memref<1x64x16xbf16>, memref<1x16xf32>) -> ()
  }
  return
}

// An odd number of k, and a weight of f32, are widened.
// CHECK-LABEL: @odd(
// CHECK-NOT: kernel.dot_pairs
// CHECK: vector.fma
// CHECK: return
func.func @odd(%s: !kernel.step, %x: memref<1x63xbf16>, %w: memref<1x63x16xbf16>, %y: memref<1x16xf32>) {
  kernel.tasks %s over tiles by columns {
  ^bb0(%r0: index, %r1: index, %p0: index, %p1: index, %next: index):
    kernel.contract %s, %x, %w into %y {
    ^bb0(%sum: f32):
      kernel.yield %sum : f32
    } : (!kernel.step, memref<1x63xbf16>, memref<1x63x16xbf16>, memref<1x16xf32>) -> ()
  }
  return
}

// CHECK-LABEL: @wide_weight(
// CHECK-NOT: kernel.dot_pairs
// CHECK: vector.fma
// CHECK: return
func.func @wide_weight(%s: !kernel.step, %x: memref<1x64xbf16>, %w: memref<1x64x16xf32>, %y: memref<1x16xf32>) {
  kernel.tasks %s over tiles by columns {
  ^bb0(%r0: index, %r1: index, %p0: index, %p1: index, %next: index):
    kernel.contract %s, %x, %w into %y {
    ^bb0(%sum: f32):
      kernel.yield %sum : f32
    } : (!kernel.step, memref<1x64xbf16>, memref<1x64x16xf32>, memref<1x16xf32>) -> ()
  }
  return
}
