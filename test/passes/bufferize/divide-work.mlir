// SPDX-License-Identifier: Apache-2.0
// divide-work: the share of every compute op, with many rows, with one, and for the rows of results.
// RUN: talc-opt %s -divide-work | FileCheck %s

#all = affine_map<(d0, d1) -> (d0, d1)>

// Row-wise ops go by rows, attention by heads; matmuls decide when the step runs.
// CHECK-LABEL: @many_rows
// CHECK: memref.alloc(%{{.*}}) : memref
// CHECK: kernel.tasks %{{.*}} over rows by rows {
// CHECK: kernel.gather ids
// CHECK: kernel.tasks %{{.*}} over rows by rows {
// CHECK: kernel.norm
// CHECK: kernel.tasks %{{.*}} over rows by rows {
// CHECK: kernel.rope
// CHECK: kernel.tasks %{{.*}} over rows by rows {
// CHECK: kernel.kv_append
// CHECK: kernel.tasks %{{.*}} over queries by heads {
// CHECK: kernel.attention
// CHECK: kernel.tasks %{{.*}} over tiles by adaptive {
// CHECK: kernel.matmul
// CHECK: kernel.tasks %{{.*}} over rows by rows {
// CHECK: memref.copy
func.func @many_rows(%s: !kernel.step, %rows: index, %kv: !talc.kv_cache<2 x 16 x 64 in #kernel.kv_panels<16 x f32>>, %table: memref<80x32xf32>, %angles: memref<64x16xf32>, %scale: memref<32xf32>, %w: memref<2x32x16xf32>, %out: memref<?x32xf32>) {
  %x = memref.alloc(%rows) : memref<?x32xf32>
  kernel.gather ids %s, %table plus 0 into %x : (!kernel.step, memref<80x32xf32>, memref<?x32xf32>) -> ()
  kernel.norm rms %s, %x, %scale epsilon 0.5 groups 1 into %x : (!kernel.step, memref<?x32xf32>, memref<32xf32>, memref<?x32xf32>) -> ()
  kernel.rope %s, %x, %angles heads 2 into %x : (!kernel.step, memref<?x32xf32>, memref<64x16xf32>, memref<?x32xf32>) -> ()
  kernel.kv_append %s, %kv, %x, %x : !talc.kv_cache<2 x 16 x 64 in #kernel.kv_panels<16 x f32>>, memref<?x32xf32>, memref<?x32xf32>
  kernel.attention causal %s, %x, %kv heads 2 scale 0.25 window 0 into %x : (!kernel.step, memref<?x32xf32>, !talc.kv_cache<2 x 16 x 64 in #kernel.kv_panels<16 x f32>>, memref<?x32xf32>) -> ()
  kernel.matmul %s, %x, %w into %x {
  ^bb0(%sum: f32):
    kernel.yield %sum : f32
  } : (!kernel.step, memref<?x32xf32>, memref<2x32x16xf32>, memref<?x32xf32>) -> ()
  memref.copy %x, %out : memref<?x32xf32> to memref<?x32xf32>
  return
}

// A row-wise op with one row is for every worker, in memory of its own; what goes to the caller has one writer.
// CHECK-LABEL: @one_row
// CHECK: memref.alloc() {kernel.per_worker}
// CHECK: memref.alloc() : memref<1x64xf32>
// CHECK: memref.alloc() {kernel.per_worker}
// CHECK: kernel.tasks %{{.*}} over rows by all {
// CHECK: kernel.norm
// CHECK: kernel.tasks %{{.*}} over tiles by columns {
// CHECK: kernel.matmul
// CHECK: kernel.tasks %{{.*}} over rows by all {
// CHECK: kernel.rope
// CHECK: kernel.tasks %{{.*}} over heads by heads {
// CHECK: kernel.kv_append
// CHECK: kernel.tasks %{{.*}} over queries by heads {
// CHECK: kernel.attention
// CHECK: kernel.tasks %{{.*}} over rows by rows {
// CHECK: linalg.generic
func.func @one_row(%s: !kernel.step, %x: memref<1x32xf32>, %kv: !talc.kv_cache<2 x 16 x 64 in #kernel.kv_panels<16 x f32>>, %angles: memref<64x16xf32>, %scale: memref<32xf32>, %w: memref<4x32x16xf32>, %out: memref<1x32xf32>) {
  %a = memref.alloc() : memref<1x32xf32>
  %b = memref.alloc() : memref<1x64xf32>
  %c = memref.alloc() : memref<1x32xf32>
  %d = memref.alloc() : memref<1x32xf32>
  kernel.norm rms %s, %x, %scale epsilon 0.5 groups 1 into %a : (!kernel.step, memref<1x32xf32>, memref<32xf32>, memref<1x32xf32>) -> ()
  kernel.matmul %s, %a, %w into %b {
  ^bb0(%sum: f32):
    kernel.yield %sum : f32
  } : (!kernel.step, memref<1x32xf32>, memref<4x32x16xf32>, memref<1x64xf32>) -> ()
  %q = memref.subview %b[0, 0] [1, 32] [1, 1] : memref<1x64xf32> to memref<1x32xf32, strided<[64, 1]>>
  kernel.rope %s, %q, %angles heads 2 into %c : (!kernel.step, memref<1x32xf32, strided<[64, 1]>>, memref<64x16xf32>, memref<1x32xf32>) -> ()
  kernel.kv_append %s, %kv, %c, %c : !talc.kv_cache<2 x 16 x 64 in #kernel.kv_panels<16 x f32>>, memref<1x32xf32>, memref<1x32xf32>
  kernel.attention causal %s, %c, %kv heads 2 scale 0.25 window 0 into %d : (!kernel.step, memref<1x32xf32>, !talc.kv_cache<2 x 16 x 64 in #kernel.kv_panels<16 x f32>>, memref<1x32xf32>) -> ()
  linalg.generic {indexing_maps = [#all, #all, #all], iterator_types = ["parallel", "parallel"]} ins(%x, %d : memref<1x32xf32>, memref<1x32xf32>) outs(%out : memref<1x32xf32>) {
  ^bb0(%p: f32, %r: f32, %o: f32):
    %sum = arith.addf %p, %r : f32
    linalg.yield %sum : f32
  }
  return
}

// Memory that compute ops of another division write, too, belongs to all threads; so does a block's destination.
// CHECK-LABEL: @other_writers
// CHECK-NOT: kernel.per_worker
// CHECK: kernel.tasks %{{.*}} over rows by rows {
// CHECK: kernel.norm
// CHECK: kernel.tasks %{{.*}} over rows by rows {
// CHECK: kernel.norm
func.func @other_writers(%s: !kernel.step, %x: memref<1x32xf32>, %kv: !talc.kv_cache<2 x 16 x 64 in #kernel.kv_panels<16 x f32>>, %scale: memref<32xf32>, %out: memref<1x32xf32>) {
  %a = memref.alloc() : memref<1x32xf32>
  %b = memref.alloc() : memref<1x32xf32>
  kernel.norm rms %s, %x, %scale epsilon 0.5 groups 1 into %a : (!kernel.step, memref<1x32xf32>, memref<32xf32>, memref<1x32xf32>) -> ()
  kernel.attention causal %s, %x, %kv heads 2 scale 0.25 window 0 into %a : (!kernel.step, memref<1x32xf32>, !talc.kv_cache<2 x 16 x 64 in #kernel.kv_panels<16 x f32>>, memref<1x32xf32>) -> ()
  kernel.norm rms %s, %a, %scale epsilon 0.5 groups 1 into %b : (!kernel.step, memref<1x32xf32>, memref<32xf32>, memref<1x32xf32>) -> ()
  call @block(%s, %a, %b) : (!kernel.step, memref<1x32xf32>, memref<1x32xf32>) -> ()
  memref.copy %b, %out : memref<1x32xf32> to memref<1x32xf32>
  return
}
func.func private @block(%s: !kernel.step, %x: memref<1x32xf32>, %out: memref<1x32xf32>) {
  memref.copy %x, %out : memref<1x32xf32> to memref<1x32xf32>
  return
}

// However many queries share a head's keys, its worker appends them.
// CHECK-LABEL: @many_queries
// CHECK: kernel.tasks %{{.*}} over heads by heads {
// CHECK: kernel.kv_append
// CHECK: kernel.tasks %{{.*}} over queries by heads {
// CHECK: kernel.attention
func.func @many_queries(%s: !kernel.step, %kv: !talc.kv_cache<1 x 8 x 64 in #kernel.kv_panels<16 x f32>>, %k: memref<1x8xf32>, %q: memref<1x392xf32>, %out: memref<1x392xf32>) {
  kernel.kv_append %s, %kv, %k, %k : !talc.kv_cache<1 x 8 x 64 in #kernel.kv_panels<16 x f32>>, memref<1x8xf32>, memref<1x8xf32>
  kernel.attention causal %s, %q, %kv heads 49 scale 0.25 window 0 into %out : (!kernel.step, memref<1x392xf32>, !talc.kv_cache<1 x 8 x 64 in #kernel.kv_panels<16 x f32>>, memref<1x392xf32>) -> ()
  return
}

// Results are few rows: their matmuls always go by columns.
// CHECK-LABEL: @outputs
// CHECK: kernel.tasks %{{.*}} over rows by rows {
// CHECK: kernel.gather outputs
// CHECK: kernel.tasks %{{.*}} over tiles by columns {
// CHECK: kernel.tasks %{{.*}} over tiles by columns {
func.func @outputs(%s: !kernel.step, %x: memref<?x32xf32>, %w: memref<2x32x16xf32>) {
  %count = kernel.output_count %s 0
  %a = memref.alloc(%count) : memref<?x32xf32>
  %b = memref.alloc(%count) : memref<?x32xf32>
  %out = kernel.output %s 0 : memref<?x32xf32>
  kernel.gather outputs %s, %x plus 0 into %a : (!kernel.step, memref<?x32xf32>, memref<?x32xf32>) -> ()
  kernel.matmul %s, %a, %w into %b {
  ^bb0(%sum: f32):
    kernel.yield %sum : f32
  } : (!kernel.step, memref<?x32xf32>, memref<2x32x16xf32>, memref<?x32xf32>) -> ()
  kernel.matmul %s, %b, %w into %out {
  ^bb0(%sum: f32):
    kernel.yield %sum : f32
  } : (!kernel.step, memref<?x32xf32>, memref<2x32x16xf32>, memref<?x32xf32>) -> ()
  return
}
