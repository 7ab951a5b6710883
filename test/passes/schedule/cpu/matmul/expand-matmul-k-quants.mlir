// SPDX-License-Identifier: Apache-2.0
// expand-matmul: activations with a scale for 256 values times k-quants. Scales of groups wait on the stack, and
// the row's scale comes in once for a block.
// RUN: talc-opt %s -assign-plans="lanes=16" -expand-matmul="lanes=16" -distribute-tasks -canonicalize -cse | FileCheck %s
// RUN: talc-opt %s -assign-plans="lanes=4" -expand-matmul="lanes=4" -distribute-tasks -canonicalize -cse | FileCheck %s --check-prefix=NEON
// RUN: talc-opt %s -assign-plans="lanes=16 cache-bytes=1024" | FileCheck %s --check-prefix=AHEAD
// RUN: talc-opt %s -assign-plans="lanes=8 cache-bytes=1024" | FileCheck %s --check-prefix=STREAM
// RUN: talc-opt %s -assign-plans="lanes=16 plans='*: fetch_ahead = 80, fetch_level = 1'" -expand-matmul="lanes=16" -distribute-tasks -canonicalize -cse | FileCheck %s --check-prefix=DROPS
// RUN: talc-opt %s -assign-plans="lanes=8 plans='*: fetch_ahead = 80, fetch_level = 1, row_columns = 8'" -expand-matmul="lanes=8" -distribute-tasks -canonicalize -cse | FileCheck %s --check-prefix=PIECE
// RUN: not talc-opt %s -assign-plans="lanes=16 plans='*: block_depth = 128'" 2>&1 | FileCheck %s --check-prefix=UNIT
// RUN: talc-opt %s -assign-plans="lanes=16 plans='row: block_depth = 256'" | FileCheck %s --check-prefix=BLOCK

// UNIT: cannot have this plan: block_depth and stream_depth must be multiples of 256, which the microkernel takes at a time
// BLOCK: block_depth = 256

// Two blocks of a weight in memory are prefetched; with 8 lanes, where a panel is a stream, one.
// AHEAD-LABEL: @row(
// AHEAD: fetch_ahead = 80, {{.*}} row_columns = 64,
// STREAM-LABEL: @row(
// STREAM: fetch_ahead = 40, {{.*}} row_columns = 16,

// One row takes both stretches of 32 that share words. Eight steps are stored; sums of 32 integers of the row are two
// digits, which are multiplied by the minima of four groups at a time.
// CHECK-LABEL: @row(
// CHECK: %[[STEPS:.*]] = memref.alloca() {alignment = 64 : i64} : memref<8x16xf32>
// CHECK: scf.for %{{.*}} = %c0 to %c512 step %c256
// CHECK-COUNT-8: vector.store %{{.*}}, %[[STEPS]]
// CHECK-COUNT-4: kernel.dot
// CHECK: arith.shli
// CHECK: %[[MINIMA:.*]] = arith.sitofp %{{.*}} : vector<16xi32> to vector<16xf32>
// CHECK: arith.mulf %[[MINIMA]]
// CHECK: scf.for %{{.*}} = %c0 to %c4 step %c1
// CHECK-COUNT-16: kernel.dot %{{.*}} : vector<64xi8> -> vector<16xi32>
// CHECK-NOT: kernel.dot
// CHECK: vector.fma
// CHECK: scf.yield
// CHECK: vector.fma
// CHECK-NOT: vector.fma
// CHECK: return
//
// Where fetches are dropped, what is loaded is fetched two blocks ahead, while steps are unpacked the five lines of scales
// and with each pair a quarter of the levels' 32 lines; and once more half a block ahead, of the three fields of scales
// with each pair a line.
// DROPS-LABEL: @row(
// DROPS: scf.for %{{.*}} = %c0 to %c512 step %c256
// DROPS-COUNT-5: memref.prefetch %{{.*}}, read, locality<3>
// DROPS-NOT: memref.prefetch
// DROPS: scf.for %{{.*}} = %c0 to %c4 step %c1
// DROPS-COUNT-19: memref.prefetch
// DROPS-NOT: memref.prefetch
// DROPS: return
//
// A piece of a panel fetches in the order of addresses.
// PIECE-LABEL: @row(
// PIECE: memref.prefetch
//
// NEON takes four integers of a row from a lane of sixteen.
// NEON-LABEL: @row(
// NEON: scf.for %{{.*}} = %c0 to %c4 step %c1
// NEON: vector.extract %[[X:.*]][0] : i32 from vector<4xi32>
// NEON: vector.extract %[[X]][1] : i32 from vector<4xi32>
// NEON: kernel.dot %{{.*}} : vector<16xi8> -> vector<4xi32>
func.func @row(%s: !kernel.step, %x: memref<1x512x!talc.stored<q8_k_sums>>, %w: memref<1x512x16x!talc.stored<q4_k>>,
               %y: memref<1x16xf32>) {
  kernel.tasks %s over tiles by columns {
  ^bb0(%r0: index, %r1: index, %p0: index, %p1: index, %next: index):
    kernel.matmul %s, %x, %w into %y {
    ^bb0(%sum: f32):
      kernel.yield %sum : f32
    } : (!kernel.step, memref<1x512x!talc.stored<q8_k_sums>>, memref<1x512x16x!talc.stored<q4_k>>, memref<1x16xf32>) -> ()
  }
  return
}

