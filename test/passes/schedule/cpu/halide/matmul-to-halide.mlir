// SPDX-License-Identifier: Apache-2.0
// matmul-to-halide: the products of kernels that have the generator become calls, with what they compute on the
// declaration; the epilogue stays, and other kernels are left to expand-matmul.
// RUN: talc-opt %s -assign-plans -matmul-to-halide -canonicalize -cse | FileCheck %s
// RUN: talc-opt %s -assign-plans="lanes=16" -matmul-to-halide="lanes=16" -canonicalize | FileCheck %s --check-prefix=WIDE

// CHECK: func.func private @product_halide(index, index, index) -> i32 attributes {kernel.generator = {name = "halide",
// CHECK-SAME: specification = {columns = 16 : i64, depth = 9 : i64, element = "f32", kind = "matmul", lanes = 8 : i64, panel = 16 : i64, panels = 1 : i64, rows = 6 : i64}}}
// WIDE: specification = {columns = 16 : i64, depth = 9 : i64, element = "f32", kind = "matmul", lanes = 16 : i64, panel = 16 : i64, panels = 3 : i64, rows = 6 : i64}
// CHECK: func.func @product(
// CHECK-SAME: %[[X:[a-z0-9]+]]: memref<?x9xf32>, %[[W:[a-z0-9]+]]: memref<3x9x16xf32>
// Two dimensions: 2 << 32.
// CHECK-DAG: arith.constant 8589934592 : index
// Seven words for each buffer, and two for each of its dimensions.
// CHECK-DAG: %[[WORDS:.*]] = memref.alloca() : memref<35xindex>
// CHECK-DAG: %[[SUMS:.*]] = memref.alloca() {alignment = 64 : i64} : memref<192x16xf32>
// CHECK: kernel.tasks {{.*}} grain
// CHECK: scf.for %[[PANEL:.*]] = %{{.*}} to %[[END:.*]] step %c1
// CHECK-DAG: memref.extract_aligned_pointer_as_index %[[X]]
// CHECK-DAG: memref.extract_aligned_pointer_as_index %[[W]]
// CHECK-DAG: memref.extract_aligned_pointer_as_index %[[SUMS]]
// CHECK: call @product_halide(%{{.*}}, %{{.*}}, %{{.*}}) : (index, index, index) -> i32
// CHECK: vector.load %[[SUMS]]
// CHECK-NOT: kernel.matmul
func.func @product(%step: !kernel.step, %x: memref<?x9xf32>, %w: memref<3x9x16xf32>, %out: memref<?x33xf32>)
    attributes {kernel.op = "matmul", kernel.generator = {name = "halide"}} {
  kernel.tasks %step over tiles by columns {
  ^bb0(%first: index, %end: index, %panel: index, %endPanel: index, %next: index):
    kernel.matmul %step, %x, %w into %out {
    ^bb0(%sum: f32):
      kernel.yield %sum : f32
    } : (!kernel.step, memref<?x9xf32>, memref<3x9x16xf32>, memref<?x33xf32>) -> ()
  }
  return
}

// CHECK-LABEL: func.func @own(
// CHECK: kernel.matmul
func.func @own(%step: !kernel.step, %x: memref<?x9xf32>, %w: memref<3x9x16xf32>, %out: memref<?x33xf32>)
    attributes {kernel.op = "matmul"} {
  kernel.tasks %step over tiles by columns {
  ^bb0(%first: index, %end: index, %panel: index, %endPanel: index, %next: index):
    kernel.matmul %step, %x, %w into %out {
    ^bb0(%sum: f32):
      kernel.yield %sum : f32
    } : (!kernel.step, memref<?x9xf32>, memref<3x9x16xf32>, memref<?x33xf32>) -> ()
  }
  return
}
