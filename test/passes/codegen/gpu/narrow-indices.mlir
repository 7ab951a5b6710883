// SPDX-License-Identifier: Apache-2.0
// Small indices of kernels that need all registers become numbers of 32 bits; those of others stay.
// RUN: talc-opt %s --pass-pipeline='builtin.module(func.func(narrow-indices))' | FileCheck %s

// CHECK-LABEL: func.func @many
// CHECK: arith.remui %{{.*}} : i32
// A value that is not known to be small stays an index.
// CHECK: arith.addi %{{.*}} : index
func.func @many(%out: memref<?xindex>, %first: index) attributes {kernel.launch = #kernel.launch<threads = 64, narrow_indices = true>} {
  %c32 = arith.constant 32 : index
  %thread = gpu.thread_id x upper_bound 64
  %lane = arith.remui %thread, %c32 : index
  %place = arith.addi %first, %lane : index
  memref.store %lane, %out[%place] : memref<?xindex>
  return
}

// CHECK-LABEL: func.func @nothing_said
// CHECK-NOT: i32
func.func @nothing_said(%out: memref<?xindex>) {
  %c32 = arith.constant 32 : index
  %thread = gpu.thread_id x upper_bound 64
  %lane = arith.remui %thread, %c32 : index
  memref.store %lane, %out[%lane] : memref<?xindex>
  return
}
