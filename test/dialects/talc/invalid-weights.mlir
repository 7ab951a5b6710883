// SPDX-License-Identifier: Apache-2.0
// The verifiers refuse weights, recipes and KV caches that are not valid.
// RUN: talc-opt %s -split-input-file -verify-diagnostics

// expected-error @+1 {{'talc.weight' op has the type 'tensor<?x4xf32>', expected a static shape of at least one dimension}}
talc.weight @dynamic : tensor<?x4xf32> = #talc.fill<0.0>

// -----

// expected-error @+1 {{'talc.weight' op is stored as 'bf16', expected the type that it is rounded to, or blocks of codes and scales}}
talc.weight @other : tensor<8x64xf32> = #talc.quantized<elementType = bf16, rounded = f16, codes = <"a", 0, natural 4, along, stride = 256>, scales = <"a", 256, f16 16, along, stride = 16>, rows = 1, columns = 64>

// -----

// expected-error @+1 {{'talc.weight' op is 'tensor<64xf32>' with a scale for 1 rows and 0 columns, expected a matrix and sizes > 0}}
talc.weight @vector : tensor<64xf32> = #talc.quantized<elementType = f16, rounded = f16, codes = <"a", 0, natural 4, along, stride = 256>, scales = <"a", 256, f16 16, along, stride = 16>, rows = 1, columns = 0>

// -----

// expected-error @+2 {{has numbers of 5 bits, which e2m1 cannot have}}
// expected-error @+1 {{failed to parse Talc_QuantizedSource parameter 'codes'}}
talc.weight @bits : tensor<8x64xf32> = #talc.quantized<elementType = f16, rounded = f16, codes = <"a", 0, e2m1 5, along, stride = 256>, scales = <"a", 256, f16 16, along, stride = 16>, rows = 1, columns = 64>

// -----

// expected-error @+2 {{swaps numbers of 8 bits, expected 4}}
// expected-error @+1 {{failed to parse Talc_QuantizedSource parameter 'codes'}}
talc.weight @swapped : tensor<8x64xf32> = #talc.quantized<elementType = f16, rounded = f16, codes = <"a", 0, natural 8, swapped, stride = 256>, scales = <"a", 256, f16 16, along, stride = 16>, rows = 1, columns = 64>

// -----

// expected-error @+1 {{'talc.weight' op begins at the negative offset -4}}
talc.weight @negative : tensor<4xf32> = #talc.file<"model.safetensors", -4, f32>

// -----

// expected-error @+1 {{'talc.weight' op is stored as 'f64', expected f32, f16, bf16, q8_0, q6_k, q5_k, q5_1, q5_0, q4_k, q4_1, q4_0, iq4_nl, iq4_xs, mxfp4, nvfp4, q3_k, q2_k, fp8_128_bf16, int8_128_bf16, int8z_128_bf16, int4_128_bf16 or int4z_128_bf16}}
talc.weight @double : tensor<4xf32> = #talc.file<"model.safetensors", 0, f64>

// -----

// expected-error @+2 {{'q9' is not a storage format of quant blocks}}
// expected-error @+1 {{failed to parse Talc_Stored parameter 'format'}}
talc.weight @unknown_format : tensor<4x4x!talc.stored<q9>> = #talc.fill<0.0>

// -----

// A format of single numbers is a type of MLIR.
// expected-error @+2 {{'f32' is not a storage format of quant blocks}}
// expected-error @+1 {{failed to parse Talc_Stored parameter 'format'}}
talc.weight @numbers : tensor<4x4x!talc.stored<f32>> = #talc.fill<0.0>

// -----

// expected-error @+1 {{'talc.weight' op has values of another shape: 'tensor<3xf32>'}}
talc.weight @values : tensor<4xf32> = #talc.values<dense<0.0> : tensor<3xf32>>

// -----

// expected-error @+1 {{'talc.weight' op has the unknown recipe "model.safetensors"}}
talc.weight @unknown : tensor<4xf32> = "model.safetensors"

// -----

// expected-error @+1 {{'talc.weight' op number of weights of the recipe is 0, expected 1}}
talc.weight @transpose : tensor<4x4xf32> = #talc.transpose

// -----

talc.weight @a : tensor<4xf32> = #talc.fill<0.0>
// expected-error @+1 {{'talc.weight' op number of weights of the recipe is 2, expected 1}}
talc.weight @pad : tensor<8xf32> = #talc.pad of [@a, @a]

// -----

// expected-error @+1 {{'talc.weight' op number of weights of the recipe is 0, expected 1}}
talc.weight @convert : tensor<4xf16> = #talc.convert

// -----

// expected-error @+1 {{'talc.weight' op concatenates 0 weights}}
talc.weight @concat : tensor<4xf32> = #talc.concat

// -----

talc.weight @a : tensor<4x4xf32> = #talc.fill<0.0>
// expected-error @+1 {{'talc.weight' op number of weights of the recipe is 1, expected 2}}
talc.weight @interleave : tensor<4x4xf32> = #talc.interleave<2> of [@a]

