// SPDX-License-Identifier: Apache-2.0
// pack-weights: panels for every linear layer, padded biases, and the storage format of the checkpoint or of assign-formats.
// RUN: talc-opt %s -pack-weights | FileCheck %s
// RUN: talc-opt %s -assign-formats=weights=f16 -pack-weights="lanes=8" | FileCheck %s --check-prefix=F16
// RUN: talc-opt %s -pack-weights="lanes=64" | FileCheck %s --check-prefix=WIDE
// RUN: talc-opt %s -pack-weights="lanes=64 spare=128" | FileCheck %s --check-prefix=SPARE
// RUN: not talc-opt %s -pack-weights="lanes=15" 2>&1 | FileCheck %s --check-prefix=LANES

// LANES: error: panels of 15 lanes, expected an even number > 0

talc.weight @a : tensor<32x32xf32> = #talc.file<"m", 0, bf16>
talc.weight @b : tensor<32x32xf32> = #talc.file<"m", 0, bf16>
talc.weight @a_transposed : tensor<32x32xf32> = #talc.transpose of [@a]
talc.weight @half : tensor<32x32xf32> = #talc.file<"m", 0, f16>
talc.weight @made : tensor<32x32xf32> = #talc.random<seed = 1, mean = 0.0, deviation = 0.02>
talc.weight @narrow : tensor<32x32xf16> = #talc.file<"m", 0, f32>

// The number of outputs fits the panels: the bias stays.
// CHECK-LABEL: @exact
// CHECK: %[[P:.*]] = talc.derive #talc.pack of(%arg1) : (tensor<32x32xf32>) -> tensor<2x32x16xf32>
// CHECK-NEXT: talc.linear %arg0, %[[P]] bias %arg2
// F16-LABEL: @exact
// F16: -> tensor<4x32x8xf32>
func.func @exact(%x: tensor<?x32xf32>, %w: tensor<32x32xf32>, %bias: tensor<32xf32>) -> tensor<?x32xf32> {
  %y = talc.linear %x, %w bias %bias : (tensor<?x32xf32>, tensor<32x32xf32>, tensor<32xf32>) -> tensor<?x32xf32>
  return %y : tensor<?x32xf32>
}

// CHECK-LABEL: @padded
// CHECK: %[[P:.*]] = talc.derive #talc.pack of(%arg1) : (tensor<33x32xf32>) -> tensor<3x32x16xf32>
// CHECK: %[[B:.*]] = talc.derive #talc.pad of(%arg2) : (tensor<33xf32>) -> tensor<48xf32>
// CHECK: talc.linear %arg0, %[[P]] bias %[[B]] : (tensor<?x32xf32>, tensor<3x32x16xf32>, tensor<48xf32>) -> tensor<?x33xf32>
func.func @padded(%x: tensor<?x32xf32>, %w: tensor<33x32xf32>, %bias: tensor<33xf32>) -> tensor<?x33xf32> {
  %y = talc.linear %x, %w bias %bias : (tensor<?x32xf32>, tensor<33x32xf32>, tensor<33xf32>) -> tensor<?x33xf32>
  return %y : tensor<?x33xf32>
}

// CHECK-LABEL: @one_output
// CHECK: -> tensor<1x32x16xf32>
func.func @one_output(%x: tensor<?x32xf32>, %w: tensor<1x32xf32>) -> tensor<?x1xf32> {
  %y = talc.linear %x, %w : (tensor<?x32xf32>, tensor<1x32xf32>) -> tensor<?x1xf32>
  return %y : tensor<?x1xf32>
}

