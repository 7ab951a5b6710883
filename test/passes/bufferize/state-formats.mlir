// SPDX-License-Identifier: Apache-2.0
// lay-out-states: talc.key_format and talc.value_format are the formats of states of sequences and sources, and of no others.
// RUN: split-file %s %t
// RUN: talc-opt %t/half.mlir -lay-out-states | FileCheck %t/half.mlir
// RUN: talc-opt %t/bf16.mlir -lay-out-states | FileCheck %t/bf16.mlir
// RUN: talc-opt %t/mixed.mlir -lay-out-states | FileCheck %t/mixed.mlir
// RUN: talc-opt %t/blocks.mlir -lay-out-states | FileCheck %t/blocks.mlir
// RUN: not talc-opt %t/width.mlir -lay-out-states 2>&1 | FileCheck %t/width.mlir
// RUN: not talc-opt %t/unknown.mlir -lay-out-states 2>&1 | FileCheck %t/unknown.mlir

//--- half.mlir
module attributes {talc.key_format = "f16", talc.value_format = "f16"} {
  // CHECK: talc.state @kv : !talc.state<2 x 12 x 17 in #kernel.panels<16 x f16>>
  talc.state @kv : !talc.state<2 x 12 x 17>
  // CHECK: talc.state @far : !talc.state<2 x 12 x 17, source in #kernel.panels<16 x f16>>
  talc.state @far : !talc.state<2 x 12 x 17, source>
  // CHECK: talc.state @now : !talc.state<2 x 12 x 17, step in #kernel.panels<16 x f32>>
  talc.state @now : !talc.state<2 x 12 x 17, step>
  // CHECK: talc.state @sum : !talc.state<2 x 12 x 17, memory in #kernel.matrices>
  talc.state @sum : !talc.state<2 x 12 x 17, memory>
}

//--- blocks.mlir
module attributes {talc.key_format = "q8_0", talc.value_format = "q8_0"} {
  // CHECK: talc.state @kv : !talc.state<2 x 32 x 17 in #kernel.panels<16 x !talc.stored<q8_0>>>
  talc.state @kv : !talc.state<2 x 32 x 17>
  // CHECK: talc.state @now : !talc.state<2 x 12 x 17, step in #kernel.panels<16 x f32>>
  talc.state @now : !talc.state<2 x 12 x 17, step>
}

//--- bf16.mlir
module attributes {talc.key_format = "bf16", talc.value_format = "f16"} {
  // CHECK: talc.state @kv : !talc.state<2 x 12 x 17 in #kernel.panels<16 x bf16, f16>>
  talc.state @kv : !talc.state<2 x 12 x 17>
}

//--- mixed.mlir
module attributes {talc.key_format = "q8_0"} {
  // CHECK: talc.state @kv : !talc.state<2 x 32 x 17 in #kernel.panels<16 x !talc.stored<q8_0>, f32>>
  talc.state @kv : !talc.state<2 x 32 x 17>
  // CHECK: talc.state @now : !talc.state<2 x 12 x 17, step in #kernel.panels<16 x f32>>
  talc.state @now : !talc.state<2 x 12 x 17, step>
}

//--- width.mlir
module attributes {talc.key_format = "f16", talc.value_format = "q8_0"} {
  // CHECK: error: 'talc.state' op has heads of width 40, which are no whole blocks of q8_0 (32 values); --state=f32, f16 or bf16 takes them
  talc.state @kv : !talc.state<2 x 40 x 17>
}

//--- unknown.mlir
// CHECK: error: talc.value_format is q4_0, expected one of f32, f16, bf16, q8_0
module attributes {talc.value_format = "q4_0"} {
  talc.state @kv : !talc.state<2 x 32 x 17>
}
