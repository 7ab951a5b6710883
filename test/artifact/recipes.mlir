// SPDX-License-Identifier: Apache-2.0
// Every source and recipe of weights; check_recipes.py computes them once more.
// RUN: rm -rf %t && mkdir %t && cp %s %t/model.mlir && %python %S/check_recipes.py --make-files %t
// RUN: %talc compile %t/model.mlir --start-from=package -o %t/app
// RUN: %python %S/check_recipes.py %t/app
// One thread makes the same file.
// RUN: %talc compile %t/model.mlir --start-from=package -o %t/app1 --mlir-disable-threading && cmp %t/app %t/app1

module attributes {talc.name = "recipes", talc.max_sequence = 64 : i64,
                   talc.interface = {kind = "decoder", outputs = [{kind = "logits", width = 10 : i64}],
                                     vocabulary = 10 : i64, source_vocabulary = 0 : i64, token_types = 0 : i64,
                                     uses_prefix = false},
                   talc.plan = {weight_bytes = 2945728 : i64, state_bytes_per_slot = 0 : i64,
                                state_bytes_per_token = 0 : i64, source_bytes_per_token = 0 : i64,
                                state_token_group = 1 : i64, arena_bytes_per_token = 64 : i64,
                                arena_bytes_fixed = 0 : i64, arena_bytes_per_thread = 0 : i64}} {
  // Sources.
  talc.weight @file.f32 : tensor<5x7xf32> = #talc.file<"f32.bin", 3, f32> {offset = 0 : i64}
  talc.weight @file.f16 : tensor<16x16x256xf32> = #talc.file<"f16.bin", 0, f16> {offset = 192 : i64}
  talc.weight @file.bf16 : tensor<65536xbf16> = #talc.file<"bf16.bin", 0, bf16> {offset = 262336 : i64}
  talc.weight @file.edges : tensor<126972xf16> = #talc.file<"edges.bin", 0, f32> {offset = 2407104 : i64}
  talc.weight @random : tensor<41x53xf32> = #talc.random<seed = 7, mean = 0.5, deviation = 2.0> {offset = 393408 : i64}
  talc.weight @fill : tensor<9xf16> = #talc.fill<0.1> {offset = 402112 : i64}
  talc.weight @values : tensor<2x3xf32> = #talc.values<dense<[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]> : tensor<2x3xf32>> {offset = 402176 : i64}
  talc.weight @splat : tensor<2x3xbf16> = #talc.values<dense<1.1> : tensor<2x3xf32>> {offset = 402240 : i64}

  // Recipes. The symbols without an offset are not stored.
  talc.weight @a : tensor<300x70xf32> = #talc.random<seed = 1, mean = 0.0, deviation = 1.0>
  talc.weight @b : tensor<13x70xf32> = #talc.random<seed = 2, mean = 0.0, deviation = 1.0>
  talc.weight @c : tensor<13x70xf32> = #talc.random<seed = 3, mean = 0.0, deviation = 1.0>
  talc.weight @half : tensor<13x70xf16> = #talc.convert of [@c]
  talc.weight @transpose : tensor<70x300xf32> = #talc.transpose of [@a] {offset = 402304 : i64}
  talc.weight @concat : tensor<326x70xf32> = #talc.concat of [@b, @a, @c] {offset = 486336 : i64}
  talc.weight @vectors : tensor<4xf32> = #talc.concat of [@v1, @v3] {offset = 577664 : i64}
  talc.weight @v1 : tensor<1xf32> = #talc.fill<1.0>
  talc.weight @v3 : tensor<3xf32> = #talc.random<seed = 4, mean = 0.0, deviation = 1.0>
  talc.weight @pad : tensor<8xf32> = #talc.pad of [@v3] {offset = 577728 : i64}
  talc.weight @interleave : tensor<32x70xf32> = #talc.interleave<4> of [@b, @c] {offset = 577792 : i64}
  talc.weight @pack : tensor<19x70x16xf32> = #talc.pack of [@a] {offset = 586752 : i64}
  talc.weight @pack.f16 : tensor<2x70x8xf16> = #talc.pack of [@half] {offset = 671872 : i64}
  talc.weight @pack.bf16 : tensor<5x300x16xbf16> = #talc.pack of [@transpose] {offset = 674112 : i64}
  talc.weight @pack.all : tensor<41x70x16xbf16> = #talc.pack of [@interleaved.all] {offset = 722112 : i64}
  talc.weight @interleaved.all : tensor<652x70xf32> = #talc.interleave<1> of [@concat, @concat]
  talc.weight @rotary : tensor<40x6xf32> = #talc.rotary_table<base = 10000.0> {offset = 1000000 : i64}
  talc.weight @rotary.linear : tensor<40x6xf32> = #talc.rotary_table<base = 10000.0, scaling = #talc.linear_scaling<factor = 4.0>> {offset = 1000960 : i64}
  talc.weight @rotary.llama3 : tensor<40x32xf32> = #talc.rotary_table<base = 500000.0, scaling = #talc.llama3_scaling<factor = 8.0, low = 1.0, high = 4.0, original = 8192>> {offset = 1001920 : i64}
  // Biases by distance, of which the first has the sizes of T5: distances 16, 32 and 64 are edges of buckets.
  talc.weight @buckets32 : tensor<32x3xf32> = #talc.random<seed = 8, mean = 0.0, deviation = 1.0>
  talc.weight @buckets10 : tensor<10x2xf16> = #talc.random<seed = 9, mean = 0.0, deviation = 1.0>
  talc.weight @sinusoid.halves : tensor<34x7xf32> = #talc.sinusoid_table<halves> {offset = 2661120 : i64}
  talc.weight @sinusoid.interleaved : tensor<515x34xf32> = #talc.sinusoid_table<interleaved> {offset = 2662080 : i64}
  talc.weight @bias.t5 : tensor<3x601xf32> = #talc.relative_bias<bidirectional = true, max_distance = 128> of [@buckets32] {offset = 2732160 : i64}
  talc.weight @bias.t5.causal : tensor<3x601xf32> = #talc.relative_bias<bidirectional = false, max_distance = 128> of [@buckets32] {offset = 2739392 : i64}
  talc.weight @bias.small : tensor<2x139xbf16> = #talc.relative_bias<bidirectional = true, max_distance = 20> of [@buckets10] {offset = 2746624 : i64}
  talc.weight @bias.wide : tensor<2x5999xf32> = #talc.relative_bias<bidirectional = false, max_distance = 1000> of [@buckets10] {offset = 2747200 : i64}
  // A distance of 8 is the edge of bucket 5, which float64 arithmetic misses.
  talc.weight @buckets9 : tensor<9x1xf32> = #talc.random<seed = 10, mean = 0.0, deviation = 1.0>
  talc.weight @bias.edges : tensor<1x257xf32> = #talc.relative_bias<bidirectional = false, max_distance = 128> of [@buckets9] {offset = 2795200 : i64}
  talc.weight @rows : tensor<42x70xf32> = #talc.rows<first = 5, count = 7, period = 50> of [@a] {offset = 2797568 : i64}
  talc.weight @rows.all : tensor<13x70xf32> = #talc.rows<first = 0, count = 13, period = 13> of [@b] {offset = 2809344 : i64}
  talc.weight @half_split : tensor<300x70xf32> = #talc.half_split<width = 30, rotary = 12> of [@a] {offset = 2812992 : i64}
  talc.weight @plus : tensor<3xf32> = #talc.plus<1.0> of [@v3] {offset = 2897024 : i64}
  talc.weight @alibi : tensor<6x19xf32> = #talc.alibi {offset = 2897088 : i64}
  talc.weight @alibi.rounded : tensor<6x600xf32> = #talc.alibi<rounded = 0.35 : f64> {offset = 2897600 : i64}
  talc.weight @rotary.yarn : tensor<40x16xf32> = #talc.rotary_table<base = 10000.0, scaling = #talc.yarn_scaling<factor = 4.0, fast = 32.0, slow = 1.0, original = 1024, truncate = true, amplitude = 1.25>> {offset = 2912000 : i64}
  talc.weight @rotary.yarn.exact : tensor<40x64xf32> = #talc.rotary_table<base = 150000.0, scaling = #talc.yarn_scaling<factor = 32.0, fast = 32.0, slow = 1.0, original = 4096, truncate = false, amplitude = 1.0>> {offset = 2914560 : i64}
  talc.weight @rotary.dynamic : tensor<40x16xf32> = #talc.rotary_table<base = 10000.0, scaling = #talc.dynamic_scaling<factor = 2.0, original = 16>> {offset = 2924800 : i64}
  talc.weight @rotary.listed : tensor<40x6xf32> = #talc.rotary_table<base = 10000.0, scaling = #talc.listed_scaling<[1.0, 2.0, 4.0], amplitude = 1.5>> {offset = 2927360 : i64}
  talc.weight @sinusoid.spread : tensor<34x9xf32> = #talc.sinusoid_table<spread, blank = 1> {offset = 2928320 : i64}
  // Relative keys of four heads and 50 distances.
  talc.weight @projection : tensor<20x14xf16> = #talc.random<seed = 11, mean = 0.0, deviation = 0.3>
  talc.weight @from : tensor<20xf32> = #talc.random<seed = 12, mean = 0.0, deviation = 1.0>
  talc.weight @to : tensor<20xf32> = #talc.random<seed = 13, mean = 0.0, deviation = 1.0>
  talc.weight @relative_keys : tensor<200x5xf32> = #talc.relative_keys<heads = 4, scale = 0.5> of [@projection] {offset = 2929600 : i64}
  talc.weight @relative_keys.bias : tensor<200xf32> = #talc.relative_keys<heads = 4, scale = 0.5> of [@projection, @from, @to] {offset = 2933632 : i64}
  talc.weight @relative_keys.packed : tensor<28x5x16xf32> = #talc.pack of [@relative_keys.padded] {offset = 2934464 : i64}
  talc.weight @relative_keys.padded : tensor<448x5xf32> = #talc.pad of [@relative_keys]
  // More than one band of work, in rows and in one long row.
  talc.weight @wide : tensor<1x700000xbf16> = #talc.random<seed = 5, mean = 0.0, deviation = 1.0> {offset = 1007040 : i64}
  llvm.func @talc_prefill(%context: !llvm.ptr) { llvm.return }
  llvm.func @talc_decode(%context: !llvm.ptr) { llvm.return }
}