// 41 gates need 6 groups of 8 or 11 groups of 4.
// CHECK-LABEL: @gated
// CHECK: %[[I:.*]] = talc.derive #talc.interleave<8> of(%arg1, %arg2) : {{.*}} -> tensor<96x32xf32>
// CHECK: %[[P:.*]] = talc.derive #talc.pack of(%[[I]]) : {{.*}} -> tensor<6x32x16xf32>
// CHECK: talc.gated_linear silu %arg0, %[[P]] : (tensor<?x32xf32>, tensor<6x32x16xf32>) -> tensor<?x41xf32>
// F16-LABEL: @gated
// F16: talc.derive #talc.interleave<4> {{.*}} -> tensor<88x32xf32>
// F16: talc.derive #talc.pack {{.*}} -> tensor<11x32x8xf32>
func.func @gated(%x: tensor<?x32xf32>, %gate: tensor<41x32xf32>, %up: tensor<41x32xf32>) -> tensor<?x41xf32> {
  %y = talc.gated_linear silu %x, %gate, %up : (tensor<?x32xf32>, tensor<41x32xf32>, tensor<41x32xf32>) -> tensor<?x41xf32>
  return %y : tensor<?x41xf32>
}

// Panels become wider where no more lanes are empty than with 16, and where at least 12 panels remain.
// WIDE-LABEL: @widths
// WIDE: #talc.pack of(%arg1) : (tensor<767x32xf32>) -> tensor<12x32x64xf32>
// WIDE: #talc.pad of(%arg3) : (tensor<767xf32>) -> tensor<768xf32>
// WIDE: #talc.pack of(%arg2) : (tensor<752x32xf32>) -> tensor<47x32x16xf32>
// WIDE: #talc.pack of(%arg4) : (tensor<704x32xf32>) -> tensor<22x32x32xf32>
// WIDE: #talc.interleave<32> {{.*}} -> tensor<768x32xf32>
// WIDE: #talc.pack {{.*}} -> tensor<12x32x64xf32>
func.func @widths(%x: tensor<?x32xf32>, %w: tensor<767x32xf32>, %v: tensor<752x32xf32>, %bias: tensor<767xf32>, %u: tensor<704x32xf32>, %g: tensor<377x32xf32>) {
  %a = talc.linear %x, %w bias %bias : (tensor<?x32xf32>, tensor<767x32xf32>, tensor<767xf32>) -> tensor<?x767xf32>
  %b = talc.linear %x, %v : (tensor<?x32xf32>, tensor<752x32xf32>) -> tensor<?x752xf32>
  %c = talc.linear %x, %u : (tensor<?x32xf32>, tensor<704x32xf32>) -> tensor<?x704xf32>
  %d = talc.gated_linear silu %x, %g, %g : (tensor<?x32xf32>, tensor<377x32xf32>, tensor<377x32xf32>) -> tensor<?x377xf32>
  return
}