// Codes with a zero point have no minima: sums begin with a term of the quantized activations, for every 16 values.
// Their scales lie behind the levels.
// DROPS-LABEL: @around_zero(
// DROPS: %[[SCALES:.*]] = arith.addi %{{.*}}, %c6432 : index
// DROPS: memref.prefetch %{{.*}}[%[[SCALES]]]
// CHECK-LABEL: @around_zero(
// CHECK-COUNT-16: vector.store %{{.*}} : memref<16x16xf32>
// CHECK-NOT: kernel.dot
// CHECK: scf.for %{{.*}} = %c0 to %c4 step %c1
// CHECK-COUNT-16: kernel.dot %{{.*}} : vector<64xi8> -> vector<16xi32>
// CHECK-NOT: kernel.dot
// CHECK: return
func.func @around_zero(%s: !kernel.step, %x: memref<1x256x!talc.stored<q8_k_sums>>,
                       %w: memref<1x256x16x!talc.stored<q6_k>>, %y: memref<1x16xf32>) {
  kernel.tasks %s over tiles by columns {
  ^bb0(%r0: index, %r1: index, %p0: index, %p1: index, %next: index):
    kernel.matmul %s, %x, %w into %y {
    ^bb0(%sum: f32):
      kernel.yield %sum : f32
    } : (!kernel.step, memref<1x256x!talc.stored<q8_k_sums>>, memref<1x256x16x!talc.stored<q6_k>>, memref<1x16xf32>) -> ()
  }
  return
}

// Rows with scales of 32 beside such a weight are dequantized.
// CHECK-LABEL: @other_rows(
// CHECK-NOT: kernel.dot
// CHECK: return
func.func @other_rows(%s: !kernel.step, %x: memref<1x256x!talc.stored<q8_sums>>,
                      %w: memref<1x256x16x!talc.stored<q4_k>>, %y: memref<1x16xf32>) {
  kernel.tasks %s over tiles by columns {
  ^bb0(%r0: index, %r1: index, %p0: index, %p1: index, %next: index):
    kernel.matmul %s, %x, %w into %y {
    ^bb0(%sum: f32):
      kernel.yield %sum : f32
    } : (!kernel.step, memref<1x256x!talc.stored<q8_sums>>, memref<1x256x16x!talc.stored<q4_k>>, memref<1x16xf32>) -> ()
  }
  return
}

// Four rows have two vectors each and take a panel of four in two pieces, which are streams with gaps: so they fetch what
// comes next, as more rows do. Three take all of it at once.
// CHECK-LABEL: @panel(
// CHECK: scf.index_switch
// CHECK: case 3 {
// CHECK-NOT: case
// CHECK: scf.index_switch
// CHECK: case 4 {
// CHECK: scf.for %{{.*}} = %c0 to %c2 step %c1
// CHECK: memref.prefetch %{{.*}}, read, locality<2>
// CHECK: case 5 {
func.func @panel(%s: !kernel.step, %x: memref<?x256x!talc.stored<q8_k_sums>>, %w: memref<2x256x64x!talc.stored<q4_k>>,
                 %out: memref<?x128xf32>) {
  kernel.tasks %s over tiles by rows {
  ^bb0(%row: index, %end: index, %panel: index, %panelEnd: index, %next: index):
    kernel.matmul %s, %x, %w into %out {
    ^bb0(%sum: f32):
      kernel.yield %sum : f32
    } : (!kernel.step, memref<?x256x!talc.stored<q8_k_sums>>, memref<2x256x64x!talc.stored<q4_k>>, memref<?x128xf32>) -> ()
  }
  return
}
