// SPDX-License-Identifier: Apache-2.0
// Split-K makes parts of a single row tasks of their own, and a compute op adds them in order. Many rows, gates and a
// short K are not split.
// RUN: talc-opt %s -split-k=mma=false --remarks-filter=bufferize 2> %t | FileCheck %s
// RUN: FileCheck %s --check-prefix=REMARKS < %t
// RUN: talc-opt %s -split-k | FileCheck %s --check-prefix=MMA

// CHECK-LABEL: func.func @row(
// CHECK: %[[PARTS:.*]] = memref.alloc() : memref<16x64xf32>
// CHECK: kernel.matmul %{{.*}}, %{{.*}}, %{{.*}} into %[[PARTS]] split_k 16 {
// CHECK-COUNT-16: memref.subview %[[PARTS]]
// CHECK: linalg.generic
// CHECK: math.tanh
// CHECK: linalg.yield
// REMARKS: split-k{{.*}}split-K in 16 parts, which are 16 tasks instead of 1
// MMAs do not take f32.
// MMA-LABEL: func.func @row(
// MMA: split_k 16 {
func.func @row(%s: !kernel.step, %x: memref<1x1024xf32>, %w: memref<1x1024x64xf32>, %y: memref<1x64xf32>) {
  kernel.matmul %s, %x, %w into %y {
  ^bb0(%sum: f32):
    %0 = math.tanh %sum : f32
    kernel.yield %0 : f32
  } : (!kernel.step, memref<1x1024xf32>, memref<1x1024x64xf32>, memref<1x64xf32>) -> ()
  return
}

// With MMA each warp has a part, at most four.
// MMA-LABEL: func.func @halves(
// MMA: memref.alloc() : memref<2x64xf32>
// MMA: split_k 2 {
func.func @halves(%s: !kernel.step, %x: memref<1x768xf32>, %w: memref<1x768x64xbf16>, %y: memref<1x64xf32>) {
  kernel.matmul %s, %x, %w into %y {
  ^bb0(%sum: f32):
    kernel.yield %sum : f32
  } : (!kernel.step, memref<1x768xf32>, memref<1x768x64xbf16>, memref<1x64xf32>) -> ()
  return
}

// CHECK-LABEL: func.func @rows(
// CHECK-NOT: memref.alloc
// CHECK: return
func.func @rows(%s: !kernel.step, %x: memref<?x1024xf32>, %w: memref<1x1024x64xf32>, %y: memref<?x64xf32>) {
  kernel.matmul %s, %x, %w into %y {
  ^bb0(%sum: f32):
    kernel.yield %sum : f32
  } : (!kernel.step, memref<?x1024xf32>, memref<1x1024x64xf32>, memref<?x64xf32>) -> ()
  return
}

// CHECK-LABEL: func.func @short(
// CHECK-NOT: memref.alloc
// CHECK: return
// REMARKS: split-k{{.*}}K is not split: K cannot be divided
func.func @short(%s: !kernel.step, %x: memref<1x48xf32>, %w: memref<1x48x64xf32>, %y: memref<1x64xf32>) {
  kernel.matmul %s, %x, %w into %y {
  ^bb0(%sum: f32):
    kernel.yield %sum : f32
  } : (!kernel.step, memref<1x48xf32>, memref<1x48x64xf32>, memref<1x64xf32>) -> ()
  return
}
