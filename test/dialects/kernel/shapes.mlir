// SPDX-License-Identifier: Apache-2.0
// The verifiers of the other compute ops check shapes and the widest rows. Errors name actual and expected sizes.
// RUN: talc-opt %s -split-input-file -verify-diagnostics

// A group may be one feature.
func.func @norm(%s: !kernel.step, %x: memref<?x32xf32>, %scale: memref<1xf32>, %bias: memref<1xf32>, %y: memref<?x32xf32>) {
  kernel.norm layer %s, %x, %scale bias %bias epsilon 0.0 groups 32 into %y : (!kernel.step, memref<?x32xf32>, memref<1xf32>, memref<1xf32>, memref<?x32xf32>) -> ()
  return
}

// -----

func.func @norm_width(%s: !kernel.step, %x: memref<?x32xf32>, %scale: memref<8xf32>, %bias: memref<8xf32>, %y: memref<?x33xf32>) {
  // expected-error@+1 {{width of init is 33, expected 32}}
  kernel.norm layer %s, %x, %scale bias %bias epsilon 0.5 groups 4 into %y : (!kernel.step, memref<?x32xf32>, memref<8xf32>, memref<8xf32>, memref<?x33xf32>) -> ()
  return
}

// -----

func.func @softmax_width(%s: !kernel.step, %x: memref<?x32xf32>, %y: memref<?x33xf32>) {
  // expected-error@+1 {{'kernel.softmax' op width of init is 33, expected 32}}
  kernel.softmax %s, %x into %y : (!kernel.step, memref<?x32xf32>, memref<?x33xf32>) -> ()
  return
}

// -----

func.func @norm_groups(%s: !kernel.step, %x: memref<?x32xf32>, %scale: memref<8xf32>, %bias: memref<8xf32>, %y: memref<?x32xf32>) {
  // expected-error@+1 {{divides 32 features into 5 groups}}
  kernel.norm layer %s, %x, %scale bias %bias epsilon 0.5 groups 5 into %y : (!kernel.step, memref<?x32xf32>, memref<8xf32>, memref<8xf32>, memref<?x32xf32>) -> ()
  return
}

// -----

func.func @norm_scale(%s: !kernel.step, %x: memref<?x32xf32>, %scale: memref<6xf32>, %bias: memref<8xf32>, %y: memref<?x32xf32>) {
  // expected-error@+1 {{scale is 'memref<6xf32>', expected 8 f32}}
  kernel.norm layer %s, %x, %scale bias %bias epsilon 0.5 groups 4 into %y : (!kernel.step, memref<?x32xf32>, memref<6xf32>, memref<8xf32>, memref<?x32xf32>) -> ()
  return
}

// -----

func.func @norm_scale_type(%s: !kernel.step, %x: memref<?x32xf32>, %scale: memref<8xbf16>, %bias: memref<8xf32>, %y: memref<?x32xf32>) {
  // expected-error@+1 {{scale is 'memref<8xbf16>', expected 8 f32}}
  kernel.norm layer %s, %x, %scale bias %bias epsilon 0.5 groups 4 into %y : (!kernel.step, memref<?x32xf32>, memref<8xbf16>, memref<8xf32>, memref<?x32xf32>) -> ()
  return
}

// -----

func.func @norm_bias(%s: !kernel.step, %x: memref<?x32xf32>, %scale: memref<8xf32>, %bias: memref<7xf32>, %y: memref<?x32xf32>) {
  // expected-error@+1 {{bias is 'memref<7xf32>', expected 8 f32}}
  kernel.norm layer %s, %x, %scale bias %bias epsilon 0.5 groups 4 into %y : (!kernel.step, memref<?x32xf32>, memref<8xf32>, memref<7xf32>, memref<?x32xf32>) -> ()
  return
}

// -----

