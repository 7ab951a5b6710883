// SPDX-License-Identifier: Apache-2.0
// quantize-activations: int8 activations for packed integer weights, quantized once for all linears that read them.
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

// Beside numbers of few bits 256 values share a scale; beside levels of eight bits, or where rows are not whole such
// blocks, 32 do.
// CHECK-LABEL: @together
// CHECK-DAG: %[[Q:.*]] = talc.quantize %arg0 : tensor<?x256xf32> -> tensor<?x256x!talc.stored<q8_256_sums>>
// CHECK-DAG: %[[BYTES:.*]] = talc.quantize %arg0 : tensor<?x256xf32> -> tensor<?x256x!talc.stored<q8_sums>>
// CHECK-DAG: %[[REST:.*]] = talc.quantize %arg1 : tensor<?x288xf32> -> tensor<?x288x!talc.stored<q8_sums>>
// CHECK: talc.linear %[[Q]], %arg2
// CHECK: talc.linear %[[BYTES]], %arg3
// CHECK: talc.linear %[[REST]], %arg4
func.func @together(%x: tensor<?x256xf32>, %y: tensor<?x288xf32>, %a: tensor<1x256x16x!talc.stored<q5_1>>,
                    %b: tensor<1x256x16x!talc.stored<q8_0>>, %c: tensor<1x288x16x!talc.stored<q4_0>>)
    -> (tensor<?x16xf32>, tensor<?x16xf32>, tensor<?x16xf32>) {
  %u = talc.linear %x, %a : (tensor<?x256xf32>, tensor<1x256x16x!talc.stored<q5_1>>) -> tensor<?x16xf32>
  %v = talc.linear %x, %b : (tensor<?x256xf32>, tensor<1x256x16x!talc.stored<q8_0>>) -> tensor<?x16xf32>
  %w = talc.linear %y, %c : (tensor<?x288xf32>, tensor<1x288x16x!talc.stored<q4_0>>) -> tensor<?x16xf32>
  return %u, %v, %w : tensor<?x16xf32>, tensor<?x16xf32>, tensor<?x16xf32>
}

// Behind an activation function magnitudes differ much, so that 32 values have a scale where the weight has more than
// four bits and a scale.
// CHECK-LABEL: @activated
// CHECK: %[[X:.*]] = talc.activation
// CHECK-DAG: %[[FINE:.*]] = talc.quantize %[[X]] : tensor<?x256xf32> -> tensor<?x256x!talc.stored<q8_sums>>
// CHECK-DAG: %[[COARSE:.*]] = talc.quantize %[[X]] : tensor<?x256xf32> -> tensor<?x256x!talc.stored<q8_256_sums>>
// CHECK: talc.linear %[[FINE]], %arg1
// CHECK: talc.linear %[[COARSE]], %arg2
func.func @activated(%x: tensor<?x256xf32>, %a: tensor<1x256x16x!talc.stored<q4_1>>,
                     %b: tensor<1x256x16x!talc.stored<q4_0>>) -> (tensor<?x16xf32>, tensor<?x16xf32>) {
  %y = talc.activation gelu %x : tensor<?x256xf32>
  %u = talc.linear %y, %a : (tensor<?x256xf32>, tensor<1x256x16x!talc.stored<q4_1>>) -> tensor<?x16xf32>
  %v = talc.linear %y, %b : (tensor<?x256xf32>, tensor<1x256x16x!talc.stored<q4_0>>) -> tensor<?x16xf32>
  return %u, %v : tensor<?x16xf32>, tensor<?x16xf32>
}

// A single row is rounded like many; beside blocks of 256 a scale covers as many values.
// CHECK-LABEL: @one_row
// CHECK: talc.quantize %arg0 : tensor<1x256xf32> -> tensor<1x256x!talc.stored<q8_k_sums>>
func.func @one_row(%x: tensor<1x256xf32>, %w: tensor<1x256x16x!talc.stored<q6_k>>) -> tensor<1x16xf32> {
  %y = talc.linear %x, %w : (tensor<1x256xf32>, tensor<1x256x16x!talc.stored<q6_k>>) -> tensor<1x16xf32>
  return %y : tensor<1x16xf32>
}

// Float formats and formats of checkpoints are dequantized, and so is a weight that is not packed. But of those of bf16, where it
// is wanted, rows are rounded to bf16.
// BF16-LABEL: @dequantized
// BF16: %[[R:.*]] = talc.quantize %arg0 : tensor<?x64xf32> -> tensor<?x64xbf16>
// BF16: talc.linear %[[R]], %arg1
// BF16-NOT: talc.quantize
// BF16: return
// CHECK-LABEL: @dequantized
// CHECK-NOT: talc.quantize
// CHECK: return
func.func @dequantized(%x: tensor<?x64xf32>, %a: tensor<4x64x16xbf16>, %b: tensor<4x64x16x!talc.stored<int4_64_bf16>>,
                   %c: tensor<16x64x!talc.stored<q8_0>>) -> (tensor<?x64xf32>, tensor<?x64xf32>, tensor<?x16xf32>) {
  %y = talc.linear %x, %a : (tensor<?x64xf32>, tensor<4x64x16xbf16>) -> tensor<?x64xf32>
  %z = talc.linear %x, %b : (tensor<?x64xf32>, tensor<4x64x16x!talc.stored<int4_64_bf16>>) -> tensor<?x64xf32>
  %v = talc.linear %x, %c : (tensor<?x64xf32>, tensor<16x64x!talc.stored<q8_0>>) -> tensor<?x16xf32>
  return %y, %z, %v : tensor<?x64xf32>, tensor<?x64xf32>, tensor<?x16xf32>
}

