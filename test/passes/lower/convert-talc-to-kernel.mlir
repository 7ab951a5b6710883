// SPDX-License-Identifier: Apache-2.0
// convert-talc-to-kernel: every talc op as a compute op or linalg.generic, step and destination in every signature.
// RUN: talc-opt %s -split-input-file -convert-talc-to-kernel -cse -canonicalize | FileCheck %s

module attributes {talc.max_sequence = 64 : i64} {
talc.weight @wte : tensor<5x32x16xbf16> = #talc.fill<1.0>
talc.weight @wpe : tensor<66x32xf32> = #talc.fill<1.0>
talc.kv_cache @kv : !talc.kv_cache<1 x 16 x 64>

// Token ids and sequences leave the signature; the result goes to the caller's buffer. Rows behind select are counted
// by output_count.
// CHECK-LABEL: func.func @entry(
// CHECK-SAME: %[[STEP:[a-z0-9]+]]: !kernel.step) attributes {talc.entry}
// CHECK: %[[WTE:.*]] = kernel.weight %[[STEP]] @wte : tensor<5x32x16xbf16>
// CHECK: %[[ROWS:.*]] = kernel.token_count %[[STEP]]
// CHECK: %[[E:.*]] = tensor.empty(%[[ROWS]]) : tensor<?x32xf32>
// CHECK: %[[X:.*]] = kernel.gather ids %[[STEP]], %[[WTE]] plus 0 into %[[E]]
// CHECK: %[[WPE:.*]] = kernel.weight %[[STEP]] @wpe
// CHECK: %[[P:.*]] = kernel.gather positions %[[STEP]], %[[WPE]] plus 2 into %[[E]]
// CHECK: %[[KV:.*]] = kernel.kv_cache @kv
// CHECK: %[[Y:.*]] = call @block(%[[STEP]], %[[X]], %[[P]], %[[KV]], %[[E]])
// CHECK: %[[OUTPUTS:.*]] = kernel.output_count %[[STEP]] 0
// CHECK: %[[F:.*]] = tensor.empty(%[[OUTPUTS]]) : tensor<?x32xf32>
// CHECK: %[[S:.*]] = kernel.gather outputs %[[STEP]], %[[Y]] plus 0 into %[[F]]
// CHECK: %[[L:.*]] = tensor.empty(%[[OUTPUTS]]) : tensor<?x80xf32>
// CHECK: %[[Z:.*]] = kernel.matmul %[[STEP]], %[[S]], %[[WTE]] into %[[L]]
// CHECK: %[[OUT:.*]] = kernel.output %[[STEP]] 0 : memref<?x80xf32>
// CHECK: bufferization.materialize_in_destination %[[Z]] in restrict writable %[[OUT]]
// CHECK: return{{$}}
func.func @entry(%ids: tensor<?xi32>, %s: !talc.sequences) -> tensor<?x80xf32> attributes {talc.entry} {
  %wte = talc.get_weight @wte : tensor<5x32x16xbf16>
  %x = talc.embedding %ids, %wte : (tensor<?xi32>, tensor<5x32x16xbf16>) -> tensor<?x32xf32>
  %wpe = talc.get_weight @wpe : tensor<66x32xf32>
  %p = talc.position %s, %wpe {offset = 2 : i64} : tensor<66x32xf32> -> tensor<?x32xf32>
  %kv = talc.get_kv_cache @kv : !talc.kv_cache<1 x 16 x 64>
  %y = call @block(%x, %s, %p, %kv) : (tensor<?x32xf32>, !talc.sequences, tensor<?x32xf32>, !talc.kv_cache<1 x 16 x 64>) -> tensor<?x32xf32>
  %r = talc.select %y, %s : tensor<?x32xf32> -> tensor<?x32xf32>
  %z = talc.linear %r, %wte : (tensor<?x32xf32>, tensor<5x32x16xbf16>) -> tensor<?x80xf32>
  return %z : tensor<?x80xf32>
}

// A block gets its destination as last argument. Reads disappear: attention works on the state itself.
// CHECK-LABEL: func.func private @block(
// CHECK-SAME: %[[STEP:[a-z0-9]+]]: !kernel.step, %[[X:.*]]: tensor<?x32xf32>, %[[P:.*]]: tensor<?x32xf32>, %[[KV:.*]]: !talc.kv_cache<1 x 16 x 64>, %[[OUT:.*]]: tensor<?x32xf32>) -> tensor<?x32xf32>
// CHECK: %[[K:.*]] = tensor.extract_slice %[[X]][0, 16] [%{{.*}}, 16] [1, 1]
// CHECK: kernel.kv_append %[[STEP]], %[[KV]], %[[K]], %[[K]]
// CHECK-NOT: talc.kv_read
// CHECK: %[[A:.*]] = kernel.attention causal %[[STEP]], %[[X]], %[[KV]] heads 2 scale 2.500000e-01 window 7 into
// CHECK: %[[SUM:.*]] = linalg.generic {{.*}} ins(%[[A]], %[[P]] :
// CHECK: arith.addf
// CHECK: %[[R:.*]] = bufferization.materialize_in_destination %[[SUM]] in %[[OUT]]
// CHECK: return %[[R]]
func.func @block(%x: tensor<?x32xf32>, %s: !talc.sequences, %p: tensor<?x32xf32>, %kv: !talc.kv_cache<1 x 16 x 64>) -> tensor<?x32xf32> {
  %k = talc.slice %x at 16 : tensor<?x32xf32> -> tensor<?x16xf32>
  talc.kv_append %kv, %k, %k, %s : !talc.kv_cache<1 x 16 x 64>, tensor<?x16xf32>
  %keys, %values = talc.kv_read %kv, %s : !talc.kv_cache<1 x 16 x 64> -> tensor<?x16xf32>, tensor<?x16xf32>
  %a = talc.attention causal %x, %keys, %values, %s heads 2, 1 scale 0.25 {window = 7 : i64} : tensor<?x32xf32>, tensor<?x16xf32>
  %y = talc.add %a, %p : tensor<?x32xf32>
  return %y : tensor<?x32xf32>
}

// All tokens of a sequence fit in the window: there is none.
// CHECK-LABEL: func.func private @wide_window
// CHECK: kernel.attention full %{{.*}} heads 1 scale 5.000000e-01 window 0 into
func.func @wide_window(%x: tensor<?x8xf32>, %s: !talc.sequences, %kv: !talc.kv_cache<1 x 8 x 64>) -> tensor<?x8xf32> {
  %keys, %values = talc.kv_read %kv, %s : !talc.kv_cache<1 x 8 x 64> -> tensor<?x8xf32>, tensor<?x8xf32>
  %y = talc.attention full %x, %keys, %values, %s heads 1, 1 scale 0.5 {window = 9223372036854775807 : i64} : tensor<?x8xf32>, tensor<?x8xf32>
  return %y : tensor<?x8xf32>
}

// One row needs no row count.
// CHECK-LABEL: func.func private @one_row(
// CHECK-SAME: %[[STEP:[a-z0-9]+]]: !kernel.step, %[[X:.*]]: tensor<1x32xf32>, %[[W:.*]]: tensor<2x32x16xf32>, %[[B:.*]]: tensor<32xf32>, %[[G:.*]]: tensor<5x32x16xf32>, %[[N:.*]]: tensor<16xf32>, %[[T:.*]]: tensor<64x8xf32>,
// CHECK-NOT: token_count
// CHECK: %[[E:.*]] = tensor.empty() : tensor<1x32xf32>
// CHECK: %[[Y:.*]] = kernel.norm layer %[[STEP]], %[[X]], %[[N]] bias %[[N]] epsilon 5.000000e-01 groups 2 into %[[E]]
// CHECK: %[[P:.*]] = kernel.softmax %[[STEP]], %[[Y]] into %[[E]]
// CHECK: %[[R:.*]] = kernel.rope %[[STEP]], %[[P]], %[[T]] heads 2 into %[[E]]
// CHECK: %[[L:.*]] = kernel.matmul %[[STEP]], %[[R]], %[[W]] inputs(%[[B]]) into %[[E]] {
// CHECK-NEXT: ^bb0(%[[SUM:.*]]: f32, %[[BIAS:.*]]: f32):
// CHECK-NEXT: %[[V:.*]] = arith.addf %[[SUM]], %[[BIAS]]
// CHECK-NEXT: kernel.yield %[[V]]
// CHECK: kernel.matmul %[[STEP]], %[[L]], %[[G]] into %{{.*}} gated {
// CHECK-NEXT: ^bb0(%[[GATE:.*]]: f32, %[[UP:.*]]: f32):
// CHECK-NEXT: %[[V:.*]] = arith.maximumf %[[GATE]],
// CHECK-NEXT: %[[W:.*]] = arith.mulf %[[V]], %[[UP]]
// CHECK-NEXT: kernel.yield %[[W]]
func.func @one_row(%x: tensor<1x32xf32>, %s: !talc.sequences, %w: tensor<2x32x16xf32>, %b: tensor<32xf32>, %g: tensor<5x32x16xf32>, %n: tensor<16xf32>, %t: tensor<64x8xf32>) -> tensor<1x40xf32> {
  %y = talc.norm layer %x, %n bias %n epsilon 0.5 {groups = 2 : i64} : (tensor<1x32xf32>, tensor<16xf32>, tensor<16xf32>) -> tensor<1x32xf32>
  %p = talc.softmax %y : tensor<1x32xf32>
  %r = talc.rope %p, %s heads 2 rotary 8 base 10000.0 table %t : tensor<64x8xf32> : tensor<1x32xf32>
  %l = talc.linear %r, %w bias %b : (tensor<1x32xf32>, tensor<2x32x16xf32>, tensor<32xf32>) -> tensor<1x32xf32>
  %z = talc.gated_linear relu %l, %g : (tensor<1x32xf32>, tensor<5x32x16xf32>) -> tensor<1x40xf32>
  return %z : tensor<1x40xf32>
}
}

