// SPDX-License-Identifier: Apache-2.0
// The shapes that attention and its parts ask for, and the widest that they take. What is refused names found and expected.
// RUN: talc-opt %s -split-input-file -verify-diagnostics

func.func @queries_width(%s: !kernel.step, %q: memref<?x80xf32>, %kv: !talc.kv_cache<2 x 24 x 200 in #kernel.kv_panels<16 x f32>>, %out: memref<?x80xf32>) {
  // expected-error@+1 {{width of a head is 20, expected 24}}
  kernel.attention causal %s, %q, %kv heads 4 scale 0.2 window 0 into %out : (!kernel.step, memref<?x80xf32>, !talc.kv_cache<2 x 24 x 200 in #kernel.kv_panels<16 x f32>>, memref<?x80xf32>) -> ()
  return
}

// -----

func.func @queries_heads(%s: !kernel.step, %q: memref<?x96xf32>, %kv: !talc.kv_cache<2 x 24 x 200 in #kernel.kv_panels<16 x f32>>, %out: memref<?x96xf32>) {
  // expected-error@+1 {{divides 96 features into 5 heads}}
  kernel.attention causal %s, %q, %kv heads 5 scale 0.2 window 0 into %out : (!kernel.step, memref<?x96xf32>, !talc.kv_cache<2 x 24 x 200 in #kernel.kv_panels<16 x f32>>, memref<?x96xf32>) -> ()
  return
}

// -----

func.func @no_heads(%s: !kernel.step, %q: memref<?x96xf32>, %kv: !talc.kv_cache<2 x 24 x 200 in #kernel.kv_panels<16 x f32>>, %out: memref<?x96xf32>) {
  // expected-error@+1 {{divides 96 features into 0 heads}}
  kernel.attention causal %s, %q, %kv heads 0 scale 0.2 window 0 into %out : (!kernel.step, memref<?x96xf32>, !talc.kv_cache<2 x 24 x 200 in #kernel.kv_panels<16 x f32>>, memref<?x96xf32>) -> ()
  return
}

// -----

func.func @shared_heads(%s: !kernel.step, %q: memref<?x72xf32>, %kv: !talc.kv_cache<2 x 24 x 200 in #kernel.kv_panels<16 x f32>>, %out: memref<?x72xf32>) {
  // expected-error@+1 {{shares 2 key-value heads among 3 heads}}
  kernel.attention causal %s, %q, %kv heads 3 scale 0.2 window 0 into %out : (!kernel.step, memref<?x72xf32>, !talc.kv_cache<2 x 24 x 200 in #kernel.kv_panels<16 x f32>>, memref<?x72xf32>) -> ()
  return
}

// -----

func.func @queries_type(%s: !kernel.step, %q: memref<?x96xf16>, %kv: !talc.kv_cache<2 x 24 x 200 in #kernel.kv_panels<16 x f32>>, %out: memref<?x96xf16>) {
  // expected-error@+1 {{queries is 'memref<?x96xf16>', expected rows of contiguous f32, with a known number of features}}
  kernel.attention causal %s, %q, %kv heads 4 scale 0.2 window 0 into %out : (!kernel.step, memref<?x96xf16>, !talc.kv_cache<2 x 24 x 200 in #kernel.kv_panels<16 x f32>>, memref<?x96xf16>) -> ()
  return
}

// -----

func.func @queries_stride(%s: !kernel.step, %q: memref<?x96xf32, strided<[192, 2]>>, %kv: !talc.kv_cache<2 x 24 x 200 in #kernel.kv_panels<16 x f32>>, %out: memref<?x96xf32>) {
  // expected-error@+1 {{queries is 'memref<?x96xf32, strided<[192, 2]>>', expected rows of contiguous f32, with a known number of features}}
  kernel.attention causal %s, %q, %kv heads 4 scale 0.2 window 0 into %out : (!kernel.step, memref<?x96xf32, strided<[192, 2]>>, !talc.kv_cache<2 x 24 x 200 in #kernel.kv_panels<16 x f32>>, memref<?x96xf32>) -> ()
  return
}

// -----

func.func @queries_features(%s: !kernel.step, %q: memref<1x?xf32>, %kv: !talc.kv_cache<2 x 24 x 200 in #kernel.kv_panels<16 x f32>>, %out: memref<1x?xf32>) {
  // expected-error@+1 {{queries is 'memref<1x?xf32>', expected rows of contiguous f32, with a known number of features}}
  kernel.attention causal %s, %q, %kv heads 4 scale 0.2 window 0 into %out : (!kernel.step, memref<1x?xf32>, !talc.kv_cache<2 x 24 x 200 in #kernel.kv_panels<16 x f32>>, memref<1x?xf32>) -> ()
  return
}

// -----

func.func @init_width(%s: !kernel.step, %q: memref<?x96xf32>, %kv: !talc.kv_cache<2 x 24 x 200 in #kernel.kv_panels<16 x f32>>, %out: memref<?x95xf32>) {
  // expected-error@+1 {{width of init is 95, expected 96}}
  kernel.attention causal %s, %q, %kv heads 4 scale 0.2 window 0 into %out : (!kernel.step, memref<?x96xf32>, !talc.kv_cache<2 x 24 x 200 in #kernel.kv_panels<16 x f32>>, memref<?x95xf32>) -> ()
  return
}

// -----

func.func @init_rows(%s: !kernel.step, %q: memref<1x96xf32>, %kv: !talc.kv_cache<2 x 24 x 200 in #kernel.kv_panels<16 x f32>>, %out: memref<2x96xf32>) {
  // expected-error@+1 {{row count of init is 2, expected 1}}
  kernel.attention causal %s, %q, %kv heads 4 scale 0.2 window 0 into %out : (!kernel.step, memref<1x96xf32>, !talc.kv_cache<2 x 24 x 200 in #kernel.kv_panels<16 x f32>>, memref<2x96xf32>) -> ()
  return
}

// -----

func.func @negative_window(%s: !kernel.step, %q: memref<?x96xf32>, %kv: !talc.kv_cache<2 x 24 x 200 in #kernel.kv_panels<16 x f32>>, %out: memref<?x96xf32>) {
  // expected-error@+1 {{window is -1, expected a number >= 0}}
  kernel.attention causal %s, %q, %kv heads 4 scale 0.2 window -1 into %out : (!kernel.step, memref<?x96xf32>, !talc.kv_cache<2 x 24 x 200 in #kernel.kv_panels<16 x f32>>, memref<?x96xf32>) -> ()
  return
}

// -----

func.func @bias_heads(%s: !kernel.step, %q: memref<?x96xf32>, %kv: !talc.kv_cache<2 x 24 x 200 in #kernel.kv_panels<16 x f32>>, %out: memref<?x96xf32>, %bias: memref<2x399xf32>) {
  // expected-error@+1 {{row count of the bias is 2, expected 4}}
  kernel.attention causal %s, %q, %kv bias %bias heads 4 scale 0.2 window 0 into %out : (!kernel.step, memref<?x96xf32>, !talc.kv_cache<2 x 24 x 200 in #kernel.kv_panels<16 x f32>>, memref<2x399xf32>, memref<?x96xf32>) -> ()
  return
}

// -----

func.func @bias_distances(%s: !kernel.step, %q: memref<?x96xf32>, %kv: !talc.kv_cache<2 x 24 x 200 in #kernel.kv_panels<16 x f32>>, %out: memref<?x96xf32>, %bias: memref<4x400xf32>) {
  // expected-error@+1 {{width of the bias is 400, expected an odd number of distances}}
  kernel.attention causal %s, %q, %kv bias %bias heads 4 scale 0.2 window 0 into %out : (!kernel.step, memref<?x96xf32>, !talc.kv_cache<2 x 24 x 200 in #kernel.kv_panels<16 x f32>>, memref<4x400xf32>, memref<?x96xf32>) -> ()
  return
}

// -----

func.func @bias_size(%s: !kernel.step, %q: memref<?x96xf32>, %kv: !talc.kv_cache<2 x 24 x 200 in #kernel.kv_panels<16 x f32>>, %out: memref<?x96xf32>, %bias: memref<4x?xf32>) {
  // expected-error@+1 {{bias is 'memref<4x?xf32>', expected f32, f16, bf16, q8_0, q6_k, q5_k, q5_1, q5_0, q4_k, q4_1, q4_0, iq4_nl, iq4_xs, mxfp4, nvfp4, q3_k, q2_k, fp8_128_bf16, int8_128_bf16, int8z_128_bf16, int4_128_bf16 or int4z_128_bf16 in 2 dimensions of known size}}
  kernel.attention causal %s, %q, %kv bias %bias heads 4 scale 0.2 window 0 into %out : (!kernel.step, memref<?x96xf32>, !talc.kv_cache<2 x 24 x 200 in #kernel.kv_panels<16 x f32>>, memref<4x?xf32>, memref<?x96xf32>) -> ()
  return
}

// -----

func.func @source_mask(%s: !kernel.step, %q: memref<?x96xf32>, %kv: !talc.kv_cache<2 x 24 x 200, source in #kernel.kv_panels<16 x f32>>, %out: memref<?x96xf32>) {
  // expected-error@+1 {{reads a source, whose keys have no order among the queries: expected the mask full, no window and no bias}}
  kernel.attention causal %s, %q, %kv heads 4 scale 0.2 window 0 into %out : (!kernel.step, memref<?x96xf32>, !talc.kv_cache<2 x 24 x 200, source in #kernel.kv_panels<16 x f32>>, memref<?x96xf32>) -> ()
  return
}

// -----

func.func @source_window(%s: !kernel.step, %q: memref<?x96xf32>, %kv: !talc.kv_cache<2 x 24 x 200, source in #kernel.kv_panels<16 x f32>>, %out: memref<?x96xf32>) {
  // expected-error@+1 {{reads a source, whose keys have no order}}
  kernel.attention full %s, %q, %kv heads 4 scale 0.2 window 3 into %out : (!kernel.step, memref<?x96xf32>, !talc.kv_cache<2 x 24 x 200, source in #kernel.kv_panels<16 x f32>>, memref<?x96xf32>) -> ()
  return
}

// -----

// 200 keys are four blocks of 64. Four heads of 24 leave 4 * 32 values, and a vector each of maxima and sums.
func.func @split(%s: !kernel.step, %q: memref<1x96xf32>, %kv: !talc.kv_cache<2 x 24 x 200 in #kernel.kv_panels<16 x f32>>, %out: memref<4x160xf32>) {
  kernel.attention causal %s, %q, %kv heads 4 scale 0.2 window 0 block 64 into %out : (!kernel.step, memref<1x96xf32>, !talc.kv_cache<2 x 24 x 200 in #kernel.kv_panels<16 x f32>>, memref<4x160xf32>) -> ()
  return
}

// -----

// A block may hold more than all keys.
func.func @split_whole(%s: !kernel.step, %q: memref<1x96xf32>, %kv: !talc.kv_cache<2 x 24 x 200 in #kernel.kv_panels<16 x f32>>, %out: memref<1x160xf32>) {
  kernel.attention causal %s, %q, %kv heads 4 scale 0.2 window 0 block 256 into %out : (!kernel.step, memref<1x96xf32>, !talc.kv_cache<2 x 24 x 200 in #kernel.kv_panels<16 x f32>>, memref<1x160xf32>) -> ()
  return
}

// -----

func.func @split_blocks(%s: !kernel.step, %q: memref<1x96xf32>, %kv: !talc.kv_cache<2 x 24 x 200 in #kernel.kv_panels<16 x f32>>, %out: memref<3x160xf32>) {
  // expected-error@+1 {{row count of init is 3, expected 4}}
  kernel.attention causal %s, %q, %kv heads 4 scale 0.2 window 0 block 64 into %out : (!kernel.step, memref<1x96xf32>, !talc.kv_cache<2 x 24 x 200 in #kernel.kv_panels<16 x f32>>, memref<3x160xf32>) -> ()
  return
}

// -----

func.func @split_columns(%s: !kernel.step, %q: memref<1x96xf32>, %kv: !talc.kv_cache<2 x 24 x 200 in #kernel.kv_panels<16 x f32>>, %out: memref<4x128xf32>) {
  // expected-error@+1 {{init columns is 128, expected 160}}
  kernel.attention causal %s, %q, %kv heads 4 scale 0.2 window 0 block 64 into %out : (!kernel.step, memref<1x96xf32>, !talc.kv_cache<2 x 24 x 200 in #kernel.kv_panels<16 x f32>>, memref<4x128xf32>) -> ()
  return
}

// -----

func.func @split_unknown(%s: !kernel.step, %q: memref<1x96xf32>, %kv: !talc.kv_cache<2 x 24 x 200 in #kernel.kv_panels<16 x f32>>, %out: memref<?x160xf32>) {
  // expected-error@+1 {{init is 'memref<?x160xf32>', expected a known number of blocks}}
  kernel.attention causal %s, %q, %kv heads 4 scale 0.2 window 0 block 64 into %out : (!kernel.step, memref<1x96xf32>, !talc.kv_cache<2 x 24 x 200 in #kernel.kv_panels<16 x f32>>, memref<?x160xf32>) -> ()
  return
}

// -----

func.func @split_rows(%s: !kernel.step, %q: memref<?x96xf32>, %kv: !talc.kv_cache<2 x 24 x 200 in #kernel.kv_panels<16 x f32>>, %out: memref<4x160xf32>) {
  // expected-error@+1 {{queries is 'memref<?x96xf32>', expected a single row}}
  kernel.attention causal %s, %q, %kv heads 4 scale 0.2 window 0 block 64 into %out : (!kernel.step, memref<?x96xf32>, !talc.kv_cache<2 x 24 x 200 in #kernel.kv_panels<16 x f32>>, memref<4x160xf32>) -> ()
  return
}

// -----

func.func @split_block(%s: !kernel.step, %q: memref<1x96xf32>, %kv: !talc.kv_cache<2 x 24 x 200 in #kernel.kv_panels<16 x f32>>, %out: memref<9x160xf32>) {
  // expected-error@+1 {{block is 24, expected a multiple of 16}}
  kernel.attention causal %s, %q, %kv heads 4 scale 0.2 window 0 block 24 into %out : (!kernel.step, memref<1x96xf32>, !talc.kv_cache<2 x 24 x 200 in #kernel.kv_panels<16 x f32>>, memref<9x160xf32>) -> ()
  return
}

// -----

func.func @split_no_block(%s: !kernel.step, %q: memref<1x96xf32>, %kv: !talc.kv_cache<2 x 24 x 200 in #kernel.kv_panels<16 x f32>>, %out: memref<4x160xf32>) {
  // expected-error@+1 {{block is 0, expected a multiple of 16}}
  kernel.attention causal %s, %q, %kv heads 4 scale 0.2 window 0 block 0 into %out : (!kernel.step, memref<1x96xf32>, !talc.kv_cache<2 x 24 x 200 in #kernel.kv_panels<16 x f32>>, memref<4x160xf32>) -> ()
  return
}

// -----

// Many heads that share their keys.
func.func @split_most(%s: !kernel.step, %q: memref<1x384xf32>, %kv: !talc.kv_cache<1 x 8 x 200 in #kernel.kv_panels<16 x f32>>, %out: memref<4x864xf32>) {
  kernel.attention causal %s, %q, %kv heads 48 scale 0.2 window 0 block 64 into %out : (!kernel.step, memref<1x384xf32>, !talc.kv_cache<1 x 8 x 200 in #kernel.kv_panels<16 x f32>>, memref<4x864xf32>) -> ()
  return
}

// -----

func.func @combine(%s: !kernel.step, %parts: memref<4x160xf32>, %out: memref<1x96xf32>) {
  kernel.combine %s, %parts heads 4 window 0 block 64 into %out : (!kernel.step, memref<4x160xf32>, memref<1x96xf32>) -> ()
  return
}

// -----

func.func @combine_columns(%s: !kernel.step, %parts: memref<4x128xf32>, %out: memref<1x96xf32>) {
  // expected-error@+1 {{partials columns is 128, expected 160}}
  kernel.combine %s, %parts heads 4 window 0 block 64 into %out : (!kernel.step, memref<4x128xf32>, memref<1x96xf32>) -> ()
  return
}

// -----

func.func @combine_rows(%s: !kernel.step, %parts: memref<4x160xf32>, %out: memref<2x96xf32>) {
  // expected-error@+1 {{init is 'memref<2x96xf32>', expected a single row}}
  kernel.combine %s, %parts heads 4 window 0 block 64 into %out : (!kernel.step, memref<4x160xf32>, memref<2x96xf32>) -> ()
  return
}

// -----

func.func @combine_heads(%s: !kernel.step, %parts: memref<4x160xf32>, %out: memref<1x96xf32>) {
  // expected-error@+1 {{divides 96 features into 7 heads}}
  kernel.combine %s, %parts heads 7 window 0 block 64 into %out : (!kernel.step, memref<4x160xf32>, memref<1x96xf32>) -> ()
  return
}

// -----

func.func @combine_block(%s: !kernel.step, %parts: memref<4x160xf32>, %out: memref<1x96xf32>) {
  // expected-error@+1 {{block is 40, expected a multiple of 16}}
  kernel.combine %s, %parts heads 4 window 0 block 40 into %out : (!kernel.step, memref<4x160xf32>, memref<1x96xf32>) -> ()
  return
}

// -----

func.func @combine_window(%s: !kernel.step, %parts: memref<4x160xf32>, %out: memref<1x96xf32>) {
  // expected-error@+1 {{window is -5, expected a number >= 0}}
  kernel.combine %s, %parts heads 4 window -5 block 64 into %out : (!kernel.step, memref<4x160xf32>, memref<1x96xf32>) -> ()
  return
}

// -----

func.func @combine_parts(%s: !kernel.step, %parts: memref<4x160xf16>, %out: memref<1x96xf32>) {
  // expected-error@+1 {{partials is 'memref<4x160xf16>', expected rows of contiguous f32, with a known number of features}}
  kernel.combine %s, %parts heads 4 window 0 block 64 into %out : (!kernel.step, memref<4x160xf16>, memref<1x96xf32>) -> ()
  return
}
