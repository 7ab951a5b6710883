// SPDX-License-Identifier: Apache-2.0
// Verifiers of what treats groups of features apart, of experts, and of rings.
// RUN: talc-opt %s -split-input-file -verify-diagnostics

func.func @join_heads(%x: tensor<?x8xf32>, %y: tensor<?x6xf32>) {
  // expected-error @+1 {{'talc.join' op divides 8 and 6 features into 4 heads}}
  %0 = talc.join %x, %y heads 4 : (tensor<?x8xf32>, tensor<?x6xf32>) -> tensor<?x14xf32>
  return
}

// -----

func.func @join_width(%x: tensor<?x8xf32>, %y: tensor<?x4xf32>) {
  // expected-error @+1 {{'talc.join' op width of the result is 8, expected 12}}
  %0 = talc.join %x, %y heads 4 : (tensor<?x8xf32>, tensor<?x4xf32>) -> tensor<?x8xf32>
  return
}

// -----

func.func @linear_groups(%x: tensor<?x8xf32>, %w: tensor<6x4xf32>) {
  // expected-error @+1 {{'talc.linear' op divides 6 outputs into 4 groups}}
  %0 = talc.linear %x, %w {groups = 4 : i64} : (tensor<?x8xf32>, tensor<6x4xf32>) -> tensor<?x6xf32>
  return
}

// -----

func.func @linear_group_features(%x: tensor<?x8xf32>, %w: tensor<6x5xf32>) {
  // expected-error @+1 {{'talc.linear' op width of x is 8, expected 10}}
  %0 = talc.linear %x, %w {groups = 2 : i64} : (tensor<?x8xf32>, tensor<6x5xf32>) -> tensor<?x6xf32>
  return
}

// -----

func.func @route_groups(%x: tensor<?x8xf32>) {
  // expected-error @+1 {{'talc.route' op keeps 3 of 2 groups of 8 features by their 1 largest}}
  %0 = talc.route %x to 2 {groups = 2 : i64, topk_groups = 3 : i64} : tensor<?x8xf32>
  return
}

// -----

func.func @route_left(%x: tensor<?x8xf32>) {
  // expected-error @+1 {{'talc.route' op chooses 5 of 4 features}}
  %0 = talc.route %x to 5 {groups = 2 : i64} : tensor<?x8xf32>
  return
}

// -----

func.func @rope_digits(%x: tensor<?x8xf32>, %s: !talc.sequences) {
  // expected-error @+1 {{'talc.rope' op has the last position 0 and digits in base 10, expected numbers >= 0, and digits only with a table}}
  %0 = talc.rope %x, %s heads 2 rotary 4 base 10000.0 {digits = 10 : i64} : tensor<?x8xf32>
  return
}

// -----

func.func @experts_biases(%x: tensor<?x8xf32>, %r: tensor<?x2xf32>, %w: tensor<6x8xf32>, %d: tensor<16x3xf32>, %b: tensor<6xf32>) {
  // expected-error @+1 {{'talc.experts' op length of a bias is 6, expected 16}}
  %0 = talc.experts silu %x, %r, %w, %w down %d biases %b, %b, %b chosen 1 : (tensor<?x8xf32>, tensor<?x2xf32>, tensor<6x8xf32>, tensor<6x8xf32>, tensor<16x3xf32>, tensor<6xf32>, tensor<6xf32>, tensor<6xf32>) -> tensor<?x8xf32>
  return
}

// -----

func.func @experts_rounding(%x: tensor<?x8xf32>, %r: tensor<?x2xf32>, %w: tensor<4x8x16xf32>, %d: tensor<2x16x16xf32>) {
  // expected-error @+1 {{'talc.experts' op quantizes to 'f16', expected a type of quantized activations, and packed weights}}
  %0 = talc.experts silu %x, %r, %w down %d chosen 1 rounding f16 : (tensor<?x8xf32>, tensor<?x2xf32>, tensor<4x8x16xf32>, tensor<2x16x16xf32>) -> tensor<?x8xf32>
  return
}

// -----

func.func @experts_unpacked_rounding(%x: tensor<?x8xf32>, %r: tensor<?x2xf32>, %w: tensor<32x8xf32>, %d: tensor<16x16xf32>) {
  // expected-error @+1 {{'talc.experts' op quantizes to 'bf16', expected a type of quantized activations, and packed weights}}
  %0 = talc.experts silu %x, %r, %w, %w down %d chosen 1 rounding bf16 : (tensor<?x8xf32>, tensor<?x2xf32>, tensor<32x8xf32>, tensor<32x8xf32>, tensor<16x16xf32>) -> tensor<?x8xf32>
  return
}

// -----

func.func @experts_rounded_blocks(%x: tensor<?x8xf32>, %r: tensor<?x2xf32>, %w: tensor<4x8x16xf32>, %d: tensor<2x16x16xf32>) {
  // expected-error @+1 {{'talc.experts' op quantizes 16 features, expected a multiple of 32}}
  %0 = talc.experts silu %x, %r, %w down %d chosen 1 rounding !talc.stored<q8_sums> : (tensor<?x8xf32>, tensor<?x2xf32>, tensor<4x8x16xf32>, tensor<2x16x16xf32>) -> tensor<?x8xf32>
  return
}

// -----

// expected-error @+1 {{a KV cache for 8 tokens with a window of 9 and 0 sink tokens is impossible}}
talc.kv_cache @window : !talc.kv_cache<2 x 4 x 8 window 9>

// -----

// expected-error @+1 {{only KV caches of sequences can have a window}}
talc.kv_cache @source : !talc.kv_cache<2 x 4 x 8, source window 4>
