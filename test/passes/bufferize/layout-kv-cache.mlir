// SPDX-License-Identifier: Apache-2.0
// layout-kv-cache: every type of a state gets the layout, in symbols, handles and signatures alike.
// RUN: talc-opt %s -layout-kv-cache | FileCheck %s
// RUN: talc-opt %s -layout-kv-cache=tokens=32 | FileCheck %s --check-prefix=WIDE
// RUN: not talc-opt %s -layout-kv-cache=tokens=0 2>&1 | FileCheck %s --check-prefix=NONE
// NONE: error: panels of 0 tokens of 'f32', expected 1 to 4096 tokens of f32, f16, bf16, q8_0, q6_k, q5_k, q5_1, q5_0, q4_k, q4_1, q4_0, iq4_nl, iq4_xs, mxfp4, nvfp4, q3_k, q2_k, fp8_128_bf16, int8_128_bf16, int8z_128_bf16, int4_128_bf16 or int4z_128_bf16

// CHECK: talc.kv_cache @kv : !talc.kv_cache<2 x 12 x 17 in #kernel.kv_panels<16 x f32>>
// WIDE: talc.kv_cache @kv : !talc.kv_cache<2 x 12 x 17 in #kernel.kv_panels<32 x f32>>
talc.kv_cache @kv : !talc.kv_cache<2 x 12 x 17>
// CHECK: talc.kv_cache @memory : !talc.kv_cache<2 x 12 x 17, source in #kernel.kv_panels<16 x f32>>
talc.kv_cache @memory : !talc.kv_cache<2 x 12 x 17, source>
// A memory has no tokens.
// CHECK: talc.kv_cache @segments : !talc.kv_cache<2 x 12 x 17, memory in #kernel.matrices>
talc.kv_cache @segments : !talc.kv_cache<2 x 12 x 17, memory>
// The state of a recurrence has none either: here it is 2 matrices of 17 rows and 12 columns.
// CHECK: talc.kv_cache @state : !talc.kv_cache<2 x 12 x 17, recurrence in #kernel.columns<32>>
talc.kv_cache @state : !talc.kv_cache<2 x 12 x 17, recurrence>
// A KV cache that has a layout keeps it.
// CHECK: talc.kv_cache @given : !talc.kv_cache<2 x 12 x 17 in #kernel.kv_panels<64 x bf16>>
talc.kv_cache @given : !talc.kv_cache<2 x 12 x 17 in #kernel.kv_panels<64 x bf16>>

// CHECK: func.func private @block(!kernel.step, !talc.kv_cache<2 x 12 x 17 in #kernel.kv_panels<16 x f32>>)
func.func private @block(!kernel.step, !talc.kv_cache<2 x 12 x 17>)

func.func @model(%s: !kernel.step) {
  // CHECK: %[[STATE:.*]] = kernel.kv_cache @kv : !talc.kv_cache<2 x 12 x 17 in #kernel.kv_panels<16 x f32>>
  %state = kernel.kv_cache @kv : !talc.kv_cache<2 x 12 x 17>
  // CHECK: call @block(%{{.*}}, %[[STATE]]) : (!kernel.step, !talc.kv_cache<2 x 12 x 17 in #kernel.kv_panels<16 x f32>>) -> ()
  func.call @block(%s, %state) : (!kernel.step, !talc.kv_cache<2 x 12 x 17>) -> ()
  return
}

// A ring becomes as large as whole blocks of keys; what is kept beside it does not count.
// CHECK: talc.kv_cache @ring : !talc.kv_cache<2 x 12 x 512 window 9 sink_tokens 4 in #kernel.kv_panels<16 x f32>>
// WIDE: talc.kv_cache @ring : !talc.kv_cache<2 x 12 x 512 window 9 sink_tokens 4 in #kernel.kv_panels<32 x f32>>
talc.kv_cache @ring : !talc.kv_cache<2 x 12 x 300 window 9 sink_tokens 4>
