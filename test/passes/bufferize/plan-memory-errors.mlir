// SPDX-License-Identifier: Apache-2.0
// plan-memory: functions without a body, functions that call each other in a cycle, and elements that cannot be stored
// have no plan.
// RUN: talc-opt %s -plan-memory -split-input-file -verify-diagnostics

// expected-error@+1 {{has no body}}
func.func private @declared(!kernel.step)

// -----

// expected-error@+1 {{has functions that call each other in a cycle}}
module {
  func.func private @ping(%s: !kernel.step) {
    func.call @pong(%s) : (!kernel.step) -> ()
    return
  }
  func.func private @pong(%s: !kernel.step) {
    func.call @ping(%s) : (!kernel.step) -> ()
    return
  }
}

// -----

func.func private @integers(%s: !kernel.step) {
  // expected-error@+1 {{holds 'i8', expected f32, f16, bf16, q8_0, q6_k, q5_k, q5_1, q5_0, q4_k, q4_1, q4_0, iq4_nl, iq4_xs, mxfp4, nvfp4, q3_k, q2_k, fp8_128_bf16, int8_128_bf16, int8z_128_bf16, int4_128_bf16 or int4z_128_bf16}}
  %x = memref.alloc() : memref<4xi8>
  return
}

// -----

// expected-error@+1 {{has no layout; layout-kv-cache gives it one}}
talc.kv_cache @kv : !talc.kv_cache<2 x 12 x 17>
