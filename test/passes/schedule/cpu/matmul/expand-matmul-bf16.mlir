// SPDX-License-Identifier: Apache-2.0
// expand-matmul: bf16 activations times a bf16 weight, two k at a time.
// RUN: talc-opt %s -assign-plans="lanes=16" -expand-matmul="lanes=16" -distribute-tasks -canonicalize -cse | FileCheck %s
// RUN: talc-opt %s -assign-plans="lanes=4" -expand-matmul="lanes=4" -distribute-tasks -canonicalize -cse | FileCheck %s --check-prefix=NEON

// Two rows of a panel become pairs; a row's two numbers are a word in every lane.
// CHECK-LABEL: @row(
// CHECK: scf.for %[[PAIR:.*]] = %c0 to %c32 step %c1
// CHECK-DAG: vector.load %{{.*}} : memref<1x64xbf16>, vector<2xbf16>
// CHECK-DAG: vector.interleave %{{.*}}, %{{.*}} : vector<16xi16> -> vector<32xi16>
// CHECK: kernel.dot_pairs %{{.*}}, %{{.*}} plus %{{.*}} : vector<32xbf16> -> vector<16xf32>
// CHECK-NOT: kernel.dot_pairs
// CHECK-NOT: vector.fma
// CHECK: return
// Vectors of four lanes are converted to f32.
// NEON-LABEL: @row(
// NEON-NOT: kernel.dot_pairs
// NEON: vector.fma
func.func @row(%s: !kernel.step, %x: memref<1x64xbf16>, %w: memref<1x64x16xbf16>, %y: memref<1x16xf32>) {
  kernel.tasks %s over tiles by columns {
  ^bb0(%r0: index, %r1: index, %p0: index, %p1: index, %next: index):
    kernel.matmul %s, %x, %w into %y {
    ^bb0(%sum: f32):
      kernel.yield %sum : f32
    } : (!kernel.step, memref<1x64xbf16>, memref<1x64x16xbf16>, memref<1x16xf32>) -> ()
  }
  return
}

// An odd number of k, and a weight of f32, are converted to f32.
// CHECK-LABEL: @odd(
// CHECK-NOT: kernel.dot_pairs
// CHECK: vector.fma
// CHECK: return
func.func @odd(%s: !kernel.step, %x: memref<1x63xbf16>, %w: memref<1x63x16xbf16>, %y: memref<1x16xf32>) {
  kernel.tasks %s over tiles by columns {
  ^bb0(%r0: index, %r1: index, %p0: index, %p1: index, %next: index):
    kernel.matmul %s, %x, %w into %y {
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
    kernel.matmul %s, %x, %w into %y {
    ^bb0(%sum: f32):
      kernel.yield %sum : f32
    } : (!kernel.step, memref<1x64xbf16>, memref<1x64x16xf32>, memref<1x16xf32>) -> ()
  }
  return
}

// Several rows load two neighboring vectors of columns at once, and interleave them within 16 bytes.
// CHECK-LABEL: @rows(
// CHECK: scf.for %[[PAIR:.*]] = %c0 to %c32 step %c1
// CHECK: vector.load %{{.*}} : memref<1x64x32xbf16>, vector<32xbf16>
// CHECK-DAG: vector.shuffle %{{.*}} [0, 32, 1, 33, 2, 34, 3, 35, 8, 40, 9, 41, 10, 42, 11, 43, 16, {{.*}}] : vector<32xi16>, vector<32xi16>
// CHECK-DAG: vector.shuffle %{{.*}} [4, 36, 5, 37, 6, 38, 7, 39, 12, {{.*}}] : vector<32xi16>, vector<32xi16>
// CHECK-COUNT-4: kernel.dot_pairs
// CHECK-NOT: kernel.dot_pairs
// CHECK: vector.shuffle %{{.*}} [0, 1, 2, 3, 16, 17, 18, 19, 4, 5, 6, 7, 20, 21, 22, 23] : vector<16xf32>, vector<16xf32>
// CHECK: vector.shuffle %{{.*}} [8, 9, 10, 11, 24, 25, 26, 27, 12, 13, 14, 15, 28, 29, 30, 31] : vector<16xf32>, vector<16xf32>
// CHECK: return
func.func @rows(%s: !kernel.step, %x: memref<2x64xbf16>, %w: memref<1x64x32xbf16>, %y: memref<2x32xf32>) {
  kernel.tasks %s over tiles by rows {
  ^bb0(%r0: index, %r1: index, %p0: index, %p1: index, %next: index):
    kernel.matmul %s, %x, %w into %y {
    ^bb0(%sum: f32):
      kernel.yield %sum : f32
    } : (!kernel.step, memref<2x64xbf16>, memref<1x64x32xbf16>, memref<2x32xf32>) -> ()
  }
  return
}