func.func @norm_epsilon(%s: !kernel.step, %x: memref<?x32xf32>, %scale: memref<8xf32>, %bias: memref<8xf32>, %y: memref<?x32xf32>) {
  // expected-error@+1 {{epsilon is -1.000000e+00, expected a number >= 0}}
  kernel.norm layer %s, %x, %scale bias %bias epsilon -1.0 groups 4 into %y : (!kernel.step, memref<?x32xf32>, memref<8xf32>, memref<8xf32>, memref<?x32xf32>) -> ()
  return
}

// -----

func.func @norm_rank(%s: !kernel.step, %x: memref<32xf32>, %scale: memref<8xf32>, %bias: memref<8xf32>, %y: memref<?x32xf32>) {
  // expected-error@+1 {{x is 'memref<32xf32>', expected rows of contiguous f32, with a known number of features}}
  kernel.norm layer %s, %x, %scale bias %bias epsilon 0.5 groups 4 into %y : (!kernel.step, memref<32xf32>, memref<8xf32>, memref<8xf32>, memref<?x32xf32>) -> ()
  return
}

// -----

// Heads are turned as a whole, or in part.
func.func @rope(%s: !kernel.step, %x: memref<?x32xf32>, %table: memref<64x16xf32>, %y: memref<?x32xf32>) {
  kernel.rope %s, %x, %table heads 2 into %y : (!kernel.step, memref<?x32xf32>, memref<64x16xf32>, memref<?x32xf32>) -> ()
  return
}

// -----

func.func @rope_part(%s: !kernel.step, %x: memref<?x32xf32>, %table: memref<64x2xf32>, %y: memref<?x32xf32>) {
  kernel.rope %s, %x, %table heads 2 into %y : (!kernel.step, memref<?x32xf32>, memref<64x2xf32>, memref<?x32xf32>) -> ()
  return
}

// -----

func.func @rope_wide(%s: !kernel.step, %x: memref<?x32xf32>, %table: memref<64x18xf32>, %y: memref<?x32xf32>) {
  // expected-error@+1 {{width of the table is 18, expected an even number up to 16, the width of a head}}
  kernel.rope %s, %x, %table heads 2 into %y : (!kernel.step, memref<?x32xf32>, memref<64x18xf32>, memref<?x32xf32>) -> ()
  return
}

// -----

func.func @rope_odd(%s: !kernel.step, %x: memref<?x32xf32>, %table: memref<64x15xf32>, %y: memref<?x32xf32>) {
  // expected-error@+1 {{width of the table is 15, expected an even number up to 16}}
  kernel.rope %s, %x, %table heads 2 into %y : (!kernel.step, memref<?x32xf32>, memref<64x15xf32>, memref<?x32xf32>) -> ()
  return
}

// -----

func.func @rope_heads(%s: !kernel.step, %x: memref<?x32xf32>, %table: memref<64x16xf32>, %y: memref<?x32xf32>) {
  // expected-error@+1 {{divides 32 features into 3 heads}}
  kernel.rope %s, %x, %table heads 3 into %y : (!kernel.step, memref<?x32xf32>, memref<64x16xf32>, memref<?x32xf32>) -> ()
  return
}

// -----

func.func @rope_table(%s: !kernel.step, %x: memref<?x32xf32>, %table: memref<?x16xf32>, %y: memref<?x32xf32>) {
  // expected-error@+1 {{table is 'memref<?x16xf32>', expected f32, f16, bf16, q8_0, q6_k, q5_k, q5_1, q5_0, q4_k, q4_1, q4_0, iq4_nl, iq4_xs, mxfp4, nvfp4, q3_k, q2_k, fp8_128_bf16, int8_128_bf16, int8z_128_bf16, int4_128_bf16 or int4z_128_bf16 in 2 dimensions of known size}}
  kernel.rope %s, %x, %table heads 2 into %y : (!kernel.step, memref<?x32xf32>, memref<?x16xf32>, memref<?x32xf32>) -> ()
  return
}

// -----

