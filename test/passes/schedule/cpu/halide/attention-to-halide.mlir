// SPDX-License-Identifier: Apache-2.0
// attention-to-halide: both products of kernels that have the generator become calls, with what they compute on the
// declarations; masks and the softmax stay, and other kernels are left to expand-attention.
// RUN: talc-opt %s -assign-plans -attention-to-halide -canonicalize -cse | FileCheck %s
// RUN: talc-opt %s -assign-plans="lanes=16" -attention-to-halide="lanes=16" -canonicalize | FileCheck %s --check-prefix=WIDE

// CHECK-DAG: func.func private @attend_scores(index, index, index) -> i32 attributes {kernel.generator = {name = "halide", specification = {depth = 24 : i64, element = "f16", kind = "scores", lanes = 8 : i64, panel = 16 : i64, panels = 1 : i64, panels_of_row = 4 : i64, rows = 6 : i64}}}
// CHECK-DAG: func.func private @attend_values(index, index, index, index) -> i32 attributes {kernel.generator = {name = "halide", specification = {column_panels = 2 : i64, element = "f16", kind = "values", lanes = 8 : i64, panel = 16 : i64, panels = 1 : i64, panels_of_row = 4 : i64, rows = 6 : i64}}}
// WIDE: @attend_scores{{.*}}lanes = 16 : i64, panel = 16 : i64, panels = 4 : i64, panels_of_row = 4 : i64, rows = 6 : i64
// CHECK-LABEL: func.func @attend(
// CHECK-SAME: %{{.*}}: !kernel.step, %[[Q:[a-z0-9]+]]: memref<?x96xf32>
// CHECK-DAG: memref.alloca() : memref<76xindex>
// CHECK-DAG: %[[QUERIES:.*]] = memref.alloca() {alignment = 64 : i64} : memref<6x24xf32>
// CHECK: kernel.tasks {{.*}} grain
// The queries of a tile of six rows are copied side by side.
// CHECK: vector.load %{{.*}} : memref<24xf32
// CHECK: vector.store %{{.*}}, %[[QUERIES]]
// CHECK: call @attend_scores(
// CHECK: math.exp2
// CHECK: call @attend_values(%{{.*}}, %{{.*}}, %[[P:.*]], %[[P]])
// CHECK-NOT: kernel.attention
// CHECK: return
func.func @attend(%s: !kernel.step, %q: memref<?x96xf32>, %kv: !talc.kv_cache<2 x 24 x 200 in #kernel.kv_panels<16 x f16>>, %out: memref<?x96xf32>)
    attributes {kernel.op = "attention", kernel.generator = {name = "halide"}} {
  kernel.tasks %s over queries by heads {
  ^bb0(%p0: index, %p1: index, %p2: index, %p3: index, %p4: index):
    kernel.attention causal %s, %q, %kv heads 4 scale 0.25 window 0 into %out : (!kernel.step, memref<?x96xf32>, !talc.kv_cache<2 x 24 x 200 in #kernel.kv_panels<16 x f16>>, memref<?x96xf32>) -> ()
  }
  return
}

// Heads with keys of their own: queries are read where they lie.
// CHECK-LABEL: func.func @attend_heads(
// CHECK-SAME: %{{.*}}: !kernel.step, %[[Q:[a-z0-9]+]]: memref<?x48xf32>
// CHECK-NOT: memref<6x24xf32>
// CHECK: %[[QUERY:.*]] = memref.subview %[[Q]]
// CHECK-NOT: vector.load
// CHECK: call @attend_heads_scores(
// CHECK: return
func.func @attend_heads(%s: !kernel.step, %q: memref<?x48xf32>, %kv: !talc.kv_cache<2 x 24 x 200 in #kernel.kv_panels<16 x f16>>, %out: memref<?x48xf32>)
    attributes {kernel.op = "attention", kernel.generator = {name = "halide"}} {
  kernel.tasks %s over queries by heads {
  ^bb0(%p0: index, %p1: index, %p2: index, %p3: index, %p4: index):
    kernel.attention causal %s, %q, %kv heads 2 scale 0.25 window 0 into %out : (!kernel.step, memref<?x48xf32>, !talc.kv_cache<2 x 24 x 200 in #kernel.kv_panels<16 x f16>>, memref<?x48xf32>) -> ()
  }
  return
}

// A block of a single row's keys: its rows are the heads that share them.
// CHECK: func.func private @block_scores(
// CHECK: func.func private @block_values(
// CHECK-LABEL: func.func @block(
// CHECK: call @block_scores(
// CHECK: call @block_values(
// CHECK-NOT: kernel.attention
// CHECK: return
func.func @block(%s: !kernel.step, %q: memref<1x96xf32>, %kv: !talc.kv_cache<2 x 24 x 200 in #kernel.kv_panels<16 x f32>>, %out: memref<4x160xf32>)
    attributes {kernel.op = "attention", kernel.generator = {name = "halide"}} {
  kernel.tasks %s over keys by heads {
  ^bb0(%block: index, %head: index):
    kernel.attention causal %s, %q, %kv heads 4 scale 0.25 window 7 block 64 into %out : (!kernel.step, memref<1x96xf32>, !talc.kv_cache<2 x 24 x 200 in #kernel.kv_panels<16 x f32>>, memref<4x160xf32>) -> ()
  }
  return
}

// CHECK-LABEL: func.func @own(
// CHECK: kernel.attention
func.func @own(%s: !kernel.step, %q: memref<?x96xf32>, %kv: !talc.kv_cache<2 x 24 x 200 in #kernel.kv_panels<16 x f32>>, %out: memref<?x96xf32>)
    attributes {kernel.op = "attention"} {
  kernel.tasks %s over queries by heads {
  ^bb0(%p0: index, %p1: index, %p2: index, %p3: index, %p4: index):
    kernel.attention causal %s, %q, %kv heads 4 scale 0.25 window 0 into %out : (!kernel.step, memref<?x96xf32>, !talc.kv_cache<2 x 24 x 200 in #kernel.kv_panels<16 x f32>>, memref<?x96xf32>) -> ()
  }
  return
}
