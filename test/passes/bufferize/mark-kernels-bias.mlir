// SPDX-License-Identifier: Apache-2.0
// mark-kernels: the bias of an attention is read once per call, 2 heads * 127 distances * 4 bytes.
// RUN: talc-opt %s -mark-kernels | FileCheck %s

// CHECK: talc.kernels = [
// CHECK-SAME: name = "attention", {{[^}]*}}shapes = "2/1 heads x 16 bias", {{[^}]*}}stored_bytes_per_call = 1016 : i64
module {
talc.kv_cache @kv : !talc.kv_cache<1 x 16 x 64 in #kernel.kv_panels<16 x f32>>
func.func @prefill(%step: !kernel.step) attributes {talc.entry, talc.entry_name = "prefill"} {
  %kv = kernel.kv_cache @kv : !talc.kv_cache<1 x 16 x 64 in #kernel.kv_panels<16 x f32>>
  %rows = kernel.token_count %step
  %x = kernel.arena %step rows %rows at 0 plus 0 by_worker 0 : memref<?x32xf32>
  %bias = kernel.arena %step at 128 plus 0 by_worker 0 : memref<2x127xf32>
  call @attention(%step, %x, %kv, %bias, %x) : (!kernel.step, memref<?x32xf32>, !talc.kv_cache<1 x 16 x 64 in #kernel.kv_panels<16 x f32>>, memref<2x127xf32>, memref<?x32xf32>) -> ()
  return
}
func.func private @attention(%step: !kernel.step, %x: memref<?x32xf32>, %kv: !talc.kv_cache<1 x 16 x 64 in #kernel.kv_panels<16 x f32>>, %bias: memref<2x127xf32>, %y: memref<?x32xf32>) attributes {kernel.op = "attention"} {
  kernel.tasks %step over queries by heads {
  ^bb0(%p0: index, %p1: index, %p2: index, %p3: index, %p4: index):
    kernel.attention full %step, %x, %kv bias %bias heads 2 scale 0.25 window 0 into %y : (!kernel.step, memref<?x32xf32>, !talc.kv_cache<1 x 16 x 64 in #kernel.kv_panels<16 x f32>>, memref<2x127xf32>, memref<?x32xf32>) -> ()
  }
  return
}
}