func.func @rope_rows(%s: !kernel.step, %x: memref<4x32xf32>, %table: memref<64x16xf32>, %y: memref<3x32xf32>) {
  // expected-error@+1 {{row count of init is 3, expected 4}}
  kernel.rope %s, %x, %table heads 2 into %y : (!kernel.step, memref<4x32xf32>, memref<64x16xf32>, memref<3x32xf32>) -> ()
  return
}

// -----

func.func @gather(%s: !kernel.step, %table: memref<80x32xf16>, %y: memref<?x32xf32>) {
  kernel.gather ids %s, %table plus 0 into %y : (!kernel.step, memref<80x32xf16>, memref<?x32xf32>) -> ()
  return
}

// -----

func.func @gather_width(%s: !kernel.step, %table: memref<80x31xf16>, %y: memref<?x32xf32>) {
  // expected-error@+1 {{width of init is 32, expected 31}}
  kernel.gather ids %s, %table plus 0 into %y : (!kernel.step, memref<80x31xf16>, memref<?x32xf32>) -> ()
  return
}

// -----

func.func @gather_panels(%s: !kernel.step, %table: memref<5x16x32xf16>, %y: memref<?x32xf32>) {
  // expected-error@+1 {{width of init is 32, expected 16}}
  kernel.gather ids %s, %table plus 0 into %y : (!kernel.step, memref<5x16x32xf16>, memref<?x32xf32>) -> ()
  return
}

// -----

func.func @gather_depth(%s: !kernel.step, %table: memref<5x32x0xf16>, %y: memref<?x32xf32>) {
  // expected-error@+1 {{table has panels of depth 32 and 0 lanes, expected more than 0}}
  kernel.gather ids %s, %table plus 0 into %y : (!kernel.step, memref<5x32x0xf16>, memref<?x32xf32>) -> ()
  return
}

// -----

func.func @gather_offset(%s: !kernel.step, %table: memref<80x32xf16>, %y: memref<?x32xf32>) {
  // expected-error@+1 {{offset is -1, expected a number >= 0}}
  kernel.gather ids %s, %table plus -1 into %y : (!kernel.step, memref<80x32xf16>, memref<?x32xf32>) -> ()
  return
}

// -----

func.func @gather_output(%s: !kernel.step, %table: memref<?x32xf32>, %y: memref<?x32xf32>) {
  // expected-error@+1 {{output is -2, expected a number >= 0}}
  kernel.gather outputs %s, %table plus 0 into %y {output = -2 : i64} : (!kernel.step, memref<?x32xf32>, memref<?x32xf32>) -> ()
  return
}

// -----

// Rows of the step have no known number.
func.func @gather_rows(%s: !kernel.step, %table: memref<?x32xf32>, %y: memref<?x32xf32>) {
  kernel.gather outputs %s, %table plus 0 into %y : (!kernel.step, memref<?x32xf32>, memref<?x32xf32>) -> ()
  return
}

// -----

func.func @gather_unknown(%s: !kernel.step, %table: memref<?x32xf32>, %y: memref<?x32xf32>) {
  // expected-error@+1 {{table is 'memref<?x32xf32>', expected f32, f16, bf16, q8_0, q6_k, q5_k, q5_1, q5_0, q4_k, q4_1, q4_0, iq4_nl, iq4_xs, mxfp4, nvfp4, q3_k, q2_k, fp8_128_bf16, int8_128_bf16, int8z_128_bf16, int4_128_bf16 or int4z_128_bf16 in 2 dimensions of known size}}
  kernel.gather ids %s, %table plus 0 into %y : (!kernel.step, memref<?x32xf32>, memref<?x32xf32>) -> ()
  return
}

// -----

