// SPDX-License-Identifier: Apache-2.0
// split-phases makes two copies of what the entry reaches; in @decode only keys and values keep any number of rows.
// RUN: talc-opt %s -split-phases -split-input-file -verify-diagnostics | FileCheck %s

talc.state @kv : !talc.state<2 x 16 x 64>

// CHECK-NOT: @model
// CHECK-NOT: @block(

// CHECK-LABEL: func.func private @unrelated(%arg0: tensor<?x32xf32>)
// CHECK-NEXT: return
func.func private @unrelated(%x: tensor<?x32xf32>) {
  return
}

func.func private @block(%x: tensor<?x32xf32>, %s: !talc.sequences, %kv: !talc.state<2 x 16 x 64>) -> tensor<?x32xf32> {
  talc.append %kv, %x, %x, %s : !talc.state<2 x 16 x 64>, tensor<?x32xf32>
  %k, %v = talc.read %kv, %s : !talc.state<2 x 16 x 64> -> tensor<?x32xf32>, tensor<?x32xf32>
  %k2 = talc.scale %k by 2.0 : tensor<?x32xf32>
  %y = talc.attention causal %x, %k2, %v, %s heads 2, 2 scale 0.25 : tensor<?x32xf32>, tensor<?x32xf32>
  %z = talc.scale %y by 2.0 : tensor<?x32xf32>
  return %z : tensor<?x32xf32>
}

// CHECK-LABEL: func.func @prefill
// CHECK-SAME: (%arg0: tensor<?xi32>, %arg1: !talc.sequences, %arg2: tensor<80x32xf32>) -> tensor<?x32xf32>
// CHECK-SAME: attributes {talc.entry, talc.phase = "prefill"}
// CHECK: call @block.prefill
// CHECK-LABEL: func.func private @block.prefill
// CHECK-SAME: (%arg0: tensor<?x32xf32>, {{.*}}) -> tensor<?x32xf32> attributes {talc.phase = "prefill"}
// CHECK: talc.attention {{.*}} : tensor<?x32xf32>, tensor<?x32xf32>
// CHECK-LABEL: func.func @decode
// CHECK-SAME: (%arg0: tensor<1xi32>, %arg1: !talc.sequences, %arg2: tensor<80x32xf32>) -> tensor<1x32xf32>
// CHECK-SAME: attributes {talc.entry, talc.phase = "decode"}
// CHECK: call @block.decode{{.*}} -> tensor<1x32xf32>
// CHECK: talc.select {{.*}} : tensor<1x32xf32> -> tensor<1x32xf32>
// CHECK-LABEL: func.func private @block.decode
// CHECK-SAME: (%arg0: tensor<1x32xf32>, {{.*}}) -> tensor<1x32xf32> attributes {talc.phase = "decode"}
// CHECK: %[[K:.*]], %[[V:.*]] = talc.read {{.*}} -> tensor<?x32xf32>, tensor<?x32xf32>
// CHECK-NEXT: %[[SCALED:.*]] = talc.scale %[[K]] {{.*}} : tensor<?x32xf32>
// CHECK-NEXT: %[[Y:.*]] = talc.attention causal %arg0, %[[SCALED]], %[[V]], {{.*}} : tensor<1x32xf32>, tensor<?x32xf32>
// CHECK-NEXT: talc.scale %[[Y]] {{.*}} : tensor<1x32xf32>
func.func @model(%ids: tensor<?xi32>, %s: !talc.sequences, %wte: tensor<80x32xf32>) -> tensor<?x32xf32> attributes {talc.entry} {
  %x = talc.embedding %ids, %wte : (tensor<?xi32>, tensor<80x32xf32>) -> tensor<?x32xf32>
  %kv = talc.get_state @kv : !talc.state<2 x 16 x 64>
  %y = call @block(%x, %s, %kv) : (tensor<?x32xf32>, !talc.sequences, !talc.state<2 x 16 x 64>) -> tensor<?x32xf32>
  %z = talc.select %y, %s : tensor<?x32xf32> -> tensor<?x32xf32>
  return %z : tensor<?x32xf32>
}

// -----

// The model may already have the name of a phase.
// CHECK-LABEL: func.func @prefill(%arg0: tensor<?x32xf32>)
// CHECK-LABEL: func.func @decode(%arg0: tensor<1x32xf32>)
func.func @decode(%x: tensor<?x32xf32>) -> tensor<?x32xf32> attributes {talc.entry} {
  return %x : tensor<?x32xf32>
}

// -----

func.func @model(%x: tensor<?x32xf32>) -> tensor<?x32xf32> attributes {talc.entry} {
  return %x : tensor<?x32xf32>
}
// expected-error@+1 {{has the name of a phase, @decode; give it another name}}
func.func @decode(%x: tensor<?x32xf32>) -> tensor<?x32xf32> {
  return %x : tensor<?x32xf32>
}

// -----

// expected-error@+1 {{has no function with talc.entry}}
module {
}

// -----

func.func @model(%x: tensor<?x32xf32>) attributes {talc.entry} {
  return
}
// expected-error@+1 {{is a second function with talc.entry, after @model}}
func.func @other(%x: tensor<?x32xf32>) attributes {talc.entry} {
  return
}
