// SPDX-License-Identifier: Apache-2.0
// insert-barriers: results that go to the caller's buffer without a temporary.
// RUN: talc-opt %s -outline-kernels -insert-barriers | FileCheck %s

// Results may go to the caller's buffer at once: still another division than that of the rows they come from.
// CHECK-LABEL: func.func @select_last(
// CHECK: call @norm
// CHECK-NEXT: kernel.barrier %{{[a-z0-9]+$}}
// CHECK-NEXT: call @gather
func.func @select_last(%s: !kernel.step, %x: memref<?x32xf32>, %y: memref<?x32xf32>, %scale: memref<32xf32>) attributes {talc.entry} {
  %out = kernel.output %s 0 : memref<?x32xf32>
  kernel.tasks %s over rows by rows {
  ^bb0(%p0: index, %p1: index):
    kernel.norm rms %s, %x, %scale epsilon 0.5 groups 1 into %y : (!kernel.step, memref<?x32xf32>, memref<32xf32>, memref<?x32xf32>) -> ()
  }
  kernel.tasks %s over rows by rows {
  ^bb0(%p0: index, %p1: index):
    kernel.gather outputs %s, %y plus 0 into %out : (!kernel.step, memref<?x32xf32>, memref<?x32xf32>) -> ()
  }
  return
}
