// SPDX-License-Identifier: Apache-2.0
// plan-memory: who shares a place in the arena and who does not, per token, fixed and per worker; offsets of weights and
// states; the plan of the module.
// RUN: talc-opt %s -split-input-file -plan-memory | FileCheck %s

// A chain of buffers of 128 bytes per token. b is made before the barrier after a's last use, so they differ; c comes
// after it and takes a's place. A view keeps its buffer alive: d takes b's place, not c's.
// CHECK: talc.plan = {arena_bytes_fixed = 0 : i64, arena_bytes_per_thread = 0 : i64, arena_bytes_per_token = 256 : i64,
// CHECK-LABEL: func.func @chain(
// CHECK-SAME: %[[STEP:[a-z0-9]+]]: !kernel.step, %[[ROWS:[a-z0-9]+]]: index
// CHECK-NOT: memref.alloc
// CHECK: %[[A:.*]] = kernel.arena %[[STEP]] rows %[[ROWS]] at 0 plus 0 by_worker 0 : memref<?x32xf32>
// CHECK: %[[B:.*]] = kernel.arena %[[STEP]] rows %[[ROWS]] at 128 plus 0 by_worker 0
// CHECK: call @use(%[[STEP]], %[[A]], %[[B]])
// CHECK: %[[C:.*]] = kernel.arena %[[STEP]] rows %[[ROWS]] at 0 plus 0 by_worker 0
// CHECK: call @use(%[[STEP]], %[[B]], %[[C]])
// CHECK: %[[D:.*]] = kernel.arena %[[STEP]] rows %[[ROWS]] at 128 plus 0 by_worker 0
func.func @chain(%s: !kernel.step, %rows: index) {
  %a = memref.alloc(%rows) : memref<?x32xf32>
  %b = memref.alloc(%rows) : memref<?x32xf32>
  call @use(%s, %a, %b) : (!kernel.step, memref<?x32xf32>, memref<?x32xf32>) -> ()
  kernel.barrier %s
  %c = memref.alloc(%rows) : memref<?x32xf32>
  call @use(%s, %b, %c) : (!kernel.step, memref<?x32xf32>, memref<?x32xf32>) -> ()
  %view = memref.subview %c[0, 0] [%rows, 16] [1, 1] : memref<?x32xf32> to memref<?x16xf32, strided<[32, 1]>>
  kernel.barrier %s
  %d = memref.alloc(%rows) : memref<?x32xf32>
  call @view(%s, %view, %d) : (!kernel.step, memref<?x16xf32, strided<[32, 1]>>, memref<?x32xf32>) -> ()
  return
}
func.func private @use(%0: !kernel.step, %1: memref<?x32xf32>, %2: memref<?x32xf32>) attributes {kernel.op = "copy"} {
  return
}
func.func private @view(%0: !kernel.step, %1: memref<?x16xf32, strided<[32, 1]>>, %2: memref<?x32xf32>) attributes {kernel.op = "copy"} {
  return
}

// -----

// A barrier that steps divided by rows skip, or none at all, frees nothing.
// CHECK: arena_bytes_per_token = 256 : i64
// CHECK-LABEL: func.func @skipped(
// CHECK: at 0 plus 0
// CHECK: at 128 plus 0
func.func @skipped(%s: !kernel.step, %rows: index) {
  %a = memref.alloc(%rows) : memref<?x32xf32>
  call @use(%s, %a) : (!kernel.step, memref<?x32xf32>) -> ()
  kernel.barrier %s unless_token_parallel
  %b = memref.alloc(%rows) : memref<?x32xf32>
  call @use(%s, %b) : (!kernel.step, memref<?x32xf32>) -> ()
  return
}
func.func private @use(%0: !kernel.step, %1: memref<?x32xf32>) attributes {kernel.op = "copy"} {
  return
}

// -----

