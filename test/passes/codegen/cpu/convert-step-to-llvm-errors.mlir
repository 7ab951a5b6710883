// SPDX-License-Identifier: Apache-2.0
// convert-step-to-llvm: weights and KV caches without an offset are named, and compute ops that stage schedule left.
// RUN: talc-opt %s -convert-step-to-llvm -split-input-file -verify-diagnostics

func.func @unknown(%s: !kernel.step) {
  // expected-error@+1 {{has no offset in memory; plan-memory assigns one}}
  %w = kernel.weight %s @missing : memref<4xf32>
  return
}

// -----

talc.kv_cache @cache : !talc.kv_cache<1 x 8 x 4 in #kernel.kv_panels<16 x f32>>
func.func @unplaced() {
  // expected-error@+1 {{has no offset in memory; plan-memory assigns one}}
  %kv = kernel.kv_cache @cache : !talc.kv_cache<1 x 8 x 4 in #kernel.kv_panels<16 x f32>>
  return
}

// -----

func.func @unplanned(%s: !kernel.step, %kv: !talc.kv_cache<1 x 8 x 4 in #kernel.kv_panels<16 x f32>>, %slot: index) {
  // expected-error@+1 {{has no offset in memory; plan-memory assigns one}}
  %k = kernel.keys %s, %kv[%slot] : !talc.kv_cache<1 x 8 x 4 in #kernel.kv_panels<16 x f32>> -> memref<1x1x8x16xf32>
  return
}

// -----

func.func @left(%s: !kernel.step, %x: memref<?x64xf32>, %y: memref<?x64xf32>) {
  // expected-error@+1 {{has no loops}}
  kernel.softmax %s, %x into %y : (!kernel.step, memref<?x64xf32>, memref<?x64xf32>) -> ()
  return
}
