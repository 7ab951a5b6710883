// SPDX-License-Identifier: Apache-2.0
// rows-to-halide: the work of row-wise ops on columns becomes a call for each row, with its code on the declaration;
// loops over rows, groups and heads stay, and so do other kernels and compute ops.
// RUN: talc-opt %s -split-input-file -rows-to-halide -canonicalize -cse -verify-diagnostics | FileCheck %s

// The powers are kept; of the sum of 11 nothing is added in front or behind.
// CHECK: func.func private @softmax_halide(index, index) -> i32 attributes {kernel.generator = {name = "halide", specification = {
// CHECK-SAME: code = "load f32;{{.*}};max 0;sub 0 2;{{.*}};keep 37;sum 38;div 30 39;mul 38 40;store 41"
// CHECK-SAME: kind = "row", lanes = 8 : i64, unroll = 1 : i64, width = 11 : i64}}}
// CHECK-LABEL: func.func @softmax(
// CHECK-SAME: %[[X:[a-z0-9]+]]: memref<?x11xf32>, %[[Y:[a-z0-9]+]]: memref<?x11xf32>
// CHECK: memref.alloca() : memref<18xindex>
// CHECK: kernel.tasks
// CHECK: scf.for
// CHECK-NOT: vector
// CHECK: memref.extract_aligned_pointer_as_index %[[X]]
// CHECK: memref.extract_aligned_pointer_as_index %[[Y]]
// CHECK: call @softmax_halide(%{{.*}}, %{{.*}}) : (index, index) -> i32
func.func @softmax(%s: !kernel.step, %x: memref<?x11xf32>, %y: memref<?x11xf32>)
    attributes {kernel.op = "softmax", kernel.generator = {name = "halide"}} {
  kernel.tasks %s over rows by rows {
  ^bb0(%p0: index, %p1: index):
    kernel.softmax %s, %x into %y : (!kernel.step, memref<?x11xf32>, memref<?x11xf32>) -> ()
  }
  return
}

// A line is a group. It is in place; a plan says how many vectors are taken together.
// CHECK: func.func private @norm_halide(index, index, index, index) -> i32 {{.*}}code = "load f32;load f32;load f32;sum 0;f32 1038323257;mul 3 4;sub 0 5;f32 1065353216;mul 6 6;sum 8;mul 9 4;f32 1056964608;add 10 11;sqrt 12;div 7 13;mul 6 14;mul 15 1;add 16 2;store 17"{{.*}}unroll = 4 : i64, width = 9 : i64
// CHECK-LABEL: func.func @norm(
// CHECK: scf.for
// CHECK: scf.for
// CHECK: call @norm_halide(
func.func @norm(%s: !kernel.step, %x: memref<?x27xf32>, %scale: memref<9xf32>, %bias: memref<9xf32>)
    attributes {kernel.op = "norm", kernel.generator = {name = "halide"}} {
  kernel.tasks %s over rows by rows plan <unroll = 4> {
  ^bb0(%p0: index, %p1: index):
    kernel.norm layer %s, %x, %scale bias %bias epsilon 0.5 groups 3 into %x : (!kernel.step, memref<?x27xf32>, memref<9xf32>, memref<9xf32>, memref<?x27xf32>) -> ()
  }
  return
}

// Each half of a head is a line; both are written at once.
// CHECK: func.func private @rope_halide(index, index, index, index, index, index) -> i32 {{.*}}code = "load f32;load f32;load f32;load f32;mul 2 0;mul 3 1;sub 4 5;store 6;mul 3 0;mul 2 1;add 8 9;store 10"{{.*}}width = 3 : i64
// CHECK-LABEL: func.func @rope(
// CHECK: kernel.position
// CHECK: call @rope_halide(
func.func @rope(%s: !kernel.step, %x: memref<?x12xf32>, %table: memref<64x6xf32>, %y: memref<?x12xf32>)
    attributes {kernel.op = "rope", kernel.generator = {name = "halide"}} {
  kernel.tasks %s over rows by rows {
  ^bb0(%p0: index, %p1: index):
    kernel.rope %s, %x, %table heads 2 into %y : (!kernel.step, memref<?x12xf32>, memref<64x6xf32>, memref<?x12xf32>) -> ()
  }
  return
}

// CHECK-LABEL: func.func @own(
// CHECK: kernel.softmax
func.func @own(%s: !kernel.step, %x: memref<?x11xf32>, %y: memref<?x11xf32>) attributes {kernel.op = "softmax"} {
  kernel.tasks %s over rows by rows {
  ^bb0(%p0: index, %p1: index):
    kernel.softmax %s, %x into %y : (!kernel.step, memref<?x11xf32>, memref<?x11xf32>) -> ()
  }
  return
}

// -----

// One half writes elements that the other half still reads.
// expected-error @below {{Halide cannot make this kernel: it has several results, and one of them overwrites an operand}}
func.func @in_place(%s: !kernel.step, %x: memref<?x12xf32>, %table: memref<64x6xf32>)
    attributes {kernel.op = "rope", kernel.generator = {name = "halide"}} {
  kernel.tasks %s over rows by rows {
  ^bb0(%p0: index, %p1: index):
    kernel.rope %s, %x, %table heads 2 into %x : (!kernel.step, memref<?x12xf32>, memref<64x6xf32>, memref<?x12xf32>) -> ()
  }
  return
}

// -----

// Behind the halves a feature is copied.
// expected-error @below {{Halide cannot make this kernel: Halide's row expressions have no vector.maskedload}}
func.func @rest(%s: !kernel.step, %x: memref<?x14xf32>, %table: memref<64x6xf32>, %y: memref<?x14xf32>)
    attributes {kernel.op = "rope", kernel.generator = {name = "halide"}} {
  kernel.tasks %s over rows by rows {
  ^bb0(%p0: index, %p1: index):
    kernel.rope %s, %x, %table heads 2 into %y : (!kernel.step, memref<?x14xf32>, memref<64x6xf32>, memref<?x14xf32>) -> ()
  }
  return
}

// -----

// Powers of so wide a line have no place on the stack.
// expected-error @below {{Halide cannot make this kernel: it keeps 16385 intermediate values, more than 16384}}
func.func @wide(%s: !kernel.step, %x: memref<?x16385xf32>, %y: memref<?x16385xf32>)
    attributes {kernel.op = "softmax", kernel.generator = {name = "halide"}} {
  kernel.tasks %s over rows by rows {
  ^bb0(%p0: index, %p1: index):
    kernel.softmax %s, %x into %y : (!kernel.step, memref<?x16385xf32>, memref<?x16385xf32>) -> ()
  }
  return
}
