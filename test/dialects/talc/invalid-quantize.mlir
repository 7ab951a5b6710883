// SPDX-License-Identifier: Apache-2.0
// The verifier of talc.quantize refuses activations that cannot be quantized.
// RUN: talc-opt %s -split-input-file -verify-diagnostics

func.func @quantize_blocks(%x: tensor<?x48xf32>) {
  // expected-error @+1 {{'talc.quantize' op quantizes 48 features, expected a multiple of 32}}
  %0 = talc.quantize %x : tensor<?x48xf32> -> tensor<?x48x!talc.stored<q8_sums>>
  return
}

// -----

func.func @quantize_together(%x: tensor<?x288xf32>) {
  // expected-error @+1 {{'talc.quantize' op quantizes 288 features, expected a multiple of 256}}
  %0 = talc.quantize %x : tensor<?x288xf32> -> tensor<?x288x!talc.stored<q8_256_sums>>
  return
}

// -----

func.func @quantize_width(%x: tensor<?x64xf32>) {
  // expected-error @+1 {{'talc.quantize' op width of the result is 32, expected 64}}
  %0 = talc.quantize %x : tensor<?x64xf32> -> tensor<?x32x!talc.stored<q8_sums>>
  return
}
