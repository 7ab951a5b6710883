// SPDX-License-Identifier: Apache-2.0
// expand-matmul: quantized activations times codes of quant blocks. Sums of a block are exact, then join the chain.
// RUN: talc-opt %s -assign-plans="lanes=16" -expand-matmul="lanes=16" -distribute-tasks -canonicalize -cse | FileCheck %s
// RUN: talc-opt %s -assign-plans="lanes=8" -expand-matmul="lanes=8" -distribute-tasks -canonicalize -cse | FileCheck %s --check-prefix=NARROW
// RUN: talc-opt %s -assign-plans="lanes=4" -expand-matmul="lanes=4" -distribute-tasks -canonicalize -cse | FileCheck %s --check-prefix=NEON
// RUN: talc-opt %s -assign-plans="lanes=16 plans='*: fetch_ahead = 8'" -expand-matmul="lanes=16" -distribute-tasks -canonicalize -cse | FileCheck %s --check-prefix=FETCH
// RUN: talc-opt %s -assign-plans="lanes=16 cache-bytes=1024" | FileCheck %s --check-prefix=AHEAD
// RUN: talc-opt %s -assign-plans="lanes=16 cache-bytes=1048576" | FileCheck %s --check-prefix=DEEP
// RUN: talc-opt %s -assign-plans="lanes=16 cache-bytes=262144" | FileCheck %s --check-prefix=DIVIDED
// RUN: talc-opt %s -assign-plans="lanes=8" | FileCheck %s --check-prefix=HALF
// RUN: not talc-opt %s -assign-plans="lanes=16 plans='*: tile_steps = 16'" 2>&1 | FileCheck %s --check-prefix=STEPS

// STEPS: error: {{.*}}tile_steps must be 32, which the microkernel takes at a time

// One row: levels become unsigned by the highest bit, and sums begin with eight times what the
// row has for levels that count from 16.
//
// Words are read upwards in memory, and between them a line is fetched whose place is the first one's and a constant.
// FETCH-LABEL: @row(
// FETCH: arith.addi %{{.*}}, %c30 : index
// FETCH: %[[LINE:.*]] = arith.divui %{{.*}}, %c32 : index
// FETCH-NEXT: memref.prefetch %{{.*}}[%[[LINE]]], read
// FETCH: arith.addi %{{.*}}, %c16 : index
// FETCH: kernel.dot
// FETCH-NEXT: %[[SECOND:.*]] = arith.addi %[[LINE]], %c64 : index
// FETCH-NEXT: memref.prefetch %{{.*}}[%[[SECOND]]], read
// FETCH: arith.addi %{{.*}}, %c20 : index
// FETCH: kernel.dot
// FETCH: memref.prefetch
// FETCH: arith.addi %{{.*}}, %c24 : index
// FETCH: kernel.dot
//
// CHECK-LABEL: @row(
// CHECK-DAG: arith.constant dense<-2139062144> : vector<16xi32>
// CHECK-DAG: %[[THREE:.*]] = arith.constant dense<3> : vector<16xi32>
// CHECK: scf.for %{{.*}} = %c0 to %c64 step %c32
// CHECK: %[[BEGIN:.*]] = vector.broadcast %{{.*}} : i32 to vector<16xi32>
// CHECK: arith.shli %[[BEGIN]], %[[THREE]] : vector<16xi32>
// CHECK: arith.xori
// CHECK-COUNT-8: kernel.dot %{{.*}} to 255, %{{.*}} : vector<64xi8> -> vector<16xi32>
// CHECK-NOT: kernel.dot
// CHECK: arith.sitofp %{{.*}} : vector<16xi32> to vector<16xf32>
// CHECK: %[[PART:.*]] = arith.mulf
// CHECK: vector.fma %[[PART]],
// CHECK-NOT: vector.fma
// CHECK: return
// NARROW-LABEL: @row(
// NARROW-NOT: arith.xori
// NARROW: kernel.dot %{{.*}} signed : vector<32xi8> -> vector<8xi32>
//
// NEON takes levels with their sign, and four integers of a row from a lane of sixteen.
// NEON-LABEL: @row(
// NEON-NOT: arith.xori
// NEON-NOT: arith.muli %{{.*}} : i32
// NEON: scf.for %{{.*}} = %c0 to %c64 step %c32
// NEON: %[[X:.*]] = vector.bitcast %{{.*}} : vector<16xi8> to vector<4xi32>
// NEON: vector.extract %[[X]][0] : i32 from vector<4xi32>
// NEON: vector.extract %[[X]][3] : i32 from vector<4xi32>
// NEON-COUNT-4: kernel.dot %{{.*}} signed : vector<16xi8> -> vector<4xi32>
// NEON-NOT: arith.xori
func.func @row(%s: !kernel.step, %x: memref<1x64x!talc.stored<q8_sums>>, %w: memref<1x64x16x!talc.stored<q8_0>>,
               %y: memref<1x16xf32>) {
  kernel.tasks %s over tiles by columns {
  ^bb0(%r0: index, %r1: index, %p0: index, %p1: index, %next: index):
    kernel.matmul %s, %x, %w into %y {
    ^bb0(%sum: f32):
      kernel.yield %sum : f32
    } : (!kernel.step, memref<1x64x!talc.stored<q8_sums>>, memref<1x64x16x!talc.stored<q8_0>>, memref<1x16xf32>) -> ()
  }
  return
}