// A block's call separates what was used before it from what comes after it, but not what it was given. Its own
// buffers lie behind those of all its callers. Sizes are rounded up to 64 bytes; the largest buffer is placed first.
// CHECK: talc.plan = {arena_bytes_fixed = 0 : i64, arena_bytes_per_thread = 0 : i64, arena_bytes_per_token = 832 : i64,
// CHECK-LABEL: func.func @caller(
// CHECK: %[[X:.*]] = kernel.arena {{.*}} at 512 plus 0 by_worker 0 : memref<?x33xf32>
// CHECK: %[[Y:.*]] = kernel.arena {{.*}} at 0 plus 0 by_worker 0 : memref<?x128xf32>
// CHECK: call @block(%{{.*}}, %{{.*}}, %[[Y]])
// CHECK: kernel.arena {{.*}} at 512 plus 0 by_worker 0 : memref<?x33xf32>
// CHECK-LABEL: func.func @small_caller(
// CHECK: kernel.arena {{.*}} at 0 plus 0 by_worker 0 : memref<?x128xf32>
// CHECK-LABEL: func.func private @block(
// CHECK: kernel.arena {{.*}} at 704 plus 0 by_worker 0 : memref<?x32xf32>
func.func @caller(%s: !kernel.step, %rows: index) {
  %x = memref.alloc(%rows) : memref<?x33xf32>
  %y = memref.alloc(%rows) : memref<?x128xf32>
  call @narrow(%s, %x) : (!kernel.step, memref<?x33xf32>) -> ()
  call @block(%s, %rows, %y) : (!kernel.step, index, memref<?x128xf32>) -> ()
  %z = memref.alloc(%rows) : memref<?x33xf32>
  call @narrow(%s, %z) : (!kernel.step, memref<?x33xf32>) -> ()
  return
}
func.func @small_caller(%s: !kernel.step, %rows: index) {
  %y = memref.alloc(%rows) : memref<?x128xf32>
  call @block(%s, %rows, %y) : (!kernel.step, index, memref<?x128xf32>) -> ()
  return
}
func.func private @block(%s: !kernel.step, %rows: index, %y: memref<?x128xf32>) {
  kernel.barrier %s
  %t = memref.alloc(%rows) : memref<?x32xf32>
  call @use(%s, %t) : (!kernel.step, memref<?x32xf32>) -> ()
  return
}
func.func private @use(%0: !kernel.step, %1: memref<?x32xf32>) attributes {kernel.op = "copy"} {
  return
}
func.func private @narrow(%0: !kernel.step, %1: memref<?x33xf32>) attributes {kernel.op = "copy"} {
  return
}

// -----

// Fixed buffers begin behind all per-token ones, those of threads behind all fixed ones.
// CHECK: talc.plan = {arena_bytes_fixed = 256 : i64, arena_bytes_per_thread = 192 : i64, arena_bytes_per_token = 128 : i64,
// CHECK-LABEL: func.func @kinds(
// CHECK: at 0 plus 0 by_worker 0 : memref<?x32xf32>
// CHECK: at 128 plus 0 by_worker 0 : memref<1x32xf32>
// CHECK: at 128 plus 128 by_worker 0 : memref<1x32xf32>
// CHECK: at 128 plus 256 by_worker 192 : memref<1x32xf32>
// CHECK: at 128 plus 384 by_worker 192 : memref<1x16xf32>
func.func @kinds(%s: !kernel.step, %rows: index) {
  %a = memref.alloc(%rows) : memref<?x32xf32>
  %b = memref.alloc() : memref<1x32xf32>
  %c = memref.alloc() : memref<1x32xf32>
  %d = memref.alloc() {kernel.per_worker} : memref<1x32xf32>
  %e = memref.alloc() {kernel.per_worker} : memref<1x16xf32>
  call @use(%s, %a, %b, %c, %d, %e) : (!kernel.step, memref<?x32xf32>, memref<1x32xf32>, memref<1x32xf32>, memref<1x32xf32>, memref<1x16xf32>) -> ()
  return
}
func.func private @use(%0: !kernel.step, %1: memref<?x32xf32>, %2: memref<1x32xf32>, %3: memref<1x32xf32>, %4: memref<1x32xf32>, %5: memref<1x16xf32>) attributes {kernel.op = "copy"} {
  return
}