// -----

talc.weight @a : tensor<4x4xf32> = #talc.fill<0.0>
// expected-error @+1 {{'talc.weight' op interleaves groups of 0 rows}}
talc.weight @interleave : tensor<8x4xf32> = #talc.interleave<0> of [@a, @a]

// -----

talc.weight @a : tensor<4x4xf32> = #talc.fill<0.0>
// expected-error @+1 {{'talc.weight' op is packed, expected a shape [panels, depth, lanes]}}
talc.weight @pack : tensor<4x4xf32> = #talc.pack of [@a]

// -----

talc.weight @a : tensor<4x4xf32> = #talc.fill<0.0>
// expected-error @+1 {{'talc.weight' op number of weights of the recipe is 2, expected 1}}
talc.weight @pack : tensor<1x4x4xf32> = #talc.pack of [@a, @a]

// -----

// expected-error @+1 {{'talc.weight' op is a rotary table, expected a shape [positions, even width]}}
talc.weight @rotary : tensor<64x3xf32> = #talc.rotary_table<base = 10000.0>

// -----

talc.weight @a : tensor<4xf32> = #talc.fill<0.0>
// expected-error @+1 {{'talc.weight' op number of weights of the recipe is 1, expected 0}}
talc.weight @rotary : tensor<64x4xf32> = #talc.rotary_table<base = 10000.0> of [@a]

// -----

func.func @derive(%w: tensor<4x4xf32>) {
  // expected-error @+1 {{'talc.derive' op number of weights of the recipe is 2, expected 1}}
  %0 = talc.derive #talc.transpose of (%w, %w) : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return
}

// -----

func.func @derive_from_file() {
  // expected-error @+1 {{'talc.derive' op has the unknown recipe #talc.file<"model.safetensors", 0, f32>}}
  %0 = talc.derive #talc.file<"model.safetensors", 0, f32> of () : () -> tensor<4x4xf32>
  return
}

// -----

func.func @missing_weight() {
  // expected-error @+1 {{'talc.get_weight' op names @w, which is not a talc.weight}}
  %0 = talc.get_weight @w : tensor<4xf32>
  return
}

// -----

talc.weight @w : tensor<4xf32> = #talc.fill<0.0>
func.func @weight_type() {
  // expected-error @+1 {{'talc.get_weight' op has the type 'tensor<5xf32>', but @w is 'tensor<4xf32>'}}
  %0 = talc.get_weight @w : tensor<5xf32>
  return
}

// -----

talc.weight @w : tensor<4xf32> = #talc.fill<0.0>
func.func @missing_state() {
  // expected-error @+1 {{'talc.get_kv_cache' op names @w, which is not a talc.kv_cache}}
  %0 = talc.get_kv_cache @w : !talc.kv_cache<1 x 4 x 8>
  return
}

// -----

talc.kv_cache @s : !talc.kv_cache<1 x 4 x 16>
func.func @state_type() {
  // expected-error @+1 {{'talc.get_kv_cache' op has the type '!talc.kv_cache<1 x 4 x 8>', but @s is '!talc.kv_cache<1 x 4 x 16>'}}
  %0 = talc.get_kv_cache @s : !talc.kv_cache<1 x 4 x 8>
  return
}

// -----

func.func @append(%state: !talc.kv_cache<2 x 4 x 8>, %x: tensor<?x4xf32>, %s: !talc.sequences) {
  // expected-error @+1 {{'talc.kv_append' op width of the keys is 4, expected 8}}
  talc.kv_append %state, %x, %x, %s : !talc.kv_cache<2 x 4 x 8>, tensor<?x4xf32>
  return
}

// -----

func.func @read_keys(%state: !talc.kv_cache<2 x 4 x 8>, %s: !talc.sequences) {
  // expected-error @+1 {{'talc.kv_read' op width of the keys is 4, expected 8}}
  %0, %1 = talc.kv_read %state, %s : !talc.kv_cache<2 x 4 x 8> -> tensor<?x4xf32>, tensor<?x8xf32>
  return
}

// -----

func.func @read_values(%state: !talc.kv_cache<2 x 4 x 8>, %s: !talc.sequences) {
  // expected-error @+1 {{'talc.kv_read' op width of the values is 4, expected 8}}
  %0, %1 = talc.kv_read %state, %s : !talc.kv_cache<2 x 4 x 8> -> tensor<?x8xf32>, tensor<?x4xf32>
  return
}

// -----

// expected-error @+1 {{'talc.weight' op is made of @missing, which is not a talc.weight}}
talc.weight @copy : tensor<4x4xf32> = #talc.transpose of [@missing]

// -----

talc.weight @a : tensor<4x4xf32> = #talc.fill<0.0>
// expected-error @+1 {{'talc.weight' op has source weights, but its source is not a recipe}}
talc.weight @b : tensor<4x4xf32> = #talc.fill<0.0> of [@a]

// -----

