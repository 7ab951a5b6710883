// SPDX-License-Identifier: Apache-2.0
// The verifier refuses operations of backward functions that do not fit.
// RUN: talc-opt %s -split-input-file -verify-diagnostics

talc.weight @w : tensor<4x8xf32> = #talc.random<seed = 1, mean = 0.0, deviation = 1.0>
func.func @get_gradient() {
  // expected-error @+1 {{'talc.get_gradient' op has the type 'memref<8x4xf32>', but @w is 'tensor<4x8xf32>'}}
  %0 = talc.get_gradient @w : memref<8x4xf32>
  return
}

// -----

func.func @no_weight() {
  // expected-error @+1 {{'talc.get_gradient' op names @w, which is not a talc.weight}}
  %0 = talc.get_gradient @w : memref<4x8xf32>
  return
}

// -----

func.func @linear_dgrad(%g: tensor<?x16xf32>, %w: tensor<16x8xf32>) {
  // expected-error @+1 {{'talc.linear_dgrad' op makes 7 features of 16 in 1 groups of at least 8}}
  %0 = talc.linear_dgrad %g, %w : (tensor<?x16xf32>, tensor<16x8xf32>) -> tensor<?x7xf32>
  return
}

// -----

func.func @linear_wgrad(%g: tensor<?x16xf32>, %x: tensor<?x8xf32>, %dw: memref<15x8xf32>) {
  // expected-error @+1 {{'talc.linear_wgrad' op number of rows is 15, expected 16}}
  talc.linear_wgrad %g, %x into %dw : tensor<?x16xf32>, tensor<?x8xf32>, memref<15x8xf32>
  return
}

// -----

func.func @rank(%g: tensor<?x16xf32>, %x: tensor<?x8xf32>, %dw: memref<16xf32>) {
  // expected-error @+1 {{has the buffer 'memref<16xf32>', expected one of rank 2 and known size}}
  talc.linear_wgrad %g, %x into %dw : tensor<?x16xf32>, tensor<?x8xf32>, memref<16xf32>
  return
}

// -----

func.func @sum_rows(%g: tensor<?x8xf32>, %db: memref<3xf32>) {
  // expected-error @+1 {{'talc.sum_rows' op sums 8 features into 3}}
  talc.sum_rows %g into %db : tensor<?x8xf32>, memref<3xf32>
  return
}

// -----

func.func @norm_dgrad(%g: tensor<?x8xf32>, %w: tensor<4xf32>) {
  // expected-error @+1 {{'talc.norm_dgrad' op length of the scale is 4, expected 8}}
  %0 = talc.norm_dgrad rms %g, %g, %w epsilon 0.0 : tensor<?x8xf32>, tensor<4xf32>
  return
}

// -----

func.func @norm_wgrad(%g: tensor<?x8xf32>, %dw: memref<8xf32>) {
  // expected-error @+1 {{'talc.norm_wgrad' op divides 8 features into 3 groups}}
  talc.norm_wgrad rms %g, %g into %dw epsilon 0.0 {groups = 3} : tensor<?x8xf32>, memref<8xf32>
  return
}

// -----

func.func @clamp_dgrad(%g: tensor<?x8xf32>) {
  // expected-error @+1 {{'talc.clamp_dgrad' op has the bound 0.000000e+00, expected a number > 0}}
  %0 = talc.clamp_dgrad %g, %g to 0.0 : tensor<?x8xf32>
  return
}

// -----

func.func @rope_dgrad(%g: tensor<?x8xf32>, %s: !talc.sequences) {
  // expected-error @+1 {{'talc.rope_dgrad' op rotates 6 features of heads of width 4, expected an even number up to that width}}
  %0 = talc.rope_dgrad %g, %s heads 2 rotary 6 base 1.0e4 : tensor<?x8xf32>
  return
}

// -----

func.func @experts_dgrad(%g: tensor<?x8xf32>, %routes: tensor<?x2xf32>, %up: tensor<24x8xf32>, %down: tensor<15x12xf32>) {
  // expected-error @+1 {{'talc.experts_dgrad' op size of the down projection is 15, expected 16}}
  %0, %1 = talc.experts_dgrad silu %g, %g, %routes, %up, %up down %down : (tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x2xf32>, tensor<24x8xf32>, tensor<24x8xf32>, tensor<15x12xf32>) -> (tensor<?x8xf32>, tensor<?x2xf32>)
  return
}

// -----

