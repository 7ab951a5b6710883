// SPDX-License-Identifier: Apache-2.0
// Kernels refuse states in panels that their vectors do not divide, or in formats that they do not encode.
// RUN: talc-opt %s -split-input-file -verify-diagnostics -expand-rows=lanes=16

func.func @narrow(%s: !kernel.step, %state: !talc.kv_cache<2 x 12 x 17 in #kernel.kv_panels<8 x f32>>, %x: memref<?x24xf32>) {
  // expected-error@+1 {{expected panels of f32, f16, bf16, q8_0 that vectors of 16 lanes divide}}
  kernel.kv_append %s, %state, %x, %x : !talc.kv_cache<2 x 12 x 17 in #kernel.kv_panels<8 x f32>>, memref<?x24xf32>, memref<?x24xf32>
  return
}

// -----

func.func @other(%s: !kernel.step, %state: !talc.kv_cache<2 x 12 x 17 in #kernel.kv_panels<16 x !talc.stored<q4_0>>>, %x: memref<?x24xf32>) {
  // expected-error@+1 {{expected panels of f32, f16, bf16, q8_0 that vectors of 16 lanes divide}}
  kernel.kv_append %s, %state, %x, %x : !talc.kv_cache<2 x 12 x 17 in #kernel.kv_panels<16 x !talc.stored<q4_0>>>, memref<?x24xf32>, memref<?x24xf32>
  return
}
