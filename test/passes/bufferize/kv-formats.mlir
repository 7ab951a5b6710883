// SPDX-License-Identifier: Apache-2.0
// layout-kv-cache: talc.kv_formats has the formats of KV caches of sequences and sources, and of no others.
// RUN: split-file %s %t
// RUN: talc-opt %t/half.mlir -layout-kv-cache | FileCheck %t/half.mlir
// RUN: talc-opt %t/bf16.mlir -layout-kv-cache | FileCheck %t/bf16.mlir
// RUN: talc-opt %t/mixed.mlir -layout-kv-cache | FileCheck %t/mixed.mlir
// RUN: talc-opt %t/blocks.mlir -layout-kv-cache | FileCheck %t/blocks.mlir
// RUN: not talc-opt %t/width.mlir -layout-kv-cache 2>&1 | FileCheck %t/width.mlir
// RUN: not talc-opt %t/unknown.mlir -layout-kv-cache 2>&1 | FileCheck %t/unknown.mlir

//--- half.mlir
module attributes {talc.kv_formats = {keys = "f16", values = "f16"}} {
  // CHECK: talc.kv_cache @kv : !talc.kv_cache<2 x 12 x 17 in #kernel.kv_panels<16 x f16>>
  talc.kv_cache @kv : !talc.kv_cache<2 x 12 x 17>
  // CHECK: talc.kv_cache @far : !talc.kv_cache<2 x 12 x 17, source in #kernel.kv_panels<16 x f16>>
  talc.kv_cache @far : !talc.kv_cache<2 x 12 x 17, source>
  // CHECK: talc.kv_cache @now : !talc.kv_cache<2 x 12 x 17, step in #kernel.kv_panels<16 x f32>>
  talc.kv_cache @now : !talc.kv_cache<2 x 12 x 17, step>
  // CHECK: talc.kv_cache @sum : !talc.kv_cache<2 x 12 x 17, memory in #kernel.matrices>
  talc.kv_cache @sum : !talc.kv_cache<2 x 12 x 17, memory>
}

//--- blocks.mlir
module attributes {talc.kv_formats = {keys = "q8_0", values = "q8_0"}} {
  // CHECK: talc.kv_cache @kv : !talc.kv_cache<2 x 32 x 17 in #kernel.kv_panels<16 x !talc.stored<q8_0>>>
  talc.kv_cache @kv : !talc.kv_cache<2 x 32 x 17>
  // CHECK: talc.kv_cache @now : !talc.kv_cache<2 x 12 x 17, step in #kernel.kv_panels<16 x f32>>
  talc.kv_cache @now : !talc.kv_cache<2 x 12 x 17, step>
}

//--- bf16.mlir
module attributes {talc.kv_formats = {keys = "bf16", values = "f16"}} {
  // CHECK: talc.kv_cache @kv : !talc.kv_cache<2 x 12 x 17 in #kernel.kv_panels<16 x bf16, f16>>
  talc.kv_cache @kv : !talc.kv_cache<2 x 12 x 17>
}

//--- mixed.mlir
module attributes {talc.kv_formats = {keys = "q8_0"}} {
  // CHECK: talc.kv_cache @kv : !talc.kv_cache<2 x 32 x 17 in #kernel.kv_panels<16 x !talc.stored<q8_0>, f32>>
  talc.kv_cache @kv : !talc.kv_cache<2 x 32 x 17>
  // CHECK: talc.kv_cache @now : !talc.kv_cache<2 x 12 x 17, step in #kernel.kv_panels<16 x f32>>
  talc.kv_cache @now : !talc.kv_cache<2 x 12 x 17, step>
}

//--- width.mlir
module attributes {talc.kv_formats = {keys = "f16", values = "q8_0"}} {
  // CHECK: error: 'talc.kv_cache' op has heads of width 40, which is not a multiple of the block of q8_0 (32 values); use --state=f32, f16 or bf16
  talc.kv_cache @kv : !talc.kv_cache<2 x 40 x 17>
}

//--- unknown.mlir
// CHECK: error: talc.kv_formats.values is q4_0, expected one of f32, f16, bf16, q8_0
module attributes {talc.kv_formats = {values = "q4_0"}} {
  talc.kv_cache @kv : !talc.kv_cache<2 x 32 x 17>
}