// expected-error @+1 {{a KV cache of 0 heads of width 4 for 8 tokens is impossible}}
talc.kv_cache @cache : !talc.kv_cache<0 x 4 x 8>

// -----

// expected-error @+1 {{has the base 0.000000e+00, expected a number > 0}}
talc.weight @table : tensor<4x4xf32> = #talc.rotary_table<base = 0.0>

// -----

// expected-error @+1 {{has the unknown scaling "linear"}}
talc.weight @table : tensor<4x4xf32> = #talc.rotary_table<base = 1.0, scaling = "linear">

// -----

// expected-error @+1 {{which is too large}}
talc.weight @huge : tensor<4611686018427387904x4xf32> = #talc.fill<0.0>

// -----

// Wider heads do not fit a thread's stack.
// expected-error @+1 {{a KV cache of 1 heads of width 1025 for 8 tokens is impossible}}
talc.kv_cache @wide : !talc.kv_cache<1 x 1025 x 8>

// -----

// expected-error @+1 {{a KV cache of 1000000000 heads of width 64 for 1000000000 tokens is impossible}}
talc.kv_cache @cache : !talc.kv_cache<1000000000 x 64 x 1000000000>

// -----

// expected-error @+1 {{'talc.weight' op is a table of sinusoids, expected a shape [positions, width]}}
talc.weight @table : tensor<64xf32> = #talc.sinusoid_table<halves>

// -----

talc.weight @a : tensor<4xf32> = #talc.fill<0.0>
// expected-error @+1 {{'talc.weight' op number of weights of the recipe is 1, expected 0}}
talc.weight @table : tensor<64x4xf32> = #talc.sinusoid_table<interleaved> of [@a]

// -----

// expected-error @+2 {{expected ::talc::SinusoidLayout to be one of: halves, interleaved}}
// expected-error @+1 {{failed to parse}}
talc.weight @table : tensor<64x4xf32> = #talc.sinusoid_table<quarters>

// -----

talc.weight @a : tensor<8x2xf32> = #talc.fill<0.0>
// expected-error @+1 {{'talc.weight' op is a relative bias, expected a shape [heads, odd number of distances]}}
talc.weight @bias : tensor<2x16xf32> = #talc.relative_bias<bidirectional = true, max_distance = 128> of [@a]

// -----

// expected-error @+1 {{'talc.weight' op number of weights of the recipe is 0, expected 1}}
talc.weight @bias : tensor<2x15xf32> = #talc.relative_bias<bidirectional = true, max_distance = 128>

// -----

talc.weight @a : tensor<8x2xf32> = #talc.fill<0.0>
// expected-error @+1 {{has the max_distance 0.000000e+00, expected a number > 0}}
talc.weight @bias : tensor<2x15xf32> = #talc.relative_bias<bidirectional = false, max_distance = 0> of [@a]

// -----

// expected-error @+1 {{a KV cache of 1 heads of width 5000 for 8 tokens is impossible}}
talc.kv_cache @cache : !talc.kv_cache<1 x 5000 x 8, source>

// -----

talc.kv_cache @s : !talc.kv_cache<1 x 4 x 8>
func.func @state_role() {
  // expected-error @+1 {{'talc.get_kv_cache' op has the type '!talc.kv_cache<1 x 4 x 8, source>', but @s is '!talc.kv_cache<1 x 4 x 8>'}}
  %0 = talc.get_kv_cache @s : !talc.kv_cache<1 x 4 x 8, source>
  return
}

// -----

// expected-error @+1 {{'talc.kv_cache' op requires attribute 'type'}}
"talc.kv_cache"() {sym_name = "cache"} : () -> ()

// -----

talc.weight @a : tensor<8x4xf32> = #talc.fill<1.0>
// expected-error @+1 {{takes 4 rows from 6 on, of every 8}}
talc.weight @some : tensor<4x4xf32> = #talc.rows<first = 6, count = 4, period = 8> of [@a]

// -----

talc.weight @a : tensor<8x4xf32> = #talc.fill<1.0>
// expected-error @+1 {{'talc.weight' op takes 3 rows at a time for 4}}
talc.weight @some : tensor<4x4xf32> = #talc.rows<first = 0, count = 3, period = 4> of [@a]

// -----

talc.weight @a : tensor<8x4xf32> = #talc.fill<1.0>
// expected-error @+1 {{rotates 3 of 4 rows, expected an even number up to that width}}
talc.weight @ordered : tensor<8x4xf32> = #talc.half_split<width = 4, rotary = 3> of [@a]

// -----

talc.weight @a : tensor<8x4xf32> = #talc.fill<1.0>
// expected-error @+1 {{'talc.weight' op orders groups of 3 rows, but has 8}}
talc.weight @ordered : tensor<8x4xf32> = #talc.half_split<width = 3, rotary = 2> of [@a]

// -----

// expected-error @+1 {{'talc.weight' op is an ALiBi table, expected a shape [heads, odd number of distances]}}
talc.weight @falling : tensor<2x16xf32> = #talc.alibi