// From memory, integers are fetched an iteration ahead; one row takes a panel at a time.
// AHEAD-LABEL: @row(
// AHEAD: fetch_ahead = 72,
// AHEAD-SAME: row_columns = 64,
// AHEAD-LABEL: @offset(
// AHEAD: fetch_ahead = 65,
// AHEAD-LABEL: @dequantized(
// AHEAD: fetch_ahead = 64,
//
// Blocks with an offset add it times the sum of the row's integers; their levels need seven bits, and no correction. Words that
// share bytes follow each other.
// FETCH-LABEL: @offset(
// FETCH: arith.addi %{{.*}}, %c16 : index
// FETCH: kernel.dot
// FETCH: arith.addi %{{.*}}, %c32 : index
// FETCH: kernel.dot
// FETCH: arith.addi %{{.*}}, %c20 : index
// FETCH: kernel.dot
// NEON-LABEL: @offset(
// NEON-COUNT-32: kernel.dot %{{.*}} : vector<16xi8> -> vector<4xi32>
// NEON-NOT: kernel.dot
// CHECK-LABEL: @offset(
// CHECK-COUNT-8: kernel.dot %{{.*}} : vector<64xi8> -> vector<16xi32>
// CHECK: %[[PRODUCT:.*]] = arith.mulf
// CHECK: %[[SUM:.*]] = vector.fma %{{.*}}, %{{.*}}, %[[PRODUCT]]
// CHECK: vector.fma %[[SUM]],
// CHECK: return
func.func @offset(%s: !kernel.step, %x: memref<1x64x!talc.stored<q8_sums>>, %w: memref<1x64x16x!talc.stored<q4_1>>,
                  %y: memref<1x16xf32>) {
  kernel.tasks %s over tiles by columns {
  ^bb0(%r0: index, %r1: index, %p0: index, %p1: index, %next: index):
    kernel.matmul %s, %x, %w into %y {
    ^bb0(%sum: f32):
      kernel.yield %sum : f32
    } : (!kernel.step, memref<1x64x!talc.stored<q8_sums>>, memref<1x64x16x!talc.stored<q4_1>>, memref<1x16xf32>) -> ()
  }
  return
}

// Activations are dequantized beside a format that kernels dequantize.
// NEON-LABEL: @dequantized(
// NEON-NOT: kernel.dot
// CHECK-LABEL: @dequantized(
// CHECK-NOT: kernel.dot
// CHECK: vector.fma
// CHECK: return
func.func @dequantized(%s: !kernel.step, %x: memref<1x64x!talc.stored<q8_sums>>, %w: memref<1x64x16xf32>,
                   %y: memref<1x16xf32>) {
  kernel.tasks %s over tiles by columns {
  ^bb0(%r0: index, %r1: index, %p0: index, %p1: index, %next: index):
    kernel.matmul %s, %x, %w into %y {
    ^bb0(%sum: f32):
      kernel.yield %sum : f32
    } : (!kernel.step, memref<1x64x!talc.stored<q8_sums>>, memref<1x64x16xf32>, memref<1x16xf32>) -> ()
  }
  return
}

// Codes of 4-bit floats are twice the values above 16, from a table. Scales are factors beside
// instructions that unpack levels.
// NEON-LABEL: @numbers(
// NEON: kernel.table_lookup %{{.*}} : vector<16xi8>
// CHECK-LABEL: @numbers(
// CHECK-NOT: arith.shli %{{.*}} : i32
// CHECK: kernel.table_lookup %{{.*}} in [16, 17, 18, 19, 20, 22, 24, 28, 16, 15, 14, 13, 12, 10, 8, 4] : vector<64xi8>
// CHECK: kernel.dot %{{.*}} : vector<64xi8> -> vector<16xi32>
// CHECK-NOT: kernel.ldexp
// CHECK: %[[STEP:.*]] = arith.mulf %{{.*}}, %cst{{.*}} : vector<16xf32>
// CHECK: %[[PART:.*]] = arith.mulf %{{.*}}, %[[STEP]] : vector<16xf32>
// CHECK: vector.fma %[[PART]],
// CHECK: return
func.func @numbers(%s: !kernel.step, %x: memref<1x64x!talc.stored<q8_sums>>, %w: memref<1x64x16x!talc.stored<mxfp4>>,
                   %y: memref<1x16xf32>) {
  kernel.tasks %s over tiles by columns {
  ^bb0(%r0: index, %r1: index, %p0: index, %p1: index, %next: index):
    kernel.matmul %s, %x, %w into %y {
    ^bb0(%sum: f32):
      kernel.yield %sum : f32
    } : (!kernel.step, memref<1x64x!talc.stored<q8_sums>>, memref<1x64x16x!talc.stored<mxfp4>>, memref<1x16xf32>) -> ()
  }
  return
}