// One lane in 128 may be empty: 32 of 64 panels of 64, not 33. Panels of 32 leave 24 of 4000 lanes empty, but 16 of 736 would be too
// many. A bias is as long as the panels, and of gates and ups together 32 are empty.
// SPARE-LABEL: @spare
// SPARE: #talc.pack of(%arg1) : (tensor<4064x32xf32>) -> tensor<64x32x64xf32>
// SPARE: #talc.pad of(%arg5) : (tensor<4064xf32>) -> tensor<4096xf32>
// SPARE: #talc.pack of(%arg2) : (tensor<4063x32xf32>) -> tensor<127x32x32xf32>
// SPARE: #talc.pack of(%arg3) : (tensor<3976x32xf32>) -> tensor<125x32x32xf32>
// SPARE: #talc.pack of(%arg4) : (tensor<720x32xf32>) -> tensor<45x32x16xf32>
// SPARE: #talc.interleave<32> {{.*}} -> tensor<4096x32xf32>
// SPARE: #talc.pack {{.*}} -> tensor<64x32x64xf32>
// WIDE-LABEL: @spare
// WIDE: #talc.pack of(%arg1) : (tensor<4064x32xf32>) -> tensor<127x32x32xf32>
// WIDE-NEXT: bias %arg5
// WIDE: #talc.pack of(%arg2) : (tensor<4063x32xf32>) -> tensor<127x32x32xf32>
// WIDE: #talc.pack of(%arg3) : (tensor<3976x32xf32>) -> tensor<249x32x16xf32>
// WIDE: #talc.pack of(%arg4) : (tensor<720x32xf32>) -> tensor<45x32x16xf32>
// WIDE: #talc.pack {{.*}} -> tensor<127x32x32xf32>
func.func @spare(%x: tensor<?x32xf32>, %fits: tensor<4064x32xf32>, %over: tensor<4063x32xf32>, %between: tensor<3976x32xf32>, %small: tensor<720x32xf32>, %bias: tensor<4064xf32>, %gate: tensor<2032x32xf32>) {
  %a = talc.linear %x, %fits bias %bias : (tensor<?x32xf32>, tensor<4064x32xf32>, tensor<4064xf32>) -> tensor<?x4064xf32>
  %b = talc.linear %x, %over : (tensor<?x32xf32>, tensor<4063x32xf32>) -> tensor<?x4063xf32>
  %c = talc.linear %x, %between : (tensor<?x32xf32>, tensor<3976x32xf32>) -> tensor<?x3976xf32>
  %d = talc.linear %x, %small : (tensor<?x32xf32>, tensor<720x32xf32>) -> tensor<?x720xf32>
  %e = talc.gated_linear silu %x, %gate, %gate : (tensor<?x32xf32>, tensor<2032x32xf32>, tensor<2032x32xf32>) -> tensor<?x2032xf32>
  return
}

// CHECK-LABEL: @packed_already
// CHECK-NEXT: talc.linear %arg0, %arg1
func.func @packed_already(%x: tensor<?x32xf32>, %w: tensor<2x32x16xf32>) -> tensor<?x32xf32> {
  %y = talc.linear %x, %w : (tensor<?x32xf32>, tensor<2x32x16xf32>) -> tensor<?x32xf32>
  return %y : tensor<?x32xf32>
}

// All calls pass weights that are stored as bf16, one through a recipe.
// CHECK-LABEL: @calls_agree
// CHECK: talc.derive #talc.pack of(%arg1) : {{.*}} -> tensor<2x32x16xbf16>
func.func private @calls_agree(%x: tensor<?x32xf32>, %w: tensor<32x32xf32>) -> tensor<?x32xf32> {
  %y = talc.linear %x, %w : (tensor<?x32xf32>, tensor<32x32xf32>) -> tensor<?x32xf32>
  return %y : tensor<?x32xf32>
}

// CHECK-LABEL: @calls_differ
// CHECK: talc.derive #talc.pack of(%arg1) : {{.*}} -> tensor<2x32x16xf32>
// F16-LABEL: @calls_differ
// F16: talc.derive #talc.pack of(%arg1) : {{.*}} -> tensor<4x32x8xf16>
func.func private @calls_differ(%x: tensor<?x32xf32>, %w: tensor<32x32xf32>) -> tensor<?x32xf32> {
  %y = talc.linear %x, %w : (tensor<?x32xf32>, tensor<32x32xf32>) -> tensor<?x32xf32>
  return %y : tensor<?x32xf32>
}