func.func @gather_type(%s: !kernel.step, %table: memref<80x32xf64>, %y: memref<?x32xf32>) {
  // expected-error@+1 {{table is 'memref<80x32xf64>', expected f32, f16, bf16, q8_0, q6_k, q5_k, q5_1, q5_0, q4_k, q4_1, q4_0, iq4_nl, iq4_xs, mxfp4, nvfp4, q3_k, q2_k, fp8_128_bf16, int8_128_bf16, int8z_128_bf16, int4_128_bf16 or int4z_128_bf16}}
  kernel.gather ids %s, %table plus 0 into %y : (!kernel.step, memref<80x32xf64>, memref<?x32xf32>) -> ()
  return
}

// -----

func.func @append(%s: !kernel.step, %kv: !talc.kv_cache<2 x 16 x 64 in #kernel.kv_panels<16 x f32>>, %k: memref<?x32xf32>, %v: memref<?x32xf32>) {
  kernel.kv_append %s, %kv, %k, %v : !talc.kv_cache<2 x 16 x 64 in #kernel.kv_panels<16 x f32>>, memref<?x32xf32>, memref<?x32xf32>
  return
}

// -----

func.func @append_keys(%s: !kernel.step, %kv: !talc.kv_cache<2 x 17 x 64 in #kernel.kv_panels<16 x f32>>, %k: memref<?x32xf32>, %v: memref<?x32xf32>) {
  // expected-error@+1 {{width of the keys is 32, expected 34}}
  kernel.kv_append %s, %kv, %k, %v : !talc.kv_cache<2 x 17 x 64 in #kernel.kv_panels<16 x f32>>, memref<?x32xf32>, memref<?x32xf32>
  return
}

// -----

func.func @append_values(%s: !kernel.step, %kv: !talc.kv_cache<2 x 16 x 64 in #kernel.kv_panels<16 x f32>>, %k: memref<?x32xf32>, %v: memref<?x48xf32>) {
  // expected-error@+1 {{width of the values is 48, expected 32}}
  kernel.kv_append %s, %kv, %k, %v : !talc.kv_cache<2 x 16 x 64 in #kernel.kv_panels<16 x f32>>, memref<?x32xf32>, memref<?x48xf32>
  return
}

// -----

func.func @append_rows(%s: !kernel.step, %kv: !talc.kv_cache<2 x 16 x 64 in #kernel.kv_panels<16 x f32>>, %k: memref<1x32xf32>, %v: memref<2x32xf32>) {
  // expected-error@+1 {{row count of the values is 2, expected 1}}
  kernel.kv_append %s, %kv, %k, %v : !talc.kv_cache<2 x 16 x 64 in #kernel.kv_panels<16 x f32>>, memref<1x32xf32>, memref<2x32xf32>
  return
}

// -----

func.func @append_type(%s: !kernel.step, %kv: !talc.kv_cache<2 x 16 x 64 in #kernel.kv_panels<16 x f32>>, %k: memref<?x32xf32>, %v: memref<?x32xi32>) {
  // expected-error@+1 {{values is 'memref<?x32xi32>', expected rows of contiguous f32}}
  kernel.kv_append %s, %kv, %k, %v : !talc.kv_cache<2 x 16 x 64 in #kernel.kv_panels<16 x f32>>, memref<?x32xf32>, memref<?x32xi32>
  return
}

// -----

func.func @matmul_weight(%s: !kernel.step, %x: memref<?x32xf32>, %w: memref<2x32x16xf64>, %y: memref<?x32xf32>) {
  // expected-error@+1 {{weight is 'memref<2x32x16xf64>', expected f32, f16, bf16, q8_0, q6_k, q5_k, q5_1, q5_0, q4_k, q4_1, q4_0, iq4_nl, iq4_xs, mxfp4, nvfp4, q3_k, q2_k, fp8_128_bf16, int8_128_bf16, int8z_128_bf16, int4_128_bf16 or int4z_128_bf16 in 3 dimensions of known size}}
  kernel.matmul %s, %x, %w into %y {
  ^bb0(%sum: f32):
    kernel.yield %sum : f32
  } : (!kernel.step, memref<?x32xf32>, memref<2x32x16xf64>, memref<?x32xf32>) -> ()
  return
}

// -----

