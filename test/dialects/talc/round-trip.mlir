// SPDX-License-Identifier: Apache-2.0
// Every operation, type and attribute of the talc dialect prints as it is read.
// RUN: talc-opt %s -o %t.mlir && FileCheck %s --input-file %t.mlir && talc-opt %t.mlir | diff %t.mlir -
// RUN: talc-opt %s -mlir-print-op-generic | talc-opt | diff %t.mlir -
// RUN: talc-opt %s -emit-bytecode | talc-opt | diff %t.mlir -

// CHECK: module attributes {talc.directory = "models/small", talc.generation = {end = [2]}, talc.labels = ["no", "yes"], talc.max_sequence = 64 : i64, talc.name = "small", talc.outputs = ["logits"], talc.pooling = "cls"} {
module attributes {talc.directory = "models/small", talc.name = "small", talc.max_sequence = 64 : i64,
                   talc.generation = {end = [2]}, talc.outputs = ["logits"], talc.labels = ["no", "yes"],
                   talc.pooling = "cls"} {
  // CHECK-NEXT: talc.weight @wte : tensor<80x32xf32> = #talc.file<"model.safetensors", 4096, bf16>
  talc.weight @wte : tensor<80x32xf32> = #talc.file<"model.safetensors", 4096, bf16>
  // CHECK-NEXT: talc.weight @levels : tensor<8x64xf32> = #talc.quantized<elementType = !talc.stored<int4z_32_f16>, rounded = f16, codes = <"a", 0, natural 4, down, stride = 256, transposed = true>, scales = <"a", 256, f16 16, along, stride = 128, transposed = true>, rows = 1, columns = 32, center = 1, zeros = <"a", 288, natural 4, along, stride = 32, transposed = true>>
  talc.weight @levels : tensor<8x64xf32> = #talc.quantized<elementType = !talc.stored<int4z_32_f16>, rounded = f16, codes = <"a", 0, natural 4, down, stride = 256, transposed = true>, scales = <"a", 256, f16 16, along, stride = 128, transposed = true>, rows = 1, columns = 32, center = 1, zeros = <"a", 288, natural 4, along, stride = 32, transposed = true>>
  // CHECK-NEXT: talc.weight @random : tensor<32x32xbf16> = #talc.random<seed = 1, mean = 0.000000e+00, deviation = 2.000000e-02>
  talc.weight @random : tensor<32x32xbf16> = #talc.random<seed = 1, mean = 0.0, deviation = 0.02>
  // CHECK-NEXT: talc.weight @ones : tensor<32xf32> = #talc.fill<1.000000e+00>
  talc.weight @ones : tensor<32xf32> = #talc.fill<1.0>
  // CHECK-NEXT: talc.weight @listed : tensor<2x1xf32> = #talc.values<dense<{{\[\[}}1.500000e+00], [-2.000000e+00]]> : tensor<2x1xf32>>
  talc.weight @listed : tensor<2x1xf32> = #talc.values<dense<[[1.5], [-2.0]]> : tensor<2x1xf32>>
  // CHECK-NEXT: talc.weight @transposed : tensor<32x80xf32> = #talc.transpose of [@wte]
  talc.weight @transposed : tensor<32x80xf32> = #talc.transpose of [@wte]
  // CHECK-NEXT: talc.weight @both : tensor<160x32xf32> = #talc.concat of [@wte, @wte]
  talc.weight @both : tensor<160x32xf32> = #talc.concat of [@wte, @wte]
  // CHECK-NEXT: talc.weight @turns : tensor<160x32xf32> = #talc.interleave<8> of [@wte, @wte]
  talc.weight @turns : tensor<160x32xf32> = #talc.interleave<8> of [@wte, @wte]
  // CHECK-NEXT: talc.weight @panels : tensor<5x32x16xf16> = #talc.pack of [@wte] {sym_visibility = "private"}
  talc.weight @panels : tensor<5x32x16xf16> = #talc.pack of [@wte] {sym_visibility = "private"}
  // CHECK-NEXT: talc.weight @padded : tensor<48xf32> = #talc.pad of [@ones]
  talc.weight @padded : tensor<48xf32> = #talc.pad of [@ones]
  // CHECK-NEXT: talc.weight @narrow : tensor<80x32xf16> = #talc.convert of [@wte]
  talc.weight @narrow : tensor<80x32xf16> = #talc.convert of [@wte]
  // CHECK-NEXT: talc.weight @angles : tensor<64x16xf32> = #talc.rotary_table<base = 1.000000e+04>
  talc.weight @angles : tensor<64x16xf32> = #talc.rotary_table<base = 10000.0>
  // CHECK-NEXT: talc.weight @slow : tensor<64x16xf32> = #talc.rotary_table<base = 1.000000e+04, scaling = #talc.linear_scaling<factor = 2.000000e+00>>
  talc.weight @slow : tensor<64x16xf32> = #talc.rotary_table<base = 10000.0, scaling = #talc.linear_scaling<factor = 2.0>>
  // CHECK-NEXT: talc.weight @digits : tensor<48x16xf32> = #talc.rotary_table<base = 1.000000e+04, digits = 16>
  talc.weight @digits : tensor<48x16xf32> = #talc.rotary_table<base = 10000.0, digits = 16>
  // CHECK-NEXT: talc.weight @waves : tensor<64x32xf32> = #talc.sinusoid_table<halves>
  talc.weight @waves : tensor<64x32xf32> = #talc.sinusoid_table<halves>
  // CHECK-NEXT: talc.weight @waves2 : tensor<64x32xf32> = #talc.sinusoid_table<interleaved>
  talc.weight @waves2 : tensor<64x32xf32> = #talc.sinusoid_table<interleaved>
  // CHECK-NEXT: talc.weight @waves3 : tensor<64x32xf32> = #talc.sinusoid_table<spread, blank = 1>
  talc.weight @waves3 : tensor<64x32xf32> = #talc.sinusoid_table<spread, blank = 1>
  // CHECK-NEXT: talc.weight @some : tensor<20x32xf32> = #talc.rows<first = 4, count = 4, period = 16> of [@wte]
  talc.weight @some : tensor<20x32xf32> = #talc.rows<first = 4, count = 4, period = 16> of [@wte]
  // CHECK-NEXT: talc.weight @ordered : tensor<80x32xf32> = #talc.half_split<width = 16, rotary = 6> of [@wte]
  talc.weight @ordered : tensor<80x32xf32> = #talc.half_split<width = 16, rotary = 6> of [@wte]
  // CHECK-NEXT: talc.weight @larger : tensor<80x32xf32> = #talc.plus<1.000000e+00> of [@wte]
  talc.weight @larger : tensor<80x32xf32> = #talc.plus<1.0> of [@wte]
  // CHECK-NEXT: talc.weight @by_distance : tensor<320x20xf32> = #talc.relative_keys<heads = 4, scale = 2.500000e-01> of [@ordered]
  talc.weight @by_distance : tensor<320x20xf32> = #talc.relative_keys<heads = 4, scale = 0.25> of [@ordered]
  // CHECK-NEXT: talc.weight @falling : tensor<4x127xf32> = #talc.alibi{{$}}
  talc.weight @falling : tensor<4x127xf32> = #talc.alibi
  // CHECK-NEXT: talc.weight @rounded : tensor<4x64xf32> = #talc.alibi<rounded = 2.500000e-01 : f64>
  talc.weight @rounded : tensor<4x64xf32> = #talc.alibi<rounded = 0.25 : f64>
  // CHECK-NEXT: talc.weight @buckets : tensor<32x4xf32> = #talc.fill<1.000000e+00>
  talc.weight @buckets : tensor<32x4xf32> = #talc.fill<1.0>
  // CHECK-NEXT: talc.weight @distances : tensor<4x127xf32> = #talc.relative_bias<bidirectional = true, max_distance = 128> of [@buckets]
  talc.weight @distances : tensor<4x127xf32> = #talc.relative_bias<bidirectional = true, max_distance = 128> of [@buckets]
  // CHECK-NEXT: talc.kv_cache @cache : {{(!talc.kv_cache)?}}<2 x 16 x 64>
  talc.kv_cache @cache : !talc.kv_cache<2 x 16 x 64>
  // CHECK-NEXT: talc.kv_cache @source : {{(!talc.kv_cache)?}}<2 x 16 x 64, source>
  talc.kv_cache @source : !talc.kv_cache<2 x 16 x 64, source>
  // CHECK-NEXT: talc.kv_cache @memory : {{(!talc.kv_cache)?}}<2 x 16 x 64, memory>
  talc.kv_cache @memory : !talc.kv_cache<2 x 16 x 64, memory>
  // CHECK-NEXT: talc.weight @gates : tensor<4xf32> = #talc.fill<
  talc.weight @gates : tensor<4xf32> = #talc.fill<0.5>
  // CHECK-NEXT: talc.kv_cache @scratch : {{(!talc.kv_cache)?}}<2 x 16 x 64, step>
  talc.kv_cache @scratch : !talc.kv_cache<2 x 16 x 64, step>
  // CHECK-NEXT: talc.kv_cache @ring : {{(!talc.kv_cache)?}}<2 x 16 x 40 window 9>
  talc.kv_cache @ring : !talc.kv_cache<2 x 16 x 40 window 9>
  // CHECK-NEXT: talc.kv_cache @streaming : {{(!talc.kv_cache)?}}<2 x 16 x 40 window 9 sink_tokens 4>
  talc.kv_cache @streaming : !talc.kv_cache<2 x 16 x 40 window 9 sink_tokens 4>

  // CHECK: func.func @rows(%[[IDS:.*]]: tensor<?xi32>, %[[S:.*]]: !talc.sequences)
  func.func @rows(%ids: tensor<?xi32>, %s: !talc.sequences) -> tensor<?x8xf32> attributes {talc.entry} {
    // CHECK-NEXT: %[[WTE:.*]] = talc.get_weight @wte : tensor<80x32xf32>
    %wte = talc.get_weight @wte : tensor<80x32xf32>
    // CHECK-NEXT: %[[PANELS:.*]] = talc.get_weight @panels : tensor<5x32x16xf16>
    %panels = talc.get_weight @panels : tensor<5x32x16xf16>
    // CHECK-NEXT: talc.embedding %[[IDS]], %[[WTE]] : (tensor<?xi32>, tensor<80x32xf32>) -> tensor<?x32xf32>
    %0 = talc.embedding %ids, %wte : (tensor<?xi32>, tensor<80x32xf32>) -> tensor<?x32xf32>
    // CHECK-NEXT: talc.embedding %[[IDS]], %[[PANELS]] : (tensor<?xi32>, tensor<5x32x16xf16>) -> tensor<?x32xf32>
    %1 = talc.embedding %ids, %panels : (tensor<?xi32>, tensor<5x32x16xf16>) -> tensor<?x32xf32>
    // CHECK-NEXT: talc.position %[[S]], %[[WTE]] {offset = 2 : i64} : tensor<80x32xf32> -> tensor<?x32xf32>
    %2 = talc.position %s, %wte {offset = 2 : i64} : tensor<80x32xf32> -> tensor<?x32xf32>
    // CHECK-NEXT: talc.position %[[S]], %[[WTE]] of %[[IDS]] : tensor<?xi32> without 1 {offset = 2 : i64} : tensor<80x32xf32> -> tensor<?x32xf32>
    %among = talc.position %s, %wte of %ids : tensor<?xi32> without 1 {offset = 2 : i64} : tensor<80x32xf32> -> tensor<?x32xf32>
    // CHECK-NEXT: talc.token_type %[[S]], %[[WTE]] : tensor<80x32xf32> -> tensor<?x32xf32>
    %types = talc.token_type %s, %wte : tensor<80x32xf32> -> tensor<?x32xf32>
    // CHECK-NEXT: talc.select %{{.*}}, %[[S]] {output = 1 : i64} : tensor<?x32xf32> -> tensor<?x32xf32>
    %second = talc.select %2, %s {output = 1 : i64} : tensor<?x32xf32> -> tensor<?x32xf32>
    // CHECK-NEXT: %[[SELECTED:.*]] = talc.select %{{.*}}, %[[S]] : tensor<?x32xf32> -> tensor<?x32xf32>
    %3 = talc.select %2, %s : tensor<?x32xf32> -> tensor<?x32xf32>
    // CHECK-NEXT: talc.slice %[[SELECTED]] at 24 : tensor<?x32xf32> -> tensor<?x8xf32>
    %4 = talc.slice %3 at 24 : tensor<?x32xf32> -> tensor<?x8xf32>
    return %4 : tensor<?x8xf32>
  }

  // CHECK: func.func @layers(%[[X:.*]]: tensor<?x32xf32>, %[[S:.*]]: !talc.sequences, %[[W:.*]]: tensor<32x32xbf16>, %[[B:.*]]: tensor<32xf32>, %[[TABLE:.*]]: tensor<64x16xf32>, %{{.*}}: tensor<1024x32xbf16>, %{{.*}}: tensor<64x32xbf16>)
  func.func @layers(%x: tensor<?x32xf32>, %s: !talc.sequences, %w: tensor<32x32xbf16>, %b: tensor<32xf32>,
                    %table: tensor<64x16xf32>, %many: tensor<1024x32xbf16>, %few: tensor<64x32xbf16>) {
    // CHECK-NEXT: %[[PANELS:.*]] = talc.derive #talc.pack of(%[[W]]) : (tensor<32x32xbf16>) -> tensor<4x32x8xbf16>
    %panels = talc.derive #talc.pack of (%w) : (tensor<32x32xbf16>) -> tensor<4x32x8xbf16>
    // CHECK-NEXT: talc.derive #talc.fill<0.000000e+00> of() : () -> tensor<16xf32>
    %zeros = talc.derive #talc.fill<0.0> of () : () -> tensor<16xf32>
    // CHECK-NEXT: talc.linear %[[X]], %[[W]] : (tensor<?x32xf32>, tensor<32x32xbf16>) -> tensor<?x32xf32>
    %0 = talc.linear %x, %w : (tensor<?x32xf32>, tensor<32x32xbf16>) -> tensor<?x32xf32>
    // CHECK-NEXT: talc.linear %[[X]], %[[PANELS]] bias %[[B]] : (tensor<?x32xf32>, tensor<4x32x8xbf16>, tensor<32xf32>) -> tensor<?x32xf32>
    %1 = talc.linear %x, %panels bias %b : (tensor<?x32xf32>, tensor<4x32x8xbf16>, tensor<32xf32>) -> tensor<?x32xf32>
    // CHECK-NEXT: talc.gated_linear silu %[[X]], %[[W]], %[[W]] : (tensor<?x32xf32>, tensor<32x32xbf16>, tensor<32x32xbf16>) -> tensor<?x32xf32>
    %2 = talc.gated_linear silu %x, %w, %w : (tensor<?x32xf32>, tensor<32x32xbf16>, tensor<32x32xbf16>) -> tensor<?x32xf32>
    // CHECK-NEXT: talc.gated_linear gelu %[[X]], %[[PANELS]] : (tensor<?x32xf32>, tensor<4x32x8xbf16>) -> tensor<?x16xf32>
    %3 = talc.gated_linear gelu %x, %panels : (tensor<?x32xf32>, tensor<4x32x8xbf16>) -> tensor<?x16xf32>
    // CHECK-NEXT: talc.norm layer %[[X]], %[[B]] bias %[[B]] epsilon 1.000000e-05 : (tensor<?x32xf32>, tensor<32xf32>, tensor<32xf32>) -> tensor<?x32xf32>
    %4 = talc.norm layer %x, %b bias %b epsilon 1.0e-05 : (tensor<?x32xf32>, tensor<32xf32>, tensor<32xf32>) -> tensor<?x32xf32>
    // CHECK-NEXT: talc.norm rms %[[X]], %{{.*}} epsilon 0.000000e+00 {groups = 2 : i64} : (tensor<?x32xf32>, tensor<16xf32>) -> tensor<?x32xf32>
    %5 = talc.norm rms %x, %zeros epsilon 0.0 {groups = 2 : i64} : (tensor<?x32xf32>, tensor<16xf32>) -> tensor<?x32xf32>
    // CHECK-NEXT: talc.join %[[X]], %[[X]] heads 2 : (tensor<?x32xf32>, tensor<?x32xf32>) -> tensor<?x64xf32>
    %join = talc.join %x, %x heads 2 : (tensor<?x32xf32>, tensor<?x32xf32>) -> tensor<?x64xf32>
    // CHECK-NEXT: talc.linear %{{.*}}, %[[W]] {groups = 2 : i64} : (tensor<?x64xf32>, tensor<32x32xbf16>) -> tensor<?x32xf32>
    %grouped = talc.linear %join, %w {groups = 2 : i64} : (tensor<?x64xf32>, tensor<32x32xbf16>) -> tensor<?x32xf32>
    // CHECK-NEXT: talc.route %[[X]] plus %[[B]] : tensor<32xf32> to 3 normalized {group_best = 2 : i64, groups = 4 : i64, topk_groups = 2 : i64} : tensor<?x32xf32>
    %route = talc.route %x plus %b : tensor<32xf32> to 3 normalized {groups = 4 : i64, topk_groups = 2 : i64, group_best = 2 : i64} : tensor<?x32xf32>
    // CHECK-NEXT: talc.rope %[[X]], %[[S]] heads 2 rotary 16 base 1.000000e+04 {last = 7 : i64} : tensor<?x32xf32>
    %until = talc.rope %x, %s heads 2 rotary 16 base 10000.0 {last = 7 : i64} : tensor<?x32xf32>
    // CHECK-NEXT: talc.log_softmax %[[X]] tails [7, 12] : tensor<?x32xf32> -> tensor<?x30xf32>
    %log = talc.log_softmax %x tails [7, 12] : tensor<?x32xf32> -> tensor<?x30xf32>
    // CHECK-NEXT: talc.quantize %[[X]] : tensor<?x32xf32> -> tensor<?x32xbf16>
    %half = talc.quantize %x : tensor<?x32xf32> -> tensor<?x32xbf16>
    // CHECK-NEXT: talc.quantize %[[X]] : tensor<?x32xf32> -> tensor<?x32x!talc.stored<q8_sums>>
    %q8 = talc.quantize %x : tensor<?x32xf32> -> tensor<?x32x!talc.stored<q8_sums>>
    // CHECK-NEXT: talc.softmax %[[X]] : tensor<?x32xf32>
    %21 = talc.softmax %x : tensor<?x32xf32>
    // CHECK-NEXT: talc.rope %[[X]], %[[S]] heads 2 rotary 16 base 1.000000e+04 : tensor<?x32xf32>
    %6 = talc.rope %x, %s heads 2 rotary 16 base 10000.0 : tensor<?x32xf32>
    // CHECK-NEXT: talc.rope %[[X]], %[[S]] heads 2 rotary 16 base 1.000000e+04 scaling(#talc.linear_scaling<factor = 4.000000e+00>) table %[[TABLE]] : tensor<64x16xf32> : tensor<?x32xf32>
    %7 = talc.rope %x, %s heads 2 rotary 16 base 10000.0 scaling (#talc.linear_scaling<factor = 4.0>) table %table : tensor<64x16xf32> : tensor<?x32xf32>
    // CHECK-NEXT: talc.rope %{{.*}} scaling(#talc.llama3_scaling<factor = 8.000000e+00, low = 1.000000e+00, high = 4.000000e+00, original = 8192>) : tensor<?x32xf32>
    %8 = talc.rope %x, %s heads 2 rotary 8 base 10000.0 scaling (#talc.llama3_scaling<factor = 8.0, low = 1.0, high = 4.0, original = 8192>) : tensor<?x32xf32>
    // CHECK-NEXT: talc.rope %{{.*}} scaling(#talc.yarn_scaling<factor = 4.000000e+00, fast = 3.200000e+01, slow = 1.000000e+00, original = 8192, truncate = true, amplitude = 1.125000e+00>) : tensor<?x32xf32>
    %22 = talc.rope %x, %s heads 2 rotary 8 base 10000.0 scaling (#talc.yarn_scaling<factor = 4.0, fast = 32.0, slow = 1.0, original = 8192, truncate = true, amplitude = 1.125>) : tensor<?x32xf32>
    // CHECK-NEXT: talc.rope %{{.*}} scaling(#talc.dynamic_scaling<factor = 2.000000e+00, original = 64>) : tensor<?x32xf32>
    %23 = talc.rope %x, %s heads 2 rotary 8 base 10000.0 scaling (#talc.dynamic_scaling<factor = 2.0, original = 64>) : tensor<?x32xf32>
    // CHECK-NEXT: talc.rope %{{.*}} scaling(#talc.listed_scaling<[1.000000e+00, 2.000000e+00], amplitude = 1.500000e+00>) : tensor<?x32xf32>
    %24 = talc.rope %x, %s heads 2 rotary 4 base 10000.0 scaling (#talc.listed_scaling<[1.0, 2.0], amplitude = 1.5>) : tensor<?x32xf32>
    // CHECK-NEXT: %[[ROUTES:.*]] = talc.route %[[X]] to 2 normalized : tensor<?x32xf32>
    %26 = talc.route %x to 2 normalized : tensor<?x32xf32>
    // CHECK-NEXT: talc.route %[[X]] to 3 : tensor<?x32xf32>
    %27 = talc.route %x to 3 : tensor<?x32xf32>
    // CHECK-NEXT: talc.experts silu %[[X]], %[[ROUTES]], %[[MANY:.*]], %[[MANY]] down %{{.*}} chosen 2 : (tensor<?x32xf32>, tensor<?x32xf32>, tensor<1024x32xbf16>, tensor<1024x32xbf16>, tensor<64x32xbf16>) -> tensor<?x2xf32>
    %28 = talc.experts silu %x, %26, %many, %many down %few chosen 2 : (tensor<?x32xf32>, tensor<?x32xf32>, tensor<1024x32xbf16>, tensor<1024x32xbf16>, tensor<64x32xbf16>) -> tensor<?x2xf32>
    // CHECK-NEXT: talc.clamp %[[X]] to 8.000000e+00 : tensor<?x32xf32>
    %25 = talc.clamp %x to 8.0 : tensor<?x32xf32>
    // CHECK-NEXT: talc.activation relu %
    %9 = talc.activation relu %x : tensor<?x32xf32>
    // CHECK-NEXT: talc.activation gelu %
    %10 = talc.activation gelu %x : tensor<?x32xf32>
    // CHECK-NEXT: talc.activation gelu_tanh %
    %11 = talc.activation gelu_tanh %x : tensor<?x32xf32>
    // CHECK-NEXT: talc.activation silu %
    %12 = talc.activation silu %x : tensor<?x32xf32>
    // CHECK-NEXT: talc.activation tanh %
    %13 = talc.activation tanh %x : tensor<?x32xf32>
    // CHECK-NEXT: talc.activation sigmoid %
    %14 = talc.activation sigmoid %x : tensor<?x32xf32>
    // CHECK-NEXT: talc.activation quick_gelu %
    %15 = talc.activation quick_gelu %x : tensor<?x32xf32>
    // CHECK-NEXT: talc.activation relu_squared %
    %16 = talc.activation relu_squared %x : tensor<?x32xf32>
    // CHECK-NEXT: talc.activation softplus %
    %softplus = talc.activation softplus %x : tensor<?x32xf32>
    // CHECK-NEXT: %[[SUM:.*]] = talc.add %[[X]], %{{.*}} : tensor<?x32xf32>
    %17 = talc.add %x, %16 : tensor<?x32xf32>
    // CHECK-NEXT: talc.mul %[[SUM]], %[[X]] : tensor<?x32xf32>
    %18 = talc.mul %17, %x : tensor<?x32xf32>
    // CHECK-NEXT: talc.scale %[[SUM]] by 0.17677669529663687 : tensor<?x32xf32>
    %19 = talc.scale %17 by 0.17677669529663687 : tensor<?x32xf32>
    return
  }

  // CHECK: func.func @past(%[[Q:.*]]: tensor<?x64xf32>, %[[K:.*]]: tensor<?x32xf32>, %[[S:.*]]: !talc.sequences)
  func.func @past(%q: tensor<?x64xf32>, %k: tensor<?x32xf32>, %s: !talc.sequences) {
    // CHECK-NEXT: %[[STATE:.*]] = talc.get_kv_cache @cache : {{(!talc.kv_cache)?}}<2 x 16 x 64>
    %state = talc.get_kv_cache @cache : !talc.kv_cache<2 x 16 x 64>
    // CHECK-NEXT: talc.kv_append %[[STATE]], %[[K]], %[[K]], %[[S]] : {{(!talc.kv_cache)?}}<2 x 16 x 64>, tensor<?x32xf32>
    talc.kv_append %state, %k, %k, %s : !talc.kv_cache<2 x 16 x 64>, tensor<?x32xf32>
    // CHECK-NEXT: %[[KEYS:.*]], %[[VALUES:.*]] = talc.kv_read %[[STATE]], %[[S]] : {{(!talc.kv_cache)?}}<2 x 16 x 64> -> tensor<?x32xf32>, tensor<?x32xf32>
    %keys, %values = talc.kv_read %state, %s : !talc.kv_cache<2 x 16 x 64> -> tensor<?x32xf32>, tensor<?x32xf32>
    // CHECK-NEXT: talc.attention causal %[[Q]], %[[KEYS]], %[[VALUES]], %[[S]] heads 4, 2 scale 2.500000e-01 {window = 5 : i64} : tensor<?x64xf32>, tensor<?x32xf32>
    %0 = talc.attention causal %q, %keys, %values, %s heads 4, 2 scale 0.25 {window = 5 : i64} : tensor<?x64xf32>, tensor<?x32xf32>
    // CHECK-NEXT: talc.attention full %[[Q]], %[[K]], %[[K]], %[[S]] heads 4, 2 scale 2.500000e-01 : tensor<?x64xf32>, tensor<?x32xf32>
    %1 = talc.attention full %q, %k, %k, %s heads 4, 2 scale 0.25 : tensor<?x64xf32>, tensor<?x32xf32>
    // CHECK-NEXT: %[[BIAS:.*]] = talc.get_weight @distances : tensor<4x127xf32>
    %bias = talc.get_weight @distances : tensor<4x127xf32>
    // CHECK-NEXT: talc.attention prefix %[[Q]], %[[KEYS]], %[[VALUES]], %[[S]] heads 4, 2 scale 2.500000e-01 bias %[[BIAS]] : tensor<4x127xf32> {window = 9 : i64} : tensor<?x64xf32>, tensor<?x32xf32>
    %2 = talc.attention prefix %q, %keys, %values, %s heads 4, 2 scale 0.25 bias %bias : tensor<4x127xf32> {window = 9 : i64} : tensor<?x64xf32>, tensor<?x32xf32>
    // CHECK-NEXT: talc.get_kv_cache @source
    %source = talc.get_kv_cache @source : !talc.kv_cache<2 x 16 x 64, source>
    // CHECK-NEXT: talc.kv_read %{{.*}}, %[[S]] : {{(!talc.kv_cache)?}}<2 x 16 x 64, source> -> tensor<?x32xf32>, tensor<?x32xf32>
    %sourceKeys, %sourceValues = talc.kv_read %source, %s : !talc.kv_cache<2 x 16 x 64, source> -> tensor<?x32xf32>, tensor<?x32xf32>
    // CHECK-NEXT: talc.attention full
    %3 = talc.attention full %q, %sourceKeys, %sourceValues, %s heads 4, 2 scale 0.25 : tensor<?x64xf32>, tensor<?x32xf32>
    %memory = talc.get_kv_cache @memory : !talc.kv_cache<2 x 16 x 64, memory>
    %gates = talc.get_weight @gates : tensor<4xf32>
    // CHECK: talc.memory linear %[[Q]], %[[Q]], %[[K]], %[[K]], %{{.*}}, %[[S]] gates %{{.*}} heads 4 : (tensor<?x64xf32>, tensor<?x64xf32>, tensor<?x32xf32>, tensor<?x32xf32>, !talc.kv_cache<2 x 16 x 64, memory>, !talc.sequences, tensor<4xf32>) -> tensor<?x64xf32>
    %4 = talc.memory linear %q, %q, %k, %k, %memory, %s gates %gates heads 4 : (tensor<?x64xf32>, tensor<?x64xf32>, tensor<?x32xf32>, tensor<?x32xf32>, !talc.kv_cache<2 x 16 x 64, memory>, !talc.sequences, tensor<4xf32>) -> tensor<?x64xf32>
    // CHECK-NEXT: talc.memory delta {{.*}} heads 4 local_first :
    %5 = talc.memory delta %q, %q, %k, %k, %memory, %s gates %gates heads 4 local_first : (tensor<?x64xf32>, tensor<?x64xf32>, tensor<?x32xf32>, tensor<?x32xf32>, !talc.kv_cache<2 x 16 x 64, memory>, !talc.sequences, tensor<4xf32>) -> tensor<?x64xf32>
    return
  }
}
