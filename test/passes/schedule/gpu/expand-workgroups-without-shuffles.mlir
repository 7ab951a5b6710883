// SPDX-License-Identifier: Apache-2.0
// expand-workgroups{gpu=vulkan}: where nobody knows which threads shuffle, a sum is a tree in the workgroup's memory.
// RUN: talc-opt %s -expand-workgroups=gpu=vulkan -canonicalize | FileCheck %s

// 64 threads: one barrier in front, one before each of six halvings, one behind.
// CHECK-LABEL: func.func private @norm(
// CHECK-SAME: kernel.launch = #kernel.launch<threads = 64
// CHECK: memref.alloca() : memref<64xf32, #gpu.address_space<workgroup>>
// CHECK-NOT: gpu.shuffle
// CHECK-COUNT-8: gpu.barrier
// CHECK-NOT: gpu.barrier
// CHECK: math.sqrt
func.func private @norm(%s: !kernel.step, %x: memref<?x64xf32>, %scale: memref<64xf32>, %y: memref<?x64xf32>) attributes {kernel.op = "norm"} {
  kernel.tasks %s over rows by rows {
  ^bb0(%p0: index, %p1: index):
    kernel.norm rms %s, %x, %scale epsilon 0.5 groups 1 into %y : (!kernel.step, memref<?x64xf32>, memref<64xf32>, memref<?x64xf32>) -> ()
  }
  return
}