func.func @matmul_lanes(%s: !kernel.step, %x: memref<?x32xf32>, %w: memref<2x32x0xf32>, %y: memref<?x32xf32>) {
  // expected-error@+1 {{weight has panels of depth 32 and 0 lanes, expected more than 0}}
  kernel.matmul %s, %x, %w into %y {
  ^bb0(%sum: f32):
    kernel.yield %sum : f32
  } : (!kernel.step, memref<?x32xf32>, memref<2x32x0xf32>, memref<?x32xf32>) -> ()
  return
}

// -----

func.func @matmul_gated(%s: !kernel.step, %x: memref<?x32xf32>, %w: memref<2x32x15xf32>, %y: memref<?x32xf32>) {
  // expected-error@+1 {{has a weight in panels of 15 lanes, expected 16, 32 or 64}}
  kernel.matmul %s, %x, %w into %y gated {
  ^bb0(%sum: f32, %other: f32):
    kernel.yield %sum : f32
  } : (!kernel.step, memref<?x32xf32>, memref<2x32x15xf32>, memref<?x32xf32>) -> ()
  return
}

// -----

func.func @matmul_bias(%s: !kernel.step, %x: memref<?x32xf32>, %w: memref<2x32x16xf32>, %y: memref<?x32xf32>, %b: memref<32xf32>) {
  kernel.matmul %s, %x, %w inputs(%b) into %y {
  ^bb0(%sum: f32, %other: f32):
    kernel.yield %sum : f32
  } : (!kernel.step, memref<?x32xf32>, memref<2x32x16xf32>, memref<32xf32>, memref<?x32xf32>) -> ()
  return
}

// -----

func.func @matmul_short_bias(%s: !kernel.step, %x: memref<?x32xf32>, %w: memref<2x32x16xf32>, %y: memref<?x32xf32>, %b: memref<31xf32>) {
  // expected-error@+1 {{input is 'memref<31xf32>', expected rows of 32 f32, or a vector of at least that length}}
  kernel.matmul %s, %x, %w inputs(%b) into %y {
  ^bb0(%sum: f32, %other: f32):
    kernel.yield %sum : f32
  } : (!kernel.step, memref<?x32xf32>, memref<2x32x16xf32>, memref<31xf32>, memref<?x32xf32>) -> ()
  return
}

// -----

func.func @matmul_residual(%s: !kernel.step, %x: memref<?x32xf32>, %w: memref<2x32x16xf32>, %y: memref<?x32xf32>, %b: memref<?x48xf32>) {
  // expected-error@+1 {{width of an input is 48, expected 32}}
  kernel.matmul %s, %x, %w inputs(%b) into %y {
  ^bb0(%sum: f32, %other: f32):
    kernel.yield %sum : f32
  } : (!kernel.step, memref<?x32xf32>, memref<2x32x16xf32>, memref<?x48xf32>, memref<?x32xf32>) -> ()
  return
}

// -----

func.func @matmul_rows(%s: !kernel.step, %x: memref<1x32xf32>, %w: memref<2x32x16xf32>, %y: memref<2x32xf32>) {
  // expected-error@+1 {{row count of init is 2, expected 1}}
  kernel.matmul %s, %x, %w into %y {
  ^bb0(%sum: f32):
    kernel.yield %sum : f32
  } : (!kernel.step, memref<1x32xf32>, memref<2x32x16xf32>, memref<2x32xf32>) -> ()
  return
}

// -----

// An epilogue without a terminator.
func.func @no_yield(%s: !kernel.step, %x: memref<?x32xf32>, %w: memref<2x32x16xf32>) {
  // expected-error@+1 {{has an epilogue that does not yield a single value}}
  "kernel.matmul"(%s, %x, %w, %x) ({
  ^bb0(%sum: f32):
    %double = "arith.addf"(%sum, %sum) : (f32, f32) -> f32
  }) {operandSegmentSizes = array<i32: 1, 1, 1, 0, 1>} : (!kernel.step, memref<?x32xf32>, memref<2x32x16xf32>, memref<?x32xf32>) -> ()
  return
}

