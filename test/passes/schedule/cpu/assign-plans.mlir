// SPDX-License-Identifier: Apache-2.0
// assign-plans: the cost model's parameters for narrow and wide vectors; the program and the option override it; the
// loops follow.
// RUN: talc-opt %s -assign-plans | FileCheck %s
// RUN: talc-opt %s -assign-plans=lanes=16 | FileCheck %s --check-prefix=WIDE
// RUN: talc-opt %s '-assign-plans=plans={mat*: tile_rows = 3, share_tasks = 2; matmul: tile_rows = 5}' --remarks-filter=schedule -o %t.mlir 2>&1 | FileCheck %s --check-prefix=REMARK
// RUN: FileCheck %s --check-prefix=WISH < %t.mlir
// RUN: talc-opt %t.mlir -assign-plans=lanes=16 | FileCheck %s --check-prefix=WISH
// RUN: talc-opt %t.mlir -expand-matmul | FileCheck %s --check-prefix=LOOPS
// RUN: not talc-opt %s '-assign-plans=plans={m*: tile_columns = 12}' 2>&1 | FileCheck %s --check-prefix=LANES
// RUN: not talc-opt %s '-assign-plans=plans={m*: block_depth = 5}' 2>&1 | FileCheck %s --check-prefix=DEPTH
// RUN: not talc-opt %s '-assign-plans=plans={m*: stream_rows = 24, stream_depth = 5}' 2>&1 | FileCheck %s --check-prefix=STREAM
// RUN: not talc-opt %s '-assign-plans=lanes=16 plans={matmul: tall_rows = 8}' 2>&1 | FileCheck %s --check-prefix=HALVES
// RUN: not talc-opt %s '-assign-plans=plans={m*: tile_rows = 17}' 2>&1 | FileCheck %s --check-prefix=RANGE
// RUN: not talc-opt %s '-assign-plans=plans={m*: tile_height = 1}' 2>&1 | FileCheck %s --check-prefix=NAME
// RUN: talc-opt %s '-assign-plans=plans={softmax: by_halide = 1; *: unroll = 4}' | FileCheck %s --check-prefix=ROWS
// RUN: not talc-opt %s '-assign-plans=plans={*: unroll = 17}' 2>&1 | FileCheck %s --check-prefix=UNROLL
// RUN: not talc-opt %s '-assign-plans=plans={matmul tile_rows}' 2>&1 | FileCheck %s --check-prefix=FORM
// RUN: not talc-opt %s '-assign-plans=plans={m*: tile_rows = 16, tile_columns = 48}' 2>&1 | FileCheck %s --check-prefix=SPILL
// RUN: talc-opt %s '-assign-plans=plans={@00: tile_rows = 3; none: tile_rows = 3}' | FileCheck %s

// CHECK-LABEL: @matmul
// CHECK: kernel.tasks %{{.*}} over tiles by rows plan <block_depth = 8, block_panels = 3, block_rows = 192, by_halide = 0, by_panels = 0,
// CHECK-SAME: claimed_rows = 24, fetch_ahead = 0, fetch_first = 0, fetch_level = 2, fetch_next = 2, fetch_rows = 1, layout_rows = 0, row_columns = 64, share_rows = 32, share_tasks = 8,
// CHECK-SAME: stream_depth = 8, stream_rows = 0, tall_rows = 0, task_panels = 1, tile_columns = 16, tile_rows = 6, tile_steps = 4>
// WIDE-LABEL: @matmul
// Panels of 16 lanes have no halves; of 64 lanes they have, unless rows lie in the same sets of L1.
// WIDE: row_columns = 256, {{.*}} tall_rows = 0, task_panels = 3, tile_columns = 64, tile_rows = 6, tile_steps = 2>
// WISH-LABEL: @matmul
// WISH: share_tasks = 2, stream_depth = 8, stream_rows = 0, tall_rows = 0, task_panels = 1, tile_columns = 16, tile_rows = 5, tile_steps = 4>
// REMARK-DAG: assign-plans{{.*}}Function=matmul{{.*}}plan override: {{.*}}tile_rows = 5
// REMARK-DAG: assign-plans{{.*}}Function=softmax{{.*}}cost model: by_halide = 0, unroll = 1
// REMARK-DAG: assign-plans{{.*}}Function=attend{{.*}}cost model: block_keys = 64, by_halide = 0, chunk_keys = 64, fetch_next = 0, task_rows = 48
// LANES: cannot have this plan: tile_columns and row_columns must be multiples of 8, the lanes of a vector
// DEPTH: cannot have this plan: block_depth does not divide 8
// STREAM: cannot have this plan: stream_depth does not divide 8
// HALVES: cannot have this plan: tall_rows needs panels as wide as a tile, of two or more vectors
// SPILL: 'kernel.tasks' op of kernel matmul cannot have this plan: a tile of 11 rows would have 66 vectors of sums, expected at most 64
// RANGE: cannot have this plan: tile_rows is 17, expected 1 to 16
// NAME: plans: unknown tuning parameter 'tile_height'
// UNROLL: cannot have this plan: unroll is 17, expected 1 to 16
// FORM: plans: 'matmul tile_rows' is not KERNEL: NAME = NUMBER, ...
// Tiles of five rows, two vectors each.
// LOOPS-LABEL: @matmul
// LOOPS: -> (vector<8xf32>, vector<8xf32>, vector<8xf32>, vector<8xf32>, vector<8xf32>, vector<8xf32>, vector<8xf32>, vector<8xf32>, vector<8xf32>, vector<8xf32>) {
// LOOPS-NOT: -> (vector<8xf32>, vector<8xf32>, vector<8xf32>, vector<8xf32>, vector<8xf32>, vector<8xf32>, vector<8xf32>, vector<8xf32>, vector<8xf32>, vector<8xf32>, vector<8xf32>
// LOOPS: return
func.func @matmul(%s: !kernel.step, %x: memref<?x8xf32>, %w: memref<3x8x16xf32>, %out: memref<?x48xf32>) {
  kernel.tasks %s over tiles by rows {
  ^bb0(%row: index, %end: index, %panel: index, %panelEnd: index, %next: index):
    kernel.matmul %s, %x, %w into %out {
    ^bb0(%sum: f32):
      kernel.yield %sum : f32
    } : (!kernel.step, memref<?x8xf32>, memref<3x8x16xf32>, memref<?x48xf32>) -> ()
  }
  return
}