// Blocks of rows that were rounded together add up to a part in registers, which joins its sum in memory.
// CHECK-LABEL: @joint(
// CHECK: scf.for %{{.*}} = %c0 to %c512 step %c256 {
// CHECK: %[[PARTS:.*]] = scf.for %{{.*}} step %c32 iter_args(
// CHECK-COUNT-8: kernel.dot %{{.*}} : vector<64xi8> -> vector<16xi32>
// CHECK-NOT: kernel.dot
// CHECK: vector.fma
// CHECK: scf.yield
// CHECK: %[[SUM:.*]] = vector.maskedload
// CHECK: %[[JOINED:.*]] = vector.fma %[[PARTS]], %{{.*}}, %[[SUM]]
// CHECK: vector.store %[[JOINED]]
// CHECK: return
//
// With 8 lanes sums get what they begin with behind their products.
// NARROW-LABEL: @joint(
// NARROW: %[[NONE:.*]] = arith.constant dense<0> : vector<8xi32>
// NARROW: kernel.dot %{{.*}} to 15, %{{.*}} plus %[[NONE]]
// NARROW: kernel.dot %{{.*}} to 15, %{{.*}} plus %[[NONE]]
// NARROW-COUNT-13: kernel.dot
// NARROW: %[[LAST:.*]] = kernel.dot
// NARROW: arith.addi %{{.*}}, %[[BEGIN:.*]] : vector<8xi32>
// NARROW: %[[SUM:.*]] = arith.addi %[[LAST]], %[[BEGIN]] : vector<8xi32>
// NARROW-NEXT: arith.sitofp %[[SUM]]
func.func @joint(%s: !kernel.step, %x: memref<1x512x!talc.stored<q8_256_sums>>, %w: memref<1x512x16x!talc.stored<q4_0>>,
                 %y: memref<1x16xf32>) {
  kernel.tasks %s over tiles by columns {
  ^bb0(%r0: index, %r1: index, %p0: index, %p1: index, %next: index):
    kernel.matmul %s, %x, %w into %y {
    ^bb0(%sum: f32):
      kernel.yield %sum : f32
    } : (!kernel.step, memref<1x512x!talc.stored<q8_256_sums>>, memref<1x512x16x!talc.stored<q4_0>>, memref<1x16xf32>) -> ()
  }
  return
}

// All of k passes at once as long as a panel, of 139264 bytes, takes no more than a quarter of L2; else the greatest part
// does whose panel takes no more. Tiles of two vectors of AVX-512 have six rows, seven and eight are tall ones; and each
// of the two pieces of a tile that is alone fetches half of the next panel's 34 lines for 32 of k.
// DEEP-LABEL: @deep(
// DEEP: block_depth = 2048, block_panels = 2, block_rows = 192,
// DEEP-SAME: fetch_next = 18,
// DEEP-SAME: tall_rows = 8, task_panels = 1, tile_columns = 32, tile_rows = 6, tile_steps = 32>
// DIVIDED-LABEL: @deep(
// DIVIDED: block_depth = 512, block_panels = 1, block_rows = 192,
// HALF-LABEL: @deep(
// HALF: tall_rows = 0, task_panels = 1, tile_columns = 8, tile_rows = 4, tile_steps = 32>
func.func @deep(%s: !kernel.step, %x: memref<?x2048x!talc.stored<q8_sums>>, %w: memref<2x2048x64x!talc.stored<q8_0>>,
                %y: memref<?x128xf32>) {
  kernel.tasks %s over tiles by rows {
  ^bb0(%r0: index, %r1: index, %p0: index, %p1: index, %next: index):
    kernel.matmul %s, %x, %w into %y {
    ^bb0(%sum: f32):
      kernel.yield %sum : f32
    } : (!kernel.step, memref<?x2048x!talc.stored<q8_sums>>, memref<2x2048x64x!talc.stored<q8_0>>, memref<?x128xf32>) -> ()
  }
  return
}
