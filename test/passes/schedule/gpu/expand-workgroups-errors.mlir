// SPDX-License-Identifier: Apache-2.0
// Formats that are not for states.
// RUN: talc-opt %s -expand-workgroups -verify-diagnostics

func.func @other(%s: !kernel.step, %state: !talc.kv_cache<2 x 32 x 17 in #kernel.kv_panels<16 x !talc.stored<q4_0>>>, %x: memref<?x64xf32>) {
  // expected-error @+1 {{expected panels of f32, f16, bf16, q8_0}}
  kernel.kv_append %s, %state, %x, %x : !talc.kv_cache<2 x 32 x 17 in #kernel.kv_panels<16 x !talc.stored<q4_0>>>, memref<?x64xf32>, memref<?x64xf32>
  return
}
