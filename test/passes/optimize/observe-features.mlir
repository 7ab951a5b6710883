// SPDX-License-Identifier: Apache-2.0
// observe-features: what layers multiply goes side by side into the second result, through calls.
// RUN: talc-opt %s -split-input-file --observe-features | FileCheck %s
// RUN: sed 's/attributes {talc.entry}//' %s | not talc-opt --observe-features 2>&1 | FileCheck %s --check-prefix=ENTRY
// ENTRY: error: has 0 entries; only models with one entry can be observed

// CHECK: talc.observed = [{features = 8 : i64, matrices = [@head]}, {features = 8 : i64, matrices = [@a, @b]},
// CHECK-SAME: {features = 8 : i64, matrices = [@c, @b]}]
// CHECK-SAME: talc.outputs = ["logits", "hidden"]
talc.weight @table : tensor<16x8xf32> = #talc.fill<1.0>
talc.weight @a : tensor<8x8xf32> = #talc.fill<1.0>
talc.weight @b : tensor<4x8xf32> = #talc.fill<1.0>
talc.weight @c : tensor<8x8xf32> = #talc.fill<1.0>
talc.weight @head : tensor<16x8xf32> = #talc.fill<1.0>

// CHECK: func.func private @block(%[[X:.*]]: tensor<?x8xf32>, {{.*}}) -> tensor<?x16xf32>
// CHECK: %[[Y:.*]] = talc.linear %[[X]],
// CHECK: %[[BOTH:.*]] = talc.join %[[Y]], %[[X]] heads 1
// CHECK: return %[[BOTH]] : tensor<?x16xf32>
func.func private @block(%x: tensor<?x8xf32>, %v: tensor<8x8xf32>, %w: tensor<4x8xf32>) -> tensor<?x8xf32> {
  %0 = talc.linear %x, %v : (tensor<?x8xf32>, tensor<8x8xf32>) -> tensor<?x8xf32>
  %1 = talc.linear %x, %w : (tensor<?x8xf32>, tensor<4x8xf32>) -> tensor<?x4xf32>
  return %0 : tensor<?x8xf32>
}

// CHECK: func.func @model(
// CHECK-NOT: talc.select
// CHECK: %[[FIRST:.*]] = call @block(
// CHECK: talc.slice %[[FIRST]] at 0
// CHECK: %[[A:.*]] = talc.slice %[[FIRST]] at 8
// CHECK: %[[SECOND:.*]] = call @block(
// CHECK: %[[Z:.*]] = talc.slice %[[SECOND]] at 0
// CHECK: %[[C:.*]] = talc.slice %[[SECOND]] at 8
// CHECK: %[[LOGITS:.*]] = talc.linear %[[Z]],
// CHECK: %[[PAIR:.*]] = talc.join %[[Z]], %[[A]] heads 1
// CHECK: %[[ALL:.*]] = talc.join %[[PAIR]], %[[C]] heads 1
// CHECK: return %[[LOGITS]], %[[ALL]] : tensor<?x16xf32>, tensor<?x24xf32>
func.func @model(%ids: tensor<?xi32>, %s: !talc.sequences) -> (tensor<?x16xf32>, tensor<?x8xf32>) attributes {talc.entry} {
  %table = talc.get_weight @table : tensor<16x8xf32>
  %a = talc.get_weight @a : tensor<8x8xf32>
  %b = talc.get_weight @b : tensor<4x8xf32>
  %c = talc.get_weight @c : tensor<8x8xf32>
  %head = talc.get_weight @head : tensor<16x8xf32>
  %x = talc.embedding %ids, %table : (tensor<?xi32>, tensor<16x8xf32>) -> tensor<?x8xf32>
  %y = call @block(%x, %a, %b) : (tensor<?x8xf32>, tensor<8x8xf32>, tensor<4x8xf32>) -> tensor<?x8xf32>
  %z = call @block(%y, %c, %b) : (tensor<?x8xf32>, tensor<8x8xf32>, tensor<4x8xf32>) -> tensor<?x8xf32>
  %last = talc.select %z, %s : tensor<?x8xf32> -> tensor<?x8xf32>
  %logits = talc.linear %last, %head : (tensor<?x8xf32>, tensor<16x8xf32>) -> tensor<?x16xf32>
  return %logits, %z : tensor<?x16xf32>, tensor<?x8xf32>
}

// -----

// Parts of logits multiply what the logits do.
// CHECK: talc.observed = [{features = 8 : i64, matrices = [@words]}], talc.outputs = ["logits", "hidden"]
module attributes {talc.outputs = ["logits", "head"]} {
  talc.weight @rows : tensor<16x8xf32> = #talc.fill<1.0>
  talc.weight @words : tensor<16x8xf32> = #talc.fill<1.0>
  // CHECK-LABEL: func.func @parts(
  // CHECK-COUNT-1: talc.linear
  // CHECK-NOT: talc.linear
  // CHECK: return %{{.*}}, %{{.*}} : tensor<?x16xf32>, tensor<?x8xf32>
  func.func @parts(%ids: tensor<?xi32>, %s: !talc.sequences) -> (tensor<?x16xf32>, tensor<?x16xf32>) attributes {talc.entry} {
    %rows = talc.get_weight @rows : tensor<16x8xf32>
    %words = talc.get_weight @words : tensor<16x8xf32>
    %x = talc.embedding %ids, %rows : (tensor<?xi32>, tensor<16x8xf32>) -> tensor<?x8xf32>
    %0 = talc.select %x, %s : tensor<?x8xf32> -> tensor<?x8xf32>
    %logits = talc.linear %0, %words : (tensor<?x8xf32>, tensor<16x8xf32>) -> tensor<?x16xf32>
    %1 = talc.select %x, %s {output = 1 : i64} : tensor<?x8xf32> -> tensor<?x8xf32>
    %head = talc.linear %1, %words : (tensor<?x8xf32>, tensor<16x8xf32>) -> tensor<?x16xf32>
    return %logits, %head : tensor<?x16xf32>, tensor<?x16xf32>
  }
}
