// SPDX-License-Identifier: Apache-2.0
// specialize-formats: one function for each combination of formats in which calls pass their weights.
// RUN: talc-opt %s --specialize-formats | FileCheck %s
// RUN: talc-opt %s --assign-formats=weights=q8_0 --specialize-formats | FileCheck %s --check-prefix=ONE
// RUN: talc-opt %s --assign-formats="weights=q8_0;c.*=q4_0" --specialize-formats | FileCheck %s --check-prefix=NAMED

talc.weight @a.weight : tensor<32x32xf32> = #talc.file<"m", 0, !talc.stored<q4_0>>
talc.weight @b.weight : tensor<32x32xf32> = #talc.file<"m", 0, !talc.stored<q8_0>>
talc.weight @c.0.weight : tensor<32x32xf32> = #talc.file<"m", 0, !talc.stored<q4_0>>
talc.weight @scale : tensor<32xf32> = #talc.file<"m", 0, f16>

// CHECK: func.func private @block(
// CHECK: func.func private @block_0(
// CHECK-NOT: func.func private
// ONE: func.func private @block(
// ONE-NOT: func.func private
func.func private @block(%x: tensor<?x32xf32>, %w: tensor<32x32xf32>) -> tensor<?x32xf32> {
  %y = talc.linear %x, %w : (tensor<?x32xf32>, tensor<32x32xf32>) -> tensor<?x32xf32>
  return %y : tensor<?x32xf32>
}

// CHECK: func.func @model
// CHECK: call @block(%{{.*}}, %[[A:.*]]) :
// CHECK: call @block_0(
// CHECK: call @block(
// ONE-COUNT-3: call @block(
// NAMED: func.func @model
// NAMED: call @block(
// NAMED: call @block(
// NAMED: call @block_0(
func.func @model(%x: tensor<?x32xf32>, %s: !talc.sequences) -> tensor<?x32xf32> {
  %a = talc.get_weight @a.weight : tensor<32x32xf32>
  %b = talc.get_weight @b.weight : tensor<32x32xf32>
  %c = talc.get_weight @c.0.weight : tensor<32x32xf32>
  %0 = call @block(%x, %a) : (tensor<?x32xf32>, tensor<32x32xf32>) -> tensor<?x32xf32>
  %1 = call @block(%0, %b) : (tensor<?x32xf32>, tensor<32x32xf32>) -> tensor<?x32xf32>
  %2 = call @block(%1, %c) : (tensor<?x32xf32>, tensor<32x32xf32>) -> tensor<?x32xf32>
  return %2 : tensor<?x32xf32>
}
