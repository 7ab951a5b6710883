// SPDX-License-Identifier: Apache-2.0
// split-kv: which attentions leave their blocks apart, how they are combined, and that no barrier is added.
// RUN: talc-opt %s -split-kv | FileCheck %s
// RUN: talc-opt %s -split-kv=keys=64 | FileCheck %s --check-prefix=SMALL
// RUN: talc-opt %s -split-kv -divide-work -outline-kernels -insert-barriers | FileCheck %s --check-prefix=BARRIERS

// A single row with more keys than a block: 1000 keys are 2 blocks of 512. A block's row holds 4 heads x 16, 16 maxima
// and 16 sums.
// CHECK-LABEL: @decode(
// CHECK-SAME: %[[STEP:[a-z0-9]+]]: !kernel.step
// CHECK: kernel.kv_append
// CHECK: %[[Y:.*]] = memref.alloc() : memref<1x64xf32>
// CHECK: %[[PARTS:.*]] = memref.alloc() : memref<2x96xf32>
// CHECK: kernel.attention causal %[[STEP]], %{{.*}}, %{{.*}} heads 4 scale 2.500000e-01 window 0 block 512 into %[[PARTS]] :
// CHECK: kernel.combine %[[STEP]], %[[PARTS]] heads 4 window 0 block 512 into %[[Y]] : (!kernel.step, memref<2x96xf32>, memref<1x64xf32>) -> ()
// CHECK-NEXT: kernel.matmul
// SMALL-LABEL: @decode(
// SMALL: memref.alloc() : memref<16x96xf32>
// SMALL: block 64 into
// A barrier between a head's blocks and their sum, which every worker makes for itself, and none behind.
// BARRIERS-LABEL: @decode(
// BARRIERS: kernel.barrier
// BARRIERS-NEXT: call @kv_append
// BARRIERS: call @attention
// BARRIERS-NEXT: kernel.barrier
// BARRIERS-NEXT: call @combine
// BARRIERS-NEXT: call @matmul
// BARRIERS-NEXT: return
func.func @decode(%s: !kernel.step, %q: memref<1x64xf32>, %k: memref<1x32xf32>, %kv: !talc.kv_cache<2 x 16 x 1000 in #kernel.kv_panels<16 x f32>>, %w: memref<4x64x16xf32>, %out: memref<1x64xf32>) {
  kernel.kv_append %s, %kv, %k, %k : !talc.kv_cache<2 x 16 x 1000 in #kernel.kv_panels<16 x f32>>, memref<1x32xf32>, memref<1x32xf32>
  %y = memref.alloc() : memref<1x64xf32>
  kernel.attention causal %s, %q, %kv heads 4 scale 0.25 window 0 into %y : (!kernel.step, memref<1x64xf32>, !talc.kv_cache<2 x 16 x 1000 in #kernel.kv_panels<16 x f32>>, memref<1x64xf32>) -> ()
  kernel.matmul %s, %y, %w into %out {
  ^bb0(%sum: f32):
    kernel.yield %sum : f32
  } : (!kernel.step, memref<1x64xf32>, memref<4x64x16xf32>, memref<1x64xf32>) -> ()
  return
}

// Keys of a source.
// CHECK-LABEL: @source(
// CHECK: kernel.combine %{{.*}}, %{{.*}} heads 2 window 0 block 512 source into
func.func @source(%s: !kernel.step, %q: memref<1x32xf32>, %kv: !talc.kv_cache<2 x 16 x 1000, source in #kernel.kv_panels<16 x f32>>, %out: memref<1x32xf32>) {
  kernel.attention full %s, %q, %kv heads 2 scale 0.25 window 0 into %out : (!kernel.step, memref<1x32xf32>, !talc.kv_cache<2 x 16 x 1000, source in #kernel.kv_panels<16 x f32>>, memref<1x32xf32>) -> ()
  return
}

// A window.
// CHECK-LABEL: @window(
// CHECK: kernel.combine %{{.*}}, %{{.*}} heads 2 window 70 block 512 into
func.func @window(%s: !kernel.step, %q: memref<1x32xf32>, %kv: !talc.kv_cache<2 x 16 x 1000 in #kernel.kv_panels<16 x f32>>, %out: memref<1x32xf32>) {
  kernel.attention causal %s, %q, %kv heads 2 scale 0.25 window 70 into %out : (!kernel.step, memref<1x32xf32>, !talc.kv_cache<2 x 16 x 1000 in #kernel.kv_panels<16 x f32>>, memref<1x32xf32>) -> ()
  return
}

// Left alone: many rows have tasks enough; a single block; a head of more queries than a task has rows.
// CHECK-LABEL: @many_rows(
// CHECK-NOT: block
// CHECK-NOT: combine
// CHECK: return
func.func @many_rows(%s: !kernel.step, %q: memref<?x32xf32>, %kv: !talc.kv_cache<2 x 16 x 1000 in #kernel.kv_panels<16 x f32>>, %out: memref<?x32xf32>) {
  kernel.attention causal %s, %q, %kv heads 2 scale 0.25 window 0 into %out : (!kernel.step, memref<?x32xf32>, !talc.kv_cache<2 x 16 x 1000 in #kernel.kv_panels<16 x f32>>, memref<?x32xf32>) -> ()
  return
}
// CHECK-LABEL: @one_block(
// CHECK-NOT: combine
// CHECK: return
func.func @one_block(%s: !kernel.step, %q: memref<1x32xf32>, %kv: !talc.kv_cache<2 x 16 x 256 in #kernel.kv_panels<16 x f32>>, %out: memref<1x32xf32>) {
  kernel.attention causal %s, %q, %kv heads 2 scale 0.25 window 0 into %out : (!kernel.step, memref<1x32xf32>, !talc.kv_cache<2 x 16 x 256 in #kernel.kv_panels<16 x f32>>, memref<1x32xf32>) -> ()
  return
}
// CHECK-LABEL: @large_group(
// CHECK-NOT: combine
// CHECK: return
func.func @large_group(%s: !kernel.step, %q: memref<1x1024xf32>, %kv: !talc.kv_cache<1 x 16 x 1000 in #kernel.kv_panels<16 x f32>>, %out: memref<1x1024xf32>) {
  kernel.attention causal %s, %q, %kv heads 64 scale 0.25 window 0 into %out : (!kernel.step, memref<1x1024xf32>, !talc.kv_cache<1 x 16 x 1000 in #kernel.kv_panels<16 x f32>>, memref<1x1024xf32>) -> ()
  return
}

// A ring of 512 tokens has blocks that divide it, and one part more than blocks, since a window begins and ends within
// blocks; a block's part goes round as its keys do.
// CHECK-LABEL: @ring(
// CHECK: %[[PARTS:.*]] = memref.alloc() : memref<2x96xf32>
// CHECK: kernel.attention causal %{{.*}} window 300 block 512 into %[[PARTS]]
// CHECK: kernel.combine %{{.*}}, %[[PARTS]] heads 4 window 300 block 512 ring into
func.func @ring(%s: !kernel.step, %q: memref<1x64xf32>, %kv: !talc.kv_cache<2 x 16 x 512 window 300 in #kernel.kv_panels<16 x f32>>, %out: memref<1x64xf32>) {
  kernel.attention causal %s, %q, %kv heads 4 scale 0.25 window 300 into %out : (!kernel.step, memref<1x64xf32>, !talc.kv_cache<2 x 16 x 512 window 300 in #kernel.kv_panels<16 x f32>>, memref<1x64xf32>) -> ()
  return
}

// Tokens that are kept beside a window stay with it.
// CHECK-LABEL: @kept(
// CHECK-NOT: block
// CHECK: kernel.attention causal %{{.*}} sink_queries %{{.*}} window 300 into
func.func @kept(%s: !kernel.step, %q: memref<1x64xf32>, %kv: !talc.kv_cache<2 x 16 x 512 window 300 sink_tokens 4 in #kernel.kv_panels<16 x f32>>, %out: memref<1x64xf32>) {
  kernel.attention causal %s, %q, %kv sink_queries %q heads 4 scale 0.25 window 300 into %out : (!kernel.step, memref<1x64xf32>, !talc.kv_cache<2 x 16 x 512 window 300 sink_tokens 4 in #kernel.kv_panels<16 x f32>>, memref<1x64xf32>, memref<1x64xf32>) -> ()
  return
}