// -----

func.func @bytes_of_integers(%x: memref<4x4xi32>) {
  // expected-error@+1 {{is of 'memref<4x4xi32>', expected contiguous values of a storage format}}
  %0 = kernel.bytes %x : memref<4x4xi32> -> memref<64xi8>
  return
}

// -----

func.func @some_bytes(%x: memref<4x4xf16>) {
  // expected-error@+1 {{yields 'memref<16xi8>', expected 'memref<32xi8>'}}
  %0 = kernel.bytes %x : memref<4x4xf16> -> memref<16xi8>
  return
}

// -----

func.func @append_without_layout(%s: !kernel.step, %state: !talc.kv_cache<2 x 12 x 17>, %x: memref<?x24xf32>) {
  // expected-error@+1 {{has a KV cache without a layout; layout-kv-cache gives it one}}
  kernel.kv_append %s, %state, %x, %x : !talc.kv_cache<2 x 12 x 17>, memref<?x24xf32>, memref<?x24xf32>
  return
}

// -----

func.func @keys_without_layout(%s: !kernel.step, %state: !talc.kv_cache<2 x 12 x 17>, %slot: index) {
  // expected-error@+1 {{expected a cache that is laid out in #kernel.kv_panels}}
  %0 = kernel.keys %s, %state[%slot] : !talc.kv_cache<2 x 12 x 17> -> memref<2x2x12x16xf32>
  return
}

// -----

func.func @route_count(%s: !kernel.step, %x: memref<?x4xf32>, %y: memref<?x4xf32>) {
  // expected-error@+1 {{'kernel.route' op chooses 5 of 4 features}}
  kernel.route %s, %x to 5 into %y : (!kernel.step, memref<?x4xf32>, memref<?x4xf32>) -> ()
  return
}

// -----

func.func @gather_counted(%s: !kernel.step, %table: memref<8x4xf32>, %y: memref<?x4xf32>) {
  // expected-error@+1 {{has the index counted or the id of padding, expected both or neither}}
  kernel.gather counted %s, %table plus 1 into %y : (!kernel.step, memref<8x4xf32>, memref<?x4xf32>) -> ()
  return
}

// -----

func.func @quantize_layout(%s: !kernel.step, %x: memref<?x64xf32>, %y: memref<?x64xf32>) {
  // expected-error@+1 {{init is 'memref<?x64xf32>', expected contiguous rows of bf16 or of whole blocks of quantized activations}}
  kernel.quantize %s, %x into %y : (!kernel.step, memref<?x64xf32>, memref<?x64xf32>) -> ()
  return
}

// -----

func.func @dot_bytes(%levels: vector<32xi8>, %sums: vector<16xi32>) {
  // expected-error@+1 {{has 'vector<32xi8>' for 16 sums, expected four bytes for each}}
  %0 = kernel.dot %levels, %levels plus %sums : vector<32xi8> -> vector<16xi32>
  return
}

// -----

func.func @dot_levels(%levels: vector<32xi8>, %sums: vector<8xi32>) {
  // expected-error@+1 {{has codes up to 256, expected 1 to 255}}
  %0 = kernel.dot %levels to 256, %levels plus %sums : vector<32xi8> -> vector<8xi32>
  return
}

// -----

func.func @look_up(%places: vector<16xi8>) {
  // expected-error@+1 {{has a table of 2 bytes, expected 16}}
  %0 = kernel.table_lookup %places in [0, 1] : vector<16xi8>
  return
}

// -----

func.func @dot_pairs(%x: vector<16xbf16>, %sums: vector<16xf32>) {
  // expected-error@+1 {{has 'vector<16xbf16>' for 16 sums, expected two bf16 for each}}
  %0 = kernel.dot_pairs %x, %x plus %sums : vector<16xbf16> -> vector<16xf32>
  return
}