// CHECK-LABEL: @model
// CHECK: %[[AB:.*]] = talc.derive #talc.concat
// CHECK: talc.derive #talc.pack of(%[[AB]]) : {{.*}} -> tensor<4x32x16xbf16>
// CHECK: %[[MADE:.*]] = talc.get_weight @made
// CHECK: talc.derive #talc.pack of(%[[MADE]]) : {{.*}} -> tensor<2x32x16xf32>
// CHECK: %[[NARROW:.*]] = talc.get_weight @narrow
// CHECK: talc.derive #talc.pack of(%[[NARROW]]) : {{.*}} -> tensor<2x32x16xf16>
func.func @model(%x: tensor<?x32xf32>) -> (tensor<?x64xf32>, tensor<?x32xf32>, tensor<?x32xf32>) attributes {talc.entry} {
  %a = talc.get_weight @a : tensor<32x32xf32>
  %b = talc.get_weight @b : tensor<32x32xf32>
  %t = talc.get_weight @a_transposed : tensor<32x32xf32>
  %half = talc.get_weight @half : tensor<32x32xf32>
  %0 = call @calls_agree(%x, %a) : (tensor<?x32xf32>, tensor<32x32xf32>) -> tensor<?x32xf32>
  %1 = call @calls_agree(%0, %t) : (tensor<?x32xf32>, tensor<32x32xf32>) -> tensor<?x32xf32>
  %2 = call @calls_differ(%1, %b) : (tensor<?x32xf32>, tensor<32x32xf32>) -> tensor<?x32xf32>
  %3 = call @calls_differ(%2, %half) : (tensor<?x32xf32>, tensor<32x32xf32>) -> tensor<?x32xf32>
  %ab = talc.derive #talc.concat of (%a, %b) : (tensor<32x32xf32>, tensor<32x32xf32>) -> tensor<64x32xf32>
  %4 = talc.linear %3, %ab : (tensor<?x32xf32>, tensor<64x32xf32>) -> tensor<?x64xf32>
  %made = talc.get_weight @made : tensor<32x32xf32>
  %5 = talc.linear %3, %made : (tensor<?x32xf32>, tensor<32x32xf32>) -> tensor<?x32xf32>
  %narrow = talc.get_weight @narrow : tensor<32x32xf16>
  %6 = talc.linear %3, %narrow : (tensor<?x32xf32>, tensor<32x32xf16>) -> tensor<?x32xf32>
  return %4, %5, %6 : tensor<?x64xf32>, tensor<?x32xf32>, tensor<?x32xf32>
}

// Every expert in panels of its own.
// CHECK-LABEL: @experts
// CHECK: %[[G0:.*]] = talc.derive #talc.rows<first = 0, count = 5, period = 10> of(%arg2) : (tensor<10x32xf32>) -> tensor<5x32xf32>
// CHECK: %[[U0:.*]] = talc.derive #talc.rows<first = 0, count = 5, period = 10> of(%arg3)
// CHECK: %[[B0:.*]] = talc.derive #talc.interleave<8> of(%[[G0]], %[[U0]]) : (tensor<5x32xf32>, tensor<5x32xf32>) -> tensor<16x32xf32>
// CHECK: talc.derive #talc.rows<first = 5, count = 5, period = 10> of(%arg2)
// CHECK: %[[BOTH:.*]] = talc.derive #talc.concat of(%[[B0]], %{{.*}}) : (tensor<16x32xf32>, tensor<16x32xf32>) -> tensor<32x32xf32>
// CHECK: %[[GATES:.*]] = talc.derive #talc.pack of(%[[BOTH]]) : (tensor<32x32xf32>) -> tensor<2x32x16xf32>
// CHECK: %[[D0:.*]] = talc.derive #talc.rows<first = 0, count = 33, period = 66> of(%arg4)
// CHECK: talc.derive #talc.pad of(%[[D0]]) : (tensor<33x5xf32>) -> tensor<48x5xf32>
// CHECK: %[[DOWN:.*]] = talc.derive #talc.pack of(%{{.*}}) : (tensor<96x5xf32>) -> tensor<6x5x16xf32>
// CHECK: talc.experts silu %arg0, %arg1, %[[GATES]] down %[[DOWN]] chosen 1
func.func @experts(%x: tensor<?x32xf32>, %routes: tensor<?x2xf32>, %gate: tensor<10x32xf32>, %up: tensor<10x32xf32>, %down: tensor<66x5xf32>) -> tensor<?x33xf32> {
  %y = talc.experts silu %x, %routes, %gate, %up down %down chosen 1 : (tensor<?x32xf32>, tensor<?x2xf32>, tensor<10x32xf32>, tensor<10x32xf32>, tensor<66x5xf32>) -> tensor<?x33xf32>
  return %y : tensor<?x33xf32>
}
