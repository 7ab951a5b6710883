// SPDX-License-Identifier: Apache-2.0
// hoist-recipes: derivations leave block functions through their calls and become weights, equal ones only once.
// RUN: talc-opt %s -hoist-recipes -split-input-file -verify-diagnostics | FileCheck %s

// CHECK: module
module {
  // CHECK-NEXT: talc.weight @a :
  talc.weight @a : tensor<32x32xf32> = #talc.file<"m", 0, f32>
  // CHECK-NEXT: talc.weight @b :
  talc.weight @b : tensor<32x32xf32> = #talc.file<"m", 4096, f32>
  // A name that the pass would like to use is taken, here by another recipe.
  // CHECK-NEXT: talc.weight @b.packed : tensor<4x32x8xf32>
  talc.weight @b.packed : tensor<4x32x8xf32> = #talc.pack of [@b]
  talc.weight @dead : tensor<32xf32> = #talc.fill<1.0>
  // CHECK-NEXT: talc.weight @rotary_table : tensor<64x16xf32> = #talc.rotary_table<base = 1.000000e+04> {sym_visibility = "private"}
  // CHECK-NEXT: talc.weight @a.merged : tensor<64x32xf32> = #talc.concat of [@a, @b]
  // CHECK-NEXT: talc.weight @a.merged.packed : tensor<4x32x16xf32> = #talc.pack of [@a.merged]
  // CHECK-NEXT: talc.weight @[[B:b.packed_[0-9]+]] : tensor<2x32x16xf32> = #talc.pack of [@b]
  // CHECK-NEXT: talc.weight @b.merged : tensor<64x32xf32> = #talc.concat of [@b, @b]
  // CHECK-NEXT: talc.weight @b.merged.packed : tensor<4x32x16xf32> = #talc.pack of [@b.merged]
  // CHECK-NOT: talc.weight

  // Weights that the block does not use any more are not arguments any more.
  // CHECK-LABEL: func.func private @block
  // CHECK-SAME: (%[[X:[^:]*]]: tensor<?x32xf32>, %[[S:[^:]*]]: !talc.sequences, %[[TABLE:[^:]*]]: tensor<64x16xf32>, %[[W:[^:]*]]: tensor<4x32x16xf32>, %[[V:[^:]*]]: tensor<2x32x16xf32>)
  // CHECK-NOT: talc.derive
  // CHECK: talc.rope %[[X]], %[[S]] {{.*}} table %[[TABLE]]
  // CHECK: talc.rope {{.*}} table %[[TABLE]]
  // CHECK: talc.linear %{{.*}}, %[[W]]
  // CHECK: talc.linear %{{.*}}, %[[V]]
  func.func private @block(%x: tensor<?x32xf32>, %s: !talc.sequences, %q: tensor<32x32xf32>, %k: tensor<32x32xf32>) -> (tensor<?x64xf32>, tensor<?x32xf32>) {
    %t0 = talc.derive #talc.rotary_table<base = 10000.0> of () : () -> tensor<64x16xf32>
    %r0 = talc.rope %x, %s heads 2 rotary 16 base 10000.0 table %t0 : tensor<64x16xf32> : tensor<?x32xf32>
    %t1 = talc.derive #talc.rotary_table<base = 10000.0> of () : () -> tensor<64x16xf32>
    %r1 = talc.rope %r0, %s heads 2 rotary 16 base 10000.0 table %t1 : tensor<64x16xf32> : tensor<?x32xf32>
    %m = talc.derive #talc.concat of (%q, %k) : (tensor<32x32xf32>, tensor<32x32xf32>) -> tensor<64x32xf32>
    %p = talc.derive #talc.pack of (%m) : (tensor<64x32xf32>) -> tensor<4x32x16xf32>
    %y = talc.linear %r1, %p : (tensor<?x32xf32>, tensor<4x32x16xf32>) -> tensor<?x64xf32>
    %b = talc.get_weight @b : tensor<32x32xf32>
    %v = talc.derive #talc.pack of (%b) : (tensor<32x32xf32>) -> tensor<2x32x16xf32>
    %z = talc.linear %r1, %v : (tensor<?x32xf32>, tensor<2x32x16xf32>) -> tensor<?x32xf32>
    return %y, %z : tensor<?x64xf32>, tensor<?x32xf32>
  }

  // The derivations pass through a function between the block and the model.
  // CHECK-LABEL: func.func private @twice
  // CHECK: call @block(%arg0, %arg1, %[[TABLE:[^,]*]], %[[W0:[^,]*]], %[[V:[^,]*]])
  // CHECK: call @block(%{{[^,]*}}, %arg1, %{{[^,]*}}, %{{[^,]*}}, %{{[^,]*}})
  func.func private @twice(%x: tensor<?x32xf32>, %s: !talc.sequences, %q: tensor<32x32xf32>, %k: tensor<32x32xf32>) -> tensor<?x64xf32> {
    %y, %z = call @block(%x, %s, %q, %k) : (tensor<?x32xf32>, !talc.sequences, tensor<32x32xf32>, tensor<32x32xf32>) -> (tensor<?x64xf32>, tensor<?x32xf32>)
    %y2, %z2 = call @block(%z, %s, %k, %k) : (tensor<?x32xf32>, !talc.sequences, tensor<32x32xf32>, tensor<32x32xf32>) -> (tensor<?x64xf32>, tensor<?x32xf32>)
    return %y2 : tensor<?x64xf32>
  }

  // CHECK-LABEL: func.func @prefill
  // CHECK-NOT: talc.derive
  // CHECK-NOT: talc.get_weight @a :
  // CHECK: talc.get_weight @rotary_table
  // CHECK: talc.get_weight @a.merged.packed
  // CHECK: talc.get_weight @[[B]]
  // CHECK: call @twice
  func.func @prefill(%x: tensor<?x32xf32>, %s: !talc.sequences) -> tensor<?x64xf32> attributes {talc.entry} {
    %unused = talc.get_weight @dead : tensor<32xf32>
    %a = talc.get_weight @a : tensor<32x32xf32>
    %b = talc.get_weight @b : tensor<32x32xf32>
    %y = call @twice(%x, %s, %a, %b) : (tensor<?x32xf32>, !talc.sequences, tensor<32x32xf32>, tensor<32x32xf32>) -> tensor<?x64xf32>
    return %y : tensor<?x64xf32>
  }

  // CHECK-LABEL: func.func @decode
  // CHECK: talc.get_weight @a.merged.packed
  // CHECK: talc.get_weight @b.packed :
  func.func @decode(%x: tensor<1x32xf32>, %s: !talc.sequences) -> (tensor<1x64xf32>, tensor<1x32xf32>) attributes {talc.entry} {
    %a = talc.get_weight @a : tensor<32x32xf32>
    %b = talc.get_weight @b : tensor<32x32xf32>
    %m = talc.derive #talc.concat of (%a, %b) : (tensor<32x32xf32>, tensor<32x32xf32>) -> tensor<64x32xf32>
    %p = talc.derive #talc.pack of (%m) : (tensor<64x32xf32>) -> tensor<4x32x16xf32>
    %y = talc.linear %x, %p : (tensor<1x32xf32>, tensor<4x32x16xf32>) -> tensor<1x64xf32>
    %known = talc.derive #talc.pack of (%b) : (tensor<32x32xf32>) -> tensor<4x32x8xf32>
    %z = talc.linear %x, %known : (tensor<1x32xf32>, tensor<4x32x8xf32>) -> tensor<1x32xf32>
    return %y, %z : tensor<1x64xf32>, tensor<1x32xf32>
  }
}