func.func @experts_wgrad(%g: tensor<?x8xf32>, %routes: tensor<?x2xf32>, %up: tensor<24x8xf32>, %down: tensor<16x12xf32>, %dup: memref<24x8xf32>) {
  // expected-error @+1 {{'talc.experts_wgrad' op has the buffer 'memref<24x8xf32>' of a weight 'tensor<16x12xf32>'}}
  talc.experts_wgrad silu %g, %g, %routes, %up, %up down %down into %dup, %dup, %dup : tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x2xf32>, tensor<24x8xf32>, tensor<24x8xf32>, tensor<16x12xf32>, memref<24x8xf32>, memref<24x8xf32>, memref<24x8xf32>
  return
}

// -----

func.func @spread(%g: tensor<?x8xf32>, %s: !talc.sequences) {
  // expected-error @+1 {{'talc.spread' op width of the result is 9, expected 8}}
  %0 = talc.spread %g, %s : tensor<?x8xf32> -> tensor<?x9xf32>
  return
}

// -----

func.func @place(%g: tensor<?x8xf32>) {
  // expected-error @+1 {{'talc.place' op puts 8 features at 3 of 10}}
  %0 = talc.place %g at 3 : tensor<?x8xf32> -> tensor<?x10xf32>
  return
}

// -----

func.func @slice_heads(%g: tensor<?x8xf32>) {
  // expected-error @+1 {{'talc.slice_heads' op takes 2 features from 3 on, of heads of 4}}
  %0 = talc.slice_heads %g heads 2 at 3 : tensor<?x8xf32> -> tensor<?x4xf32>
  return
}

// -----

func.func @embedding_wgrad(%ids: tensor<?xi32>, %g: tensor<?x8xf32>, %dtable: memref<11x7xf32>) {
  // expected-error @+1 {{'talc.embedding_wgrad' op width of the gradient is 8, expected 7}}
  talc.embedding_wgrad %ids, %g into %dtable : tensor<?xi32>, tensor<?x8xf32>, memref<11x7xf32>
  return
}

// -----

func.func @position_wgrad(%s: !talc.sequences, %g: tensor<?x8xf32>, %dtable: memref<11x8xf32>) {
  // expected-error @+1 {{'talc.position_wgrad' op has the negative offset -1}}
  talc.position_wgrad %s, %g into %dtable {offset = -1} : tensor<?x8xf32>, memref<11x8xf32>
  return
}

// -----

func.func @token_type_wgrad(%s: !talc.sequences, %g: tensor<?x8xf32>, %dtable: memref<?x8xf32>) {
  // expected-error @+1 {{'talc.token_type_wgrad' op has the buffer 'memref<?x8xf32>', expected one of rank 2 and known size}}
  talc.token_type_wgrad %s, %g into %dtable : tensor<?x8xf32>, memref<?x8xf32>
  return
}

// -----

func.func @attention_dgrad(%g: tensor<?x8xf32>, %s: !talc.sequences) {
  // expected-error @+1 {{'talc.attention_dgrad' op shares 3 key-value heads among 4 heads}}
  %0, %1, %2 = talc.attention_dgrad full %g, %g, %g, %g, %s heads 4, 3 scale 0.5 : tensor<?x8xf32>, tensor<?x8xf32>
  return
}

// -----

func.func @attention_dgrad_sinks(%g: tensor<?x8xf32>, %s: !talc.sequences, %b: memref<4xf32>) {
  // expected-error @+1 {{'talc.attention_dgrad' op has a buffer for the gradient of sinks, but no sinks}}
  %0, %1, %2 = talc.attention_dgrad full %g, %g, %g, %g, %s heads 4, 4 scale 0.5 into %b : memref<4xf32> : tensor<?x8xf32>, tensor<?x8xf32>
  return
}

// -----

func.func @attention_dgrad_buffer(%g: tensor<?x8xf32>, %s: !talc.sequences, %sinks: tensor<4xf32>, %b: memref<f32>) {
  // expected-error @+1 {{'talc.attention_dgrad' op has the buffer 'memref<f32>' for the sinks of 4 heads}}
  %0, %1, %2 = talc.attention_dgrad full %g, %g, %g, %g, %s heads 4, 4 scale 0.5 sinks %sinks : tensor<4xf32> into %b : memref<f32> : tensor<?x8xf32>, tensor<?x8xf32>
  return
}

// -----

func.func @cross_entropy(%logits: tensor<?x8xf32>, %labels: tensor<?xi32>) {
  // expected-error @+1 {{'talc.cross_entropy' op has the smoothing 1.000000e+00, expected a number >= 0 and < 1}}
  %0, %1 = talc.cross_entropy %logits, %labels {smoothing = 1.0} : tensor<?x8xf32>, tensor<?xi32> -> tensor<?x1xf32>
  return
}
