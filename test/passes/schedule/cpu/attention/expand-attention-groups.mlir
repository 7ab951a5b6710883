// SPDX-License-Identifier: Apache-2.0
// expand-attention: queries of a lone token that share a head are one tile, which fetches the panels that come next, where
// the processor drops fetches that it has no room for.
// RUN: talc-opt %s -assign-plans="lanes=16 drops-prefetches" -expand-attention=lanes=16 -distribute-tasks -canonicalize -cse | FileCheck %s
// RUN: talc-opt %s -assign-plans=lanes=16 -expand-attention=lanes=16 | FileCheck %s --check-prefix=WAITS
// RUN: talc-opt %s -assign-plans="lanes=8 drops-prefetches" -expand-attention=lanes=8 | FileCheck %s --check-prefix=WAITS
// WAITS-NOT: memref.prefetch

// Eight rows by three panels of keys; of features two vectors at a time. Every vector of a tile has a line that is fetched.
// CHECK-LABEL: @eight
// CHECK: %[[ALONE:.*]] = arith.cmpi slt, %tokens, %c2
// CHECK: scf.if %[[ALONE]]
// CHECK: -> (vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>) {
// CHECK: memref.prefetch %{{.*}}, read, locality<3>, data : memref<?xf32>
// CHECK: -> (vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>) {
// CHECK: memref.prefetch %{{.*}}, read, locality<3>, data : memref<?xf32>
// CHECK: return
func.func @eight(%s: !kernel.step, %q: memref<?x1024xf32>, %kv: !talc.kv_cache<2 x 64 x 256 in #kernel.kv_panels<16 x f32>>, %out: memref<?x1024xf32>) {
  kernel.tasks %s over queries by heads {
  ^bb0(%sequence: index, %head: index, %heads: index, %row: index, %rows: index):
    kernel.attention causal %s, %q, %kv heads 16 scale 0.25 window 0 into %out : (!kernel.step, memref<?x1024xf32>, !talc.kv_cache<2 x 64 x 256 in #kernel.kv_panels<16 x f32>>, memref<?x1024xf32>) -> ()
  }
  return
}

// Chains are too few, or registers.
// CHECK-LABEL: @three
// CHECK-NOT: memref.prefetch
// CHECK: return
func.func @three(%s: !kernel.step, %q: memref<?x384xf32>, %kv: !talc.kv_cache<2 x 64 x 256 in #kernel.kv_panels<16 x f32>>, %out: memref<?x384xf32>) {
  kernel.tasks %s over queries by heads {
  ^bb0(%sequence: index, %head: index, %heads: index, %row: index, %rows: index):
    kernel.attention causal %s, %q, %kv heads 6 scale 0.25 window 0 into %out : (!kernel.step, memref<?x384xf32>, !talc.kv_cache<2 x 64 x 256 in #kernel.kv_panels<16 x f32>>, memref<?x384xf32>) -> ()
  }
  return
}

// CHECK-LABEL: @nine
// CHECK-NOT: memref.prefetch
// CHECK: return
func.func @nine(%s: !kernel.step, %q: memref<?x1152xf32>, %kv: !talc.kv_cache<2 x 64 x 256 in #kernel.kv_panels<16 x f32>>, %out: memref<?x1152xf32>) {
  kernel.tasks %s over queries by heads {
  ^bb0(%sequence: index, %head: index, %heads: index, %row: index, %rows: index):
    kernel.attention causal %s, %q, %kv heads 18 scale 0.25 window 0 into %out : (!kernel.step, memref<?x1152xf32>, !talc.kv_cache<2 x 64 x 256 in #kernel.kv_panels<16 x f32>>, memref<?x1152xf32>) -> ()
  }
  return
}

// Keys and values of different elements.
// CHECK-LABEL: @mixed
// CHECK-NOT: memref.prefetch
// CHECK: return
func.func @mixed(%s: !kernel.step, %q: memref<?x1024xf32>, %kv: !talc.kv_cache<2 x 64 x 256 in #kernel.kv_panels<16 x f32, f16>>, %out: memref<?x1024xf32>) {
  kernel.tasks %s over queries by heads {
  ^bb0(%sequence: index, %head: index, %heads: index, %row: index, %rows: index):
    kernel.attention causal %s, %q, %kv heads 16 scale 0.25 window 0 into %out : (!kernel.step, memref<?x1024xf32>, !talc.kv_cache<2 x 64 x 256 in #kernel.kv_panels<16 x f32, f16>>, memref<?x1024xf32>) -> ()
  }
  return
}