// -----

// Without recipes only dead weights and arguments go.
// CHECK-LABEL: func.func @nothing
// CHECK-NEXT: %[[A:.*]] = talc.get_weight @a
// CHECK-NEXT: talc.linear %arg0, %[[A]]
talc.weight @a : tensor<32x32xf32> = #talc.file<"m", 0, f32>
func.func @nothing(%x: tensor<?x32xf32>, %unused: tensor<32xf32>) -> tensor<?x32xf32> {
  %a = talc.get_weight @a : tensor<32x32xf32>
  %y = talc.linear %x, %a : (tensor<?x32xf32>, tensor<32x32xf32>) -> tensor<?x32xf32>
  return %y : tensor<?x32xf32>
}

// -----

func.func @no_weight(%x: tensor<?x32xf32>, %w: tensor<32x32xf32>) -> tensor<?x32xf32> {
  // expected-error@+1 {{derives from a value that is not a weight}}
  %t = talc.derive #talc.transpose of (%w) : (tensor<32x32xf32>) -> tensor<32x32xf32>
  %y = talc.linear %x, %t : (tensor<?x32xf32>, tensor<32x32xf32>) -> tensor<?x32xf32>
  return %y : tensor<?x32xf32>
}

// -----

func.func @recursive(%x: tensor<?x32xf32>, %w: tensor<32x32xf32>) -> tensor<?x32xf32> {
  %t = talc.derive #talc.transpose of (%w) : (tensor<32x32xf32>) -> tensor<32x32xf32>
  %y = talc.linear %x, %t : (tensor<?x32xf32>, tensor<32x32xf32>) -> tensor<?x32xf32>
  // expected-error@-2 {{cannot leave its function, which calls itself}}
  %z = call @recursive(%y, %w) : (tensor<?x32xf32>, tensor<32x32xf32>) -> tensor<?x32xf32>
  return %z : tensor<?x32xf32>
}
