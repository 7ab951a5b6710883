// SPDX-License-Identifier: Apache-2.0
// matmul-to-amx: rows rounded to bf16 times a weight of bf16, by products of 16 rows, 32 k and 16 columns.
// RUN: talc-opt %s -assign-plans="lanes=16" -matmul-to-amx="lanes=16" -canonicalize -cse | FileCheck %s
// RUN: talc-opt %s -assign-plans="lanes=16" -matmul-to-amx="lanes=16" --remarks-filter=schedule -o %t 2>&1 | FileCheck %s --check-prefix=SAID

// Pairs of k of a panel lie on the stack, as long as its rows pass; 256 k at a time, of which the last block has fewer.
// CHECK-LABEL: @rows(
// CHECK-DAG: %[[SUMS:.*]] = memref.alloca() {alignment = 64 : i64} : memref<192x64xf32>
// CHECK-DAG: %[[PAIRS:.*]] = memref.alloca() {alignment = 64 : i64} : memref<8x4x16x32xbf16>
// CHECK-DAG: %[[REST:.*]] = memref.alloca() {alignment = 64 : i64} : memref<8x16x32xbf16>
// CHECK: scf.for %{{.*}} = %c0 to %c768 step %c256
// CHECK: arith.extui %{{.*}} : vector<16xi16> to vector<16xi32>
// CHECK: %[[ABOVE:.*]] = arith.shli
// CHECK: arith.ori %{{.*}}, %[[ABOVE]]
// CHECK: vector.store %{{.*}}, %[[PAIRS]]

// Whole groups of 16 rows are loaded where they lie; in front of the first k sums are zero, and not read.
// CHECK: scf.if %{{.*}} -> (!amx.tile<16x16xf32>, !amx.tile<16x16xf32>, !amx.tile<16x16xf32>, !amx.tile<16x16xf32>) {
// CHECK-COUNT-4: amx.tile_zero
// CHECK: } else {
// CHECK-COUNT-4: amx.tile_load %[[SUMS]]
// CHECK: scf.for
// CHECK: %[[X:.*]] = amx.tile_load %arg1[{{.*}}] : memref<?x768xbf16> into !amx.tile<16x32xbf16>
// CHECK: %[[W:.*]] = amx.tile_load %[[PAIRS]]
// CHECK: amx.tile_mulf %[[X]], %[[W]]
// CHECK-COUNT-3: amx.tile_mulf
// CHECK-NOT: amx.tile_mulf
// CHECK-COUNT-4: amx.tile_store %[[SUMS]]

// If there are fewer rows, only these are loaded.
// CHECK: scf.if
// CHECK: %[[ROW:.*]] = vector.load %arg1
// CHECK: vector.store %[[ROW]], %[[REST]]
// CHECK: amx.tile_load %[[REST]]
// CHECK-NOT: amx.tile_load %arg1
// CHECK: return
// SAID: remark{{.*}}matmul-to-amx{{.*}}16 rows at a time, 32 k of bf16
func.func @rows(%s: !kernel.step, %x: memref<?x768xbf16>, %w: memref<2x768x64xbf16>, %y: memref<?x128xf32>) {
  kernel.tasks %s over tiles by rows {
  ^bb0(%r0: index, %r1: index, %p0: index, %p1: index, %next: index):
    kernel.matmul %s, %x, %w into %y {
    ^bb0(%sum: f32):
      kernel.yield %sum : f32
    } : (!kernel.step, memref<?x768xbf16>, memref<2x768x64xbf16>, memref<?x128xf32>) -> ()
  }
  return
}

// One row, a narrow panel: the same products.
// CHECK-LABEL: @row(
// CHECK: amx.tile_mulf
// CHECK: return
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

// K that is not a multiple of 32, and operands of other types, are left alone.
// CHECK-LABEL: @odd(
// CHECK-NOT: amx
// CHECK: kernel.matmul
// SAID: remark{{.*}}matmul-to-amx{{.*}}K = 48 is not a multiple of 32
func.func @odd(%s: !kernel.step, %x: memref<1x48xbf16>, %w: memref<1x48x16xbf16>, %y: memref<1x16xf32>) {
  kernel.tasks %s over tiles by columns {
  ^bb0(%r0: index, %r1: index, %p0: index, %p1: index, %next: index):
    kernel.matmul %s, %x, %w into %y {
    ^bb0(%sum: f32):
      kernel.yield %sum : f32
    } : (!kernel.step, memref<1x48xbf16>, memref<1x48x16xbf16>, memref<1x16xf32>) -> ()
  }
  return
}

// CHECK-LABEL: @wide(
// CHECK-NOT: amx
// CHECK: kernel.matmul
// SAID: remark{{.*}}matmul-to-amx{{.*}}the operands are neither both bf16 nor integers in blocks of 32
func.func @wide(%s: !kernel.step, %x: memref<1x64xf32>, %w: memref<1x64x16xbf16>, %y: memref<1x16xf32>) {
  kernel.tasks %s over tiles by columns {
  ^bb0(%r0: index, %r1: index, %p0: index, %p1: index, %next: index):
    kernel.matmul %s, %x, %w into %y {
    ^bb0(%sum: f32):
      kernel.yield %sum : f32
    } : (!kernel.step, memref<1x64xf32>, memref<1x64x16xbf16>, memref<1x16xf32>) -> ()
  }
  return
}

// Matmuls of integers are marked.
// CHECK-LABEL: @integers(
// CHECK: kernel.tasks %{{.*}} over tiles by rows plan <{{.*}}, use_amx = 1>
// CHECK-NOT: amx
// CHECK: kernel.matmul
// SAID: remark{{.*}}matmul-to-amx{{.*}}many rows: 16 at a time, a group of codes that share a scale
func.func @integers(%s: !kernel.step, %x: memref<?x64x!talc.stored<q8_sums>>, %w: memref<1x64x16x!talc.stored<q8_0>>, %y: memref<?x16xf32>) {
  kernel.tasks %s over tiles by rows {
  ^bb0(%r0: index, %r1: index, %p0: index, %p1: index, %next: index):
    kernel.matmul %s, %x, %w into %y {
    ^bb0(%sum: f32):
      kernel.yield %sum : f32
    } : (!kernel.step, memref<?x64x!talc.stored<q8_sums>>, memref<1x64x16x!talc.stored<q8_0>>, memref<?x16xf32>) -> ()
  }
  return
}