// CHECK-LABEL: @attend
// CHECK: kernel.tasks %{{.*}} over queries by heads plan <block_keys = 64, by_halide = 0, chunk_keys = 64, fetch_next = 0, task_rows = 48> {
func.func @attend(%s: !kernel.step, %q: memref<?x16xf32>, %kv: !talc.kv_cache<1 x 16 x 64 in #kernel.kv_panels<16 x f32>>, %out: memref<?x16xf32>) {
  kernel.tasks %s over queries by heads {
  ^bb0(%sequence: index, %head: index, %heads: index, %row: index, %rows: index):
    kernel.attention causal %s, %q, %kv heads 1 scale 0.25 window 0 into %out : (!kernel.step, memref<?x16xf32>, !talc.kv_cache<1 x 16 x 64 in #kernel.kv_panels<16 x f32>>, memref<?x16xf32>) -> ()
  }
  return
}

// Some row-wise ops can be made by other generators.
// CHECK-LABEL: @softmax
// CHECK: kernel.tasks %{{.*}} over rows by rows plan <by_halide = 0, unroll = 1> {
// ROWS-LABEL: @softmax
// ROWS: plan <by_halide = 1, unroll = 4>
func.func @softmax(%s: !kernel.step, %x: memref<?x40xf32>, %y: memref<?x40xf32>) {
  kernel.tasks %s over rows by rows {
  ^bb0(%first: index, %end: index):
    kernel.softmax %s, %x into %y : (!kernel.step, memref<?x40xf32>, memref<?x40xf32>) -> ()
  }
  return
}

// WIDE-LABEL: @tall
// WIDE: tall_rows = 8,
func.func @tall(%s: !kernel.step, %x: memref<?x8xf32>, %w: memref<3x8x64xf32>, %out: memref<?x192xf32>) {
  kernel.tasks %s over tiles by rows {
  ^bb0(%row: index, %end: index, %panel: index, %panelEnd: index, %next: index):
    kernel.matmul %s, %x, %w into %out {
    ^bb0(%sum: f32):
      kernel.yield %sum : f32
    } : (!kernel.step, memref<?x8xf32>, memref<3x8x64xf32>, memref<?x192xf32>) -> ()
  }
  return
}

// CHECK-LABEL: @copy
// CHECK: kernel.tasks %{{.*}} over rows by all plan <unroll = 1> {
// ROWS-LABEL: @copy
// ROWS: plan <unroll = 4>
func.func @copy(%s: !kernel.step, %x: memref<1x40xf32>, %y: memref<1x40xf32>) {
  kernel.tasks %s over rows by all {
  ^bb0(%first: index, %end: index):
    memref.copy %x, %y : memref<1x40xf32> to memref<1x40xf32>
  }
  return
}

// WIDE-LABEL: @collide
// WIDE: tall_rows = 0,
func.func @collide(%s: !kernel.step, %x: memref<?x2048xf32>, %w: memref<3x2048x64xf32>, %out: memref<?x192xf32>) {
  kernel.tasks %s over tiles by rows {
  ^bb0(%row: index, %end: index, %panel: index, %panelEnd: index, %next: index):
    kernel.matmul %s, %x, %w into %out {
    ^bb0(%sum: f32):
      kernel.yield %sum : f32
    } : (!kernel.step, memref<?x2048xf32>, memref<3x2048x64xf32>, memref<?x192xf32>) -> ()
  }
  return
}
