// SPDX-License-Identifier: Apache-2.0
// lay-out-states: every type of a state gets the layout, in symbols, handles and signatures alike.
// RUN: talc-opt %s -lay-out-states | FileCheck %s
// RUN: talc-opt %s -lay-out-states=tokens=32 | FileCheck %s --check-prefix=WIDE
// RUN: not talc-opt %s -lay-out-states=tokens=0 2>&1 | FileCheck %s --check-prefix=NONE
// NONE: error: panels of 0 tokens of 'f32', expected 1 to 4096 tokens of f32, f16, bf16, q8_0, q6_k, q5_k, q5_1, q5_0, q4_k, q4_1, q4_0, mxfp4, nvfp4, fp8_128_bf16, int8_128_bf16, int8z_128_bf16, int4_128_bf16 or int4z_128_bf16

// CHECK: talc.state @kv : !talc.state<2 x 12 x 17 in #kernel.panels<16 x f32>>
// WIDE: talc.state @kv : !talc.state<2 x 12 x 17 in #kernel.panels<32 x f32>>
talc.state @kv : !talc.state<2 x 12 x 17>
// CHECK: talc.state @memory : !talc.state<2 x 12 x 17, source in #kernel.panels<16 x f32>>
talc.state @memory : !talc.state<2 x 12 x 17, source>
// A memory has no tokens.
// CHECK: talc.state @segments : !talc.state<2 x 12 x 17, memory in #kernel.matrices>
talc.state @segments : !talc.state<2 x 12 x 17, memory>
// What has a layout keeps it.
// CHECK: talc.state @given : !talc.state<2 x 12 x 17 in #kernel.panels<64 x bf16>>
talc.state @given : !talc.state<2 x 12 x 17 in #kernel.panels<64 x bf16>>

// CHECK: func.func private @block(!kernel.step, !talc.state<2 x 12 x 17 in #kernel.panels<16 x f32>>)
func.func private @block(!kernel.step, !talc.state<2 x 12 x 17>)

func.func @model(%s: !kernel.step) {
  // CHECK: %[[STATE:.*]] = kernel.state @kv : !talc.state<2 x 12 x 17 in #kernel.panels<16 x f32>>
  %state = kernel.state @kv : !talc.state<2 x 12 x 17>
  // CHECK: call @block(%{{.*}}, %[[STATE]]) : (!kernel.step, !talc.state<2 x 12 x 17 in #kernel.panels<16 x f32>>) -> ()
  func.call @block(%s, %state) : (!kernel.step, !talc.state<2 x 12 x 17>) -> ()
  return
}

// A ring becomes as large as whole blocks of keys; what is kept beside it does not count.
// CHECK: talc.state @ring : !talc.state<2 x 12 x 512 window 9 kept 4 in #kernel.panels<16 x f32>>
// WIDE: talc.state @ring : !talc.state<2 x 12 x 512 window 9 kept 4 in #kernel.panels<32 x f32>>
talc.state @ring : !talc.state<2 x 12 x 300 window 9 kept 4>