// -----

// Weights that nothing reads take no place; the others begin at multiples of 64. A state of w features takes
// heads * panels * 16 * (w + w rounded up to 16) * 4 bytes; a slot is a multiple of 4096.
// CHECK: state_bytes_per_slot = 12288 : i64, state_bytes_per_token = 512 : i64, state_token_group = 16 : i64, weight_bytes = 622329984 : i64}
// CHECK: talc.weight @unused
// CHECK-NOT: offset
// CHECK: talc.weight @small {{.*}}offset = 0 : i64
// CHECK: talc.weight @large {{.*}}offset = 64 : i64
// CHECK: talc.weight @last {{.*}}offset = 622329920 : i64
// CHECK: talc.kv_cache @a {{.*}}offset = 0 : i64
// CHECK: talc.kv_cache @b {{.*}}offset = 7168 : i64
talc.weight @unused : tensor<32xf32> = #talc.fill<1.0>
talc.weight @small : tensor<3xbf16> = #talc.fill<1.0>
talc.weight @large : tensor<151936x1024xf32> = #talc.fill<1.0>
talc.weight @last : tensor<1xf32> = #talc.fill<1.0>
talc.kv_cache @a : !talc.kv_cache<2 x 12 x 17 in #kernel.kv_panels<16 x f32>>
talc.kv_cache @b : !talc.kv_cache<3 x 8 x 16 in #kernel.kv_panels<16 x f32>>
func.func @weights(%s: !kernel.step) attributes {talc.entry} {
  %a = kernel.weight %s @small : memref<3xbf16>
  %b = kernel.weight %s @large : memref<151936x1024xf32>
  %c = kernel.weight %s @last : memref<1xf32>
  %o = kernel.output %s 0 : memref<?x80xf32>
  return
}

// -----

// Sizes beyond 32 bits: 10^9 features are 4 * 10^9 bytes per token; keys and values of 40960 tokens.
// CHECK: arena_bytes_per_token = 4000000000 : i64, source_bytes_per_token = 0 : i64, state_bytes_per_slot = 10737418240 : i64, state_bytes_per_token = 262144 : i64
// CHECK: talc.kv_cache @b {{.*}}offset = 5368709120 : i64
talc.kv_cache @a : !talc.kv_cache<128 x 128 x 40960 in #kernel.kv_panels<16 x f32>>
talc.kv_cache @b : !talc.kv_cache<128 x 128 x 40960 in #kernel.kv_panels<16 x f32>>
func.func @large(%s: !kernel.step, %rows: index) {
  %a = memref.alloc(%rows) : memref<?x1000000000xf32>
  call @use(%s, %a) : (!kernel.step, memref<?x1000000000xf32>) -> ()
  return
}
func.func private @use(%0: !kernel.step, %1: memref<?x1000000000xf32>) attributes {kernel.op = "copy"} {
  return
}

// -----

// Tokens of a source are counted by themselves, with what their encoder needs for a step.
// CHECK: source_bytes_per_token = 384 : i64, state_bytes_per_slot = 16384 : i64, state_bytes_per_token = 128 : i64
talc.kv_cache @text : !talc.kv_cache<1 x 16 x 32 in #kernel.kv_panels<16 x f32>>
talc.kv_cache @source : !talc.kv_cache<2 x 16 x 32, source in #kernel.kv_panels<16 x f32>>
talc.kv_cache @scratch : !talc.kv_cache<1 x 16 x 32, step in #kernel.kv_panels<16 x f32>>
func.func @sources(%s: !kernel.step) {
  return
}
