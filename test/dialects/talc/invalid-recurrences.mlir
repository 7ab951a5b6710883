// SPDX-License-Identifier: Apache-2.0
// Verifiers of ops with states of recurrences.
// RUN: talc-opt %s -split-input-file -verify-diagnostics

// expected-error @below {{a state of 0 heads of 2 rows and 8 columns is impossible}}
talc.kv_cache @state : !talc.kv_cache<0 x 8 x 2, recurrence>

// -----

func.func @role(%x: tensor<?x8xf32>, %w: tensor<3x8xf32>, %m: !talc.kv_cache<1 x 8 x 2>, %s: !talc.sequences) {
  // expected-error @below {{'talc.causal_conv' op has the state '!talc.kv_cache<1 x 8 x 2>', expected one of the role recurrence}}
  %0 = talc.causal_conv %x, %w, %m, %s : (tensor<?x8xf32>, tensor<3x8xf32>, !talc.kv_cache<1 x 8 x 2>, !talc.sequences) -> tensor<?x8xf32>
  return
}

// -----

func.func @state(%x: tensor<?x8xf32>, %w: tensor<4x8xf32>, %m: !talc.kv_cache<1 x 8 x 2, recurrence>, %s: !talc.sequences) {
  // expected-error @below {{expected 1 x 8 x 3}}
  %0 = talc.causal_conv %x, %w, %m, %s : (tensor<?x8xf32>, tensor<4x8xf32>, !talc.kv_cache<1 x 8 x 2, recurrence>, !talc.sequences) -> tensor<?x8xf32>
  return
}

// -----

func.func @taps(%x: tensor<?x8xf32>, %w: tensor<1x8xf32>, %m: !talc.kv_cache<1 x 8 x 1, recurrence>, %s: !talc.sequences) {
  // expected-error @below {{has a weight for 1 tokens, expected 2 to 16}}
  %0 = talc.causal_conv %x, %w, %m, %s : (tensor<?x8xf32>, tensor<1x8xf32>, !talc.kv_cache<1 x 8 x 1, recurrence>, !talc.sequences) -> tensor<?x8xf32>
  return
}

// -----

func.func @width(%x: tensor<?x8xf32>, %w: tensor<3x9xf32>, %m: !talc.kv_cache<1 x 8 x 2, recurrence>, %s: !talc.sequences) {
  // expected-error @below {{width of the weight is 9, expected 8}}
  %0 = talc.causal_conv %x, %w, %m, %s : (tensor<?x8xf32>, tensor<3x9xf32>, !talc.kv_cache<1 x 8 x 2, recurrence>, !talc.sequences) -> tensor<?x8xf32>
  return
}

// -----

func.func @activation(%x: tensor<?x8xf32>, %w: tensor<3x8xf32>, %m: !talc.kv_cache<1 x 8 x 2, recurrence>, %s: !talc.sequences) {
  // expected-error @below {{has the activation tanh, expected silu}}
  %0 = talc.causal_conv %x, %w, %m, %s then tanh : (tensor<?x8xf32>, tensor<3x8xf32>, !talc.kv_cache<1 x 8 x 2, recurrence>, !talc.sequences) -> tensor<?x8xf32>
  return
}

// -----

func.func @shared(%q: tensor<?x18xf32>, %v: tensor<?x40xf32>, %h: tensor<?x4xf32>, %r: tensor<4xf32>, %m: !talc.kv_cache<4 x 10 x 6, recurrence>, %s: !talc.sequences) {
  // expected-error @below {{'talc.recurrence' op shares keys of 18 features among 4 heads of 6 rows}}
  %0 = talc.recurrence delta %q, %q, %v, %m, %s decay %h rates %r factors %h : (tensor<?x18xf32>, tensor<?x18xf32>, tensor<?x40xf32>, !talc.kv_cache<4 x 10 x 6, recurrence>, !talc.sequences, tensor<?x4xf32>, tensor<4xf32>, tensor<?x4xf32>) -> tensor<?x40xf32>
  return
}

// -----

func.func @decay(%q: tensor<?x12xf32>, %v: tensor<?x40xf32>, %d: tensor<?x3xf32>, %h: tensor<?x4xf32>, %r: tensor<4xf32>, %m: !talc.kv_cache<4 x 10 x 6, recurrence>, %s: !talc.sequences) {
  // expected-error @below {{width of the decay is 3, expected 4}}
  %0 = talc.recurrence additive %q, %q, %v, %m, %s decay %d rates %r factors %h : (tensor<?x12xf32>, tensor<?x12xf32>, tensor<?x40xf32>, !talc.kv_cache<4 x 10 x 6, recurrence>, !talc.sequences, tensor<?x3xf32>, tensor<4xf32>, tensor<?x4xf32>) -> tensor<?x40xf32>
  return
}

// -----

func.func @rates(%x: tensor<?x16xf32>, %b: tensor<?x10xf32>, %r: tensor<4x16xf32>, %d: tensor<16xf32>, %m: !talc.kv_cache<2 x 8 x 5, recurrence>, %s: !talc.sequences) {
  // expected-error @below {{'talc.selective_scan' op number of rows of the rates is 4, expected 5}}
  %0 = talc.selective_scan %x, %x, %b, %b, %m, %s rates %r skip %d : (tensor<?x16xf32>, tensor<?x16xf32>, tensor<?x10xf32>, tensor<?x10xf32>, !talc.kv_cache<2 x 8 x 5, recurrence>, !talc.sequences, tensor<4x16xf32>, tensor<16xf32>) -> tensor<?x16xf32>
  return
}

// -----

func.func @numbers(%x: tensor<?x16xf32>, %b: tensor<?x2050xf32>, %r: tensor<1025x16xf32>, %d: tensor<16xf32>, %m: !talc.kv_cache<2 x 8 x 1025, recurrence>, %s: !talc.sequences) {
  // expected-error @below {{'talc.selective_scan' op has 1025 numbers for each feature, expected at most 1024}}
  %0 = talc.selective_scan %x, %x, %b, %b, %m, %s rates %r skip %d : (tensor<?x16xf32>, tensor<?x16xf32>, tensor<?x2050xf32>, tensor<?x2050xf32>, !talc.kv_cache<2 x 8 x 1025, recurrence>, !talc.sequences, tensor<1025x16xf32>, tensor<16xf32>) -> tensor<?x16xf32>
  return
}