// -----

// The scalar body of every activation.
// CHECK-LABEL: @activations
// CHECK: ^bb0(%[[X:.*]]: f32, %{{.*}}: f32):
// CHECK-NEXT: %[[R:.*]] = arith.maximumf %[[X]], %[[ZERO:.*]] : f32
// CHECK-NEXT: linalg.yield %[[R]]
// relu_squared
// CHECK: arith.maximumf
// CHECK-NEXT: %[[R:.*]] = arith.mulf %[[M:.*]], %[[M]]
// CHECK-NEXT: linalg.yield %[[R]]
// gelu: x/2 * (1 + erf(x / sqrt 2))
// CHECK: %[[U:.*]] = arith.mulf %[[X:.*]], %[[ROOT:.*]] : f32
// CHECK-NEXT: %[[ERF:.*]] = math.erf %[[U]]
// CHECK-NEXT: %[[H:.*]] = arith.mulf %[[X]], %[[HALF:.*]] : f32
// CHECK-NEXT: %[[P:.*]] = arith.addf %[[ERF]], %[[ONE:.*]] : f32
// CHECK-NEXT: arith.mulf %[[H]], %[[P]]
// gelu_tanh: x / (1 + exp(-2u))
// CHECK: %[[SQUARE:.*]] = arith.mulf %[[X:.*]], %[[X]] : f32
// CHECK: math.exp
// CHECK-NEXT: %[[D:.*]] = arith.addf
// CHECK-NEXT: arith.divf %[[X]], %[[D]]
// silu: x / (1 + exp(-x))
// CHECK: %[[NEG:.*]] = arith.mulf %[[X:.*]], %[[MINUS:.*]] : f32
// CHECK-NEXT: %[[EXP:.*]] = math.exp %[[NEG]]
// CHECK-NEXT: %[[D:.*]] = arith.addf %[[EXP]], %[[ONE]]
// CHECK-NEXT: arith.divf %[[X]], %[[D]]
// quick_gelu: x / (1 + exp(-1.702 x))
// CHECK: %[[U:.*]] = arith.mulf %[[X:.*]], %{{.*}} : f32
// CHECK-NEXT: %[[NEG:.*]] = arith.mulf %[[U]], %[[MINUS]]
// CHECK-NEXT: math.exp %[[NEG]]
// CHECK: arith.divf %[[X]],
// sigmoid: 1 / (1 + exp(-x))
// CHECK: math.exp
// CHECK-NEXT: %[[D:.*]] = arith.addf
// CHECK-NEXT: arith.divf %[[ONE]], %[[D]]
// CHECK: math.tanh
// scale
// CHECK: ^bb0(%[[X:.*]]: f32, %{{.*}}: f32):
// CHECK-NEXT: %[[R:.*]] = arith.mulf %[[X]], %{{.*}} : f32
// CHECK-NEXT: linalg.yield %[[R]]
// mul
// CHECK: ^bb0(%[[X:.*]]: f32, %[[Y:.*]]: f32, %{{.*}}: f32):
// CHECK-NEXT: arith.mulf %[[X]], %[[Y]]
func.func @activations(%x: tensor<?x32xf32>) -> tensor<?x32xf32> {
  %0 = talc.activation relu %x : tensor<?x32xf32>
  %1 = talc.activation relu_squared %0 : tensor<?x32xf32>
  %2 = talc.activation gelu %1 : tensor<?x32xf32>
  %3 = talc.activation gelu_tanh %2 : tensor<?x32xf32>
  %4 = talc.activation silu %3 : tensor<?x32xf32>
  %5 = talc.activation quick_gelu %4 : tensor<?x32xf32>
  %6 = talc.activation sigmoid %5 : tensor<?x32xf32>
  %7 = talc.activation tanh %6 : tensor<?x32xf32>
  %8 = talc.scale %7 by 3.0 : tensor<?x32xf32>
  %9 = talc.mul %8, %0 : tensor<?x32xf32>
  return %9 : tensor<?x32xf32>
}

