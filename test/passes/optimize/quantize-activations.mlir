// SPDX-License-Identifier: Apache-2.0
// quantize-activations: rounded rows where a packed weight's integers are multiplied, once for all that read them.
// RUN: talc-opt %s -quantize-activations | FileCheck %s
// RUN: talc-opt %s -quantize-activations="bf16=true" | FileCheck %s --check-prefix=BF16

// Two layers share what is rounded.
// CHECK-LABEL: @shared
// CHECK: %[[Q:.*]] = talc.quantize %arg0 : tensor<?x64xf32> -> tensor<?x64x!talc.stored<q8_sums>>
// CHECK-NEXT: talc.linear %[[Q]], %arg1
// CHECK-NEXT: talc.gated_linear silu %[[Q]], %arg2
// CHECK-NOT: talc.quantize
func.func @shared(%x: tensor<?x64xf32>, %w: tensor<4x64x16x!talc.stored<q4_0>>, %g: tensor<4x64x16x!talc.stored<q8_0>>)
    -> (tensor<?x64xf32>, tensor<?x32xf32>) {
  %y = talc.linear %x, %w : (tensor<?x64xf32>, tensor<4x64x16x!talc.stored<q4_0>>) -> tensor<?x64xf32>
  %z = talc.gated_linear silu %x, %g : (tensor<?x64xf32>, tensor<4x64x16x!talc.stored<q8_0>>) -> tensor<?x32xf32>
  return %y, %z : tensor<?x64xf32>, tensor<?x32xf32>
}

// Numbers of four bits are integers, too.
// CHECK-LABEL: @doubled
// CHECK: talc.quantize %arg0 : tensor<?x64xf32> -> tensor<?x64x!talc.stored<q8_sums>>
func.func @doubled(%x: tensor<?x64xf32>, %w: tensor<4x64x16x!talc.stored<mxfp4>>) -> tensor<?x64xf32> {
  %y = talc.linear %x, %w : (tensor<?x64xf32>, tensor<4x64x16x!talc.stored<mxfp4>>) -> tensor<?x64xf32>
  return %y : tensor<?x64xf32>
}

// A single row is rounded like many; beside blocks of 256 a scale covers as many values.
// CHECK-LABEL: @one_row
// CHECK: talc.quantize %arg0 : tensor<1x256xf32> -> tensor<1x256x!talc.stored<q8_k_sums>>
func.func @one_row(%x: tensor<1x256xf32>, %w: tensor<1x256x16x!talc.stored<q6_k>>) -> tensor<1x16xf32> {
  %y = talc.linear %x, %w : (tensor<1x256xf32>, tensor<1x256x16x!talc.stored<q6_k>>) -> tensor<1x16xf32>
  return %y : tensor<1x16xf32>
}

// Numbers and the formats of checkpoints are widened, and so is a weight that is not packed. But of those of bf16, where it
// is wanted, rows are rounded to bf16.
// BF16-LABEL: @widened
// BF16: %[[R:.*]] = talc.quantize %arg0 : tensor<?x64xf32> -> tensor<?x64xbf16>
// BF16: talc.linear %[[R]], %arg1
// BF16-NOT: talc.quantize
// BF16: return
// CHECK-LABEL: @widened
// CHECK-NOT: talc.quantize
// CHECK: return
func.func @widened(%x: tensor<?x64xf32>, %a: tensor<4x64x16xbf16>, %b: tensor<4x64x16x!talc.stored<int4_64_bf16>>,
                   %c: tensor<16x64x!talc.stored<q8_0>>) -> (tensor<?x64xf32>, tensor<?x64xf32>, tensor<?x16xf32>) {
  %y = talc.linear %x, %a : (tensor<?x64xf32>, tensor<4x64x16xbf16>) -> tensor<?x64xf32>
  %z = talc.linear %x, %b : (tensor<?x64xf32>, tensor<4x64x16x!talc.stored<int4_64_bf16>>) -> tensor<?x64xf32>
  %v = talc.linear %x, %c : (tensor<?x64xf32>, tensor<16x64x!talc.stored<q8_0>>) -> tensor<?x16xf32>
  return %y, %z, %v : tensor<?x64xf32>, tensor<?x64xf32>, tensor<?x16xf32>
}

// A group has 48 features of which 32 are summed: no whole blocks.
// CHECK-LABEL: @groups
// CHECK-NOT: talc.quantize
// CHECK: return
func.func @groups(%x: tensor<?x96xf32>, %w: tensor<2x32x16x!talc.stored<q8_0>>) -> tensor<?x32xf32> {
  %y = talc.linear %x, %w {groups = 2 : i64} : (tensor<?x96xf32>, tensor<2x32x16x!talc.stored<q8_0>>) -> tensor<?x32xf32>
  return %y : tensor<?x32xf32>
}

// Layers that multiply in different ways do not share; an odd number of features makes no pairs.
// BF16-LABEL: @both
// BF16-DAG: %[[Q:.*]] = talc.quantize %arg0 : tensor<?x64xf32> -> tensor<?x64x!talc.stored<q8_sums>>
// BF16-DAG: %[[R:.*]] = talc.quantize %arg0 : tensor<?x64xf32> -> tensor<?x64xbf16>
// BF16: talc.linear %[[Q]], %arg2
// BF16: talc.linear %[[R]], %arg3
// BF16: talc.linear %arg1, %arg4
func.func @both(%x: tensor<?x64xf32>, %z: tensor<?x63xf32>, %a: tensor<1x64x16x!talc.stored<q4_0>>,
                %b: tensor<1x64x16xbf16>, %c: tensor<1x63x16xbf16>)
    -> (tensor<?x16xf32>, tensor<?x16xf32>, tensor<?x16xf32>) {
  %u = talc.linear %x, %a : (tensor<?x64xf32>, tensor<1x64x16x!talc.stored<q4_0>>) -> tensor<?x16xf32>
  %v = talc.linear %x, %b : (tensor<?x64xf32>, tensor<1x64x16xbf16>) -> tensor<?x16xf32>
  %w = talc.linear %z, %c : (tensor<?x63xf32>, tensor<1x63x16xbf16>) -> tensor<?x16xf32>
  return %u, %v, %w : tensor<?x16xf32>, tensor<?x16xf32>, tensor<?x16xf32>
}