// A group has 48 features, 32 of which are summed: these are not whole blocks.
// CHECK-LABEL: @groups
// CHECK-NOT: talc.quantize
// CHECK: return
func.func @groups(%x: tensor<?x96xf32>, %w: tensor<2x32x16x!talc.stored<q8_0>>) -> tensor<?x32xf32> {
  %y = talc.linear %x, %w {groups = 2 : i64} : (tensor<?x96xf32>, tensor<2x32x16x!talc.stored<q8_0>>) -> tensor<?x32xf32>
  return %y : tensor<?x32xf32>
}

// The two matmuls of an expert follow their own weights; the op itself quantizes the input of the second one.
// CHECK-LABEL: @experts
// CHECK: %[[Q:.*]] = talc.quantize %arg0 : tensor<?x256xf32> -> tensor<?x256x!talc.stored<q8_256_sums>>
// CHECK-NEXT: %[[K:.*]] = talc.quantize %arg0 : tensor<?x256xf32> -> tensor<?x256x!talc.stored<q8_k_sums>>
// CHECK: talc.experts silu %[[K]], %arg1, %arg2 down %arg3 chosen 2 rounding !talc.stored<q8_sums> :
// CHECK: talc.experts silu %[[Q]], %arg1, %arg4 down %arg5 chosen 2 :
// CHECK: talc.experts silu %arg0, %arg1, %arg6 down %arg3 chosen 2 rounding !talc.stored<q8_sums> :
// CHECK: talc.experts silu %arg0, %arg1, %arg7, %arg7 down %arg8 chosen 2 :
// BF16-LABEL: @experts
// BF16: talc.experts silu %{{.*}} rounding bf16 : (tensor<?x256xbf16>
func.func @experts(%x: tensor<?x256xf32>, %r: tensor<?x4xf32>, %a: tensor<16x256x16x!talc.stored<q4_k>>,
                   %b: tensor<64x32x16x!talc.stored<q8_0>>, %c: tensor<16x256x16x!talc.stored<mxfp4>>,
                   %d: tensor<64x32x16xbf16>, %e: tensor<16x256x16x!talc.stored<int4_64_bf16>>,
                   %f: tensor<128x256x!talc.stored<q8_0>>, %g: tensor<1024x32x!talc.stored<q8_0>>,
                   %h: tensor<16x256x16xbf16>) {
  %0 = talc.experts silu %x, %r, %a down %b chosen 2 : (tensor<?x256xf32>, tensor<?x4xf32>, tensor<16x256x16x!talc.stored<q4_k>>, tensor<64x32x16x!talc.stored<q8_0>>) -> tensor<?x256xf32>
  %1 = talc.experts silu %x, %r, %c down %d chosen 2 : (tensor<?x256xf32>, tensor<?x4xf32>, tensor<16x256x16x!talc.stored<mxfp4>>, tensor<64x32x16xbf16>) -> tensor<?x256xf32>
  %2 = talc.experts silu %x, %r, %e down %b chosen 2 : (tensor<?x256xf32>, tensor<?x4xf32>, tensor<16x256x16x!talc.stored<int4_64_bf16>>, tensor<64x32x16x!talc.stored<q8_0>>) -> tensor<?x256xf32>
  %3 = talc.experts silu %x, %r, %f, %f down %g chosen 2 : (tensor<?x256xf32>, tensor<?x4xf32>, tensor<128x256x!talc.stored<q8_0>>, tensor<128x256x!talc.stored<q8_0>>, tensor<1024x32x!talc.stored<q8_0>>) -> tensor<?x256xf32>
  %4 = talc.experts silu %x, %r, %h down %d chosen 2 : (tensor<?x256xf32>, tensor<?x4xf32>, tensor<16x256x16xbf16>, tensor<64x32x16xbf16>) -> tensor<?x256xf32>
  return
}

// 48 features between the halves are not whole blocks.
// CHECK-LABEL: @odd_experts
// CHECK: talc.experts silu %{{.*}}, %arg1, %arg2 down %arg3 chosen 1 : (tensor<1x64x!talc.stored<q8_sums>>
func.func @odd_experts(%x: tensor<1x64xf32>, %r: tensor<1x2xf32>, %a: tensor<12x64x16x!talc.stored<q8_0>>,
                       %b: tensor<8x48x16x!talc.stored<q8_0>>) -> tensor<1x64xf32> {
  %y = talc.experts silu %x, %r, %a down %b chosen 1 : (tensor<1x64xf32>, tensor<1x2xf32>, tensor<12x64x16x!talc.stored<q8_0>>, tensor<8x48x16x!talc.stored<q8_0>>) -> tensor<1x64xf32>
  return %y : tensor<1x64xf32>
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