// -----

// Routes keep the largest features; experts are two halves: what each slot of a row makes, and what they add up to.
// CHECK-LABEL: @mixture
// CHECK: %[[ROUTES:.*]] = kernel.route %[[STEP:.*]], %{{.*}} to 2 normalized into
// CHECK: %[[HIDDEN:.*]] = kernel.experts %[[STEP]], %[[X:.*]] routes %[[ROUTES]], %{{.*}} slots 2 into %{{.*}} gated {
// CHECK-NEXT: ^bb0(%[[GATE:.*]]: f32, %[[UP:.*]]: f32):
// CHECK-NEXT: %[[A:.*]] = arith.maximumf %[[GATE]],
// CHECK-NEXT: %[[M:.*]] = arith.mulf %[[A]], %[[UP]]
// CHECK-NEXT: kernel.yield %[[M]]
// CHECK-NEXT: -> tensor<1x16xf32>
// CHECK: kernel.experts %[[STEP]], %[[HIDDEN]] routes %[[ROUTES]], %{{.*}} slots 2 into %{{.*}} {
// CHECK-NEXT: ^bb0(%[[SUM:.*]]: f32, %[[ROUTE:.*]]: f32, %[[BEFORE:.*]]: f32):
// CHECK-NEXT: %[[W:.*]] = arith.mulf %[[SUM]], %[[ROUTE]]
// CHECK-NEXT: %[[S:.*]] = arith.addf %[[BEFORE]], %[[W]]
// CHECK-NEXT: kernel.yield %[[S]]
module attributes {talc.max_sequence = 64 : i64} {
func.func private @mixture(%x: tensor<1x32xf32>, %p: tensor<1x3xf32>, %gate: tensor<3x32x16xf32>, %down: tensor<6x8x16xf32>) -> tensor<1x32xf32> {
  %r = talc.route %p to 2 normalized : tensor<1x3xf32>
  %y = talc.experts relu %x, %r, %gate down %down chosen 2 : (tensor<1x32xf32>, tensor<1x3xf32>, tensor<3x32x16xf32>, tensor<6x8x16xf32>) -> tensor<1x32xf32>
  return %y : tensor<1x32xf32>
}
}

// -----

// The hidden values between the two halves are quantized if the op says so.
// CHECK-LABEL: @rounded_mixture
// CHECK: %[[HIDDEN:.*]] = kernel.experts %[[STEP:.*]], %{{.*}} routes %{{.*}} gated {
// CHECK: -> tensor<?x64xf32>
// CHECK: %[[ROUNDED:.*]] = kernel.quantize %[[STEP]], %[[HIDDEN]] into %{{.*}} : (!kernel.step, tensor<?x64xf32>, tensor<?x64x!talc.stored<q8_sums>>) -> tensor<?x64x!talc.stored<q8_sums>>
// CHECK: kernel.experts %[[STEP]], %[[ROUNDED]] routes
module attributes {talc.max_sequence = 64 : i64} {
func.func private @rounded_mixture(%x: tensor<?x32xf32>, %r: tensor<?x3xf32>, %gate: tensor<12x32x16xf32>, %down: tensor<6x32x16x!talc.stored<q8_0>>) -> tensor<?x32xf32> {
  %y = talc.experts relu %x, %r, %gate down %down chosen 2 rounding !talc.stored<q8_sums> : (tensor<?x32xf32>, tensor<?x3xf32>, tensor<12x32x16xf32>, tensor<6x32x16x!talc.stored<q8_0>>) -> tensor<?x32xf32>
  return %y : tensor<?x32xf32>
}
}

// -----

// CHECK-LABEL: @remembering
// CHECK: kernel.memory delta %[[STEP:.*]], %[[L:.*]], %[[Q:.*]], %[[K:.*]], %[[V:.*]], %[[M:.*]] gates %{{.*}} heads 4 local_first into %{{.*}} : (!kernel.step, tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x4xf32>, tensor<?x4xf32>, !talc.kv_cache<2 x 2 x 64, memory>, tensor<4xf32>, tensor<?x8xf32>) -> tensor<?x8xf32>
module attributes {talc.max_sequence = 64 : i64, talc.segmented} {
func.func private @remembering(%l: tensor<?x8xf32>, %q: tensor<?x8xf32>, %k: tensor<?x4xf32>, %v: tensor<?x4xf32>, %m: !talc.kv_cache<2 x 2 x 64, memory>, %g: tensor<4xf32>, %s: !talc.sequences) -> tensor<?x8xf32> {
  %y = talc.memory delta %l, %q, %k, %v, %m, %s gates %g heads 4 local_first : (tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x4xf32>, tensor<?x4xf32>, !talc.kv_cache<2 x 2 x 64, memory>, !talc.sequences, tensor<4xf32>) -> tensor<?x8xf32>
  return %y : tensor<?x8xf32>
}
}

// -----

// A vocabulary in two tables, clusters of words, and a bias of each row beside keys that are there before the first.
// CHECK-LABEL: @parts
// CHECK: kernel.gather ids %{{.*}}, %{{.*}} plus -5 partial into
// CHECK: kernel.attention causal %{{.*}} row_bias %{{.*}} zero_start heads 2 scale 1.000000e+00 window 100 into
// CHECK: kernel.log_softmax %{{.*}}, %{{.*}} tails [3] into %{{.*}} -> tensor<?x31xf32>
module attributes {talc.max_sequence = 64 : i64} {
talc.weight @rare : tensor<7x32xf32> = #talc.fill<1.0>
talc.kv_cache @kv : !talc.kv_cache<2 x 16 x 64>
func.func @parts(%ids: tensor<?xi32>, %s: !talc.sequences, %own: tensor<?x8xf32>) -> tensor<?x31xf32> {
  %table = talc.get_weight @rare : tensor<7x32xf32>
  %kv = talc.get_kv_cache @kv : !talc.kv_cache<2 x 16 x 64>
  %x = talc.embedding %ids, %table from 5 : (tensor<?xi32>, tensor<7x32xf32>) -> tensor<?x32xf32>
  talc.kv_append %kv, %x, %x, %s : !talc.kv_cache<2 x 16 x 64>, tensor<?x32xf32>
  %k, %v = talc.kv_read %kv, %s : !talc.kv_cache<2 x 16 x 64> -> tensor<?x32xf32>, tensor<?x32xf32>
  %y = talc.attention causal %x, %k, %v, %s heads 2, 2 scale 1.0 row_bias %own : tensor<?x8xf32> zero_start {window = 100 : i64} : tensor<?x32xf32>, tensor<?x32xf32>
  %z = talc.log_softmax %y tails [3] : tensor<?x32xf32> -> tensor<?x31xf32>
  return %z : tensor<?x31xf32>
}
}
