// SPDX-License-Identifier: Apache-2.0
// What the verifiers say about layers; packed linear layers have packed-layers.mlir.
// RUN: talc-opt %s -split-input-file -verify-diagnostics

func.func @linear_depth(%x: tensor<?x4xf32>, %w: tensor<8x5xf32>) {
  // expected-error @+1 {{'talc.linear' op width of x is 4, expected 5}}
  %0 = talc.linear %x, %w : (tensor<?x4xf32>, tensor<8x5xf32>) -> tensor<?x8xf32>
  return
}

// -----

func.func @linear_width(%x: tensor<?x4xf32>, %w: tensor<8x4xf32>) {
  // expected-error @+1 {{'talc.linear' op width of the result is 9, expected 8}}
  %0 = talc.linear %x, %w : (tensor<?x4xf32>, tensor<8x4xf32>) -> tensor<?x9xf32>
  return
}

// -----

func.func @linear_rows(%x: tensor<3x4xf32>, %w: tensor<8x4xf32>) {
  // expected-error @+1 {{'talc.linear' op row count of the result is 2, expected 3}}
  %0 = talc.linear %x, %w : (tensor<3x4xf32>, tensor<8x4xf32>) -> tensor<2x8xf32>
  return
}

// -----

func.func @linear_bias(%x: tensor<?x4xf32>, %w: tensor<8x4xf32>, %b: tensor<4xf32>) {
  // expected-error @+1 {{'talc.linear' op length of the bias is 4, expected 8}}
  %0 = talc.linear %x, %w bias %b : (tensor<?x4xf32>, tensor<8x4xf32>, tensor<4xf32>) -> tensor<?x8xf32>
  return
}

// -----

func.func @linear_lanes(%x: tensor<?x4xf32>, %w: tensor<1x4x0xf32>) {
  // expected-error @+1 {{'talc.linear' op has a weight with panels of 0 lanes}}
  %0 = talc.linear %x, %w : (tensor<?x4xf32>, tensor<1x4x0xf32>) -> tensor<?x8xf32>
  return
}

// -----

func.func @linear_panels(%x: tensor<?x4xf32>, %w: tensor<1x4x4xf32>) {
  // expected-error @+1 {{'talc.linear' op number of panels of the weight is 1, expected 2}}
  %0 = talc.linear %x, %w : (tensor<?x4xf32>, tensor<1x4x4xf32>) -> tensor<?x8xf32>
  return
}

// -----

func.func @gated_depth(%x: tensor<?x4xf32>, %w: tensor<8x5xf32>) {
  // expected-error @+1 {{'talc.gated_linear' op width of x is 4, expected 5}}
  %0 = talc.gated_linear silu %x, %w, %w : (tensor<?x4xf32>, tensor<8x5xf32>, tensor<8x5xf32>) -> tensor<?x8xf32>
  return
}

// -----

func.func @gated_rows(%x: tensor<3x4xf32>, %w: tensor<8x4xf32>) {
  // expected-error @+1 {{'talc.gated_linear' op row count of the result is 2, expected 3}}
  %0 = talc.gated_linear silu %x, %w, %w : (tensor<3x4xf32>, tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<2x8xf32>
  return
}

// -----

func.func @gated_types(%x: tensor<?x4xf32>, %w: tensor<8x4xf32>, %up: tensor<8x4xf16>) {
  // expected-error @+1 {{'talc.gated_linear' op has a gate of type 'tensor<8x4xf32>' and an up projection of type 'tensor<8x4xf16>'}}
  %0 = talc.gated_linear silu %x, %w, %up : (tensor<?x4xf32>, tensor<8x4xf32>, tensor<8x4xf16>) -> tensor<?x8xf32>
  return
}

// -----

func.func @gated_width(%x: tensor<?x4xf32>, %w: tensor<8x4xf32>) {
  // expected-error @+1 {{'talc.gated_linear' op width of the result is 9, expected 8}}
  %0 = talc.gated_linear silu %x, %w, %w : (tensor<?x4xf32>, tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<?x9xf32>
  return
}

// -----

func.func @gated_matrix(%x: tensor<?x4xf32>, %w: tensor<8x4xf32>) {
  // expected-error @+1 {{'talc.gated_linear' op has the weight 'tensor<8x4xf32>', expected [panels, depth, even number of lanes]}}
  %0 = talc.gated_linear silu %x, %w : (tensor<?x4xf32>, tensor<8x4xf32>) -> tensor<?x8xf32>
  return
}

// -----

func.func @norm_groups(%x: tensor<?x8xf32>, %scale: tensor<8xf32>) {
  // expected-error @+1 {{'talc.norm' op divides 8 features into 3 groups}}
  %0 = talc.norm rms %x, %scale epsilon 1.0e-05 {groups = 3 : i64} : (tensor<?x8xf32>, tensor<8xf32>) -> tensor<?x8xf32>
  return
}

// -----

func.func @norm_epsilon(%x: tensor<?x8xf32>, %scale: tensor<8xf32>) {
  // expected-error @+1 {{'talc.norm' op has the epsilon -1.000000e+00, expected a number >= 0}}
  %0 = talc.norm rms %x, %scale epsilon -1.0 : (tensor<?x8xf32>, tensor<8xf32>) -> tensor<?x8xf32>
  return
}

// -----

func.func @norm_scale(%x: tensor<?x8xf32>, %scale: tensor<6xf32>) {
  // expected-error @+1 {{'talc.norm' op length of the scale is 6, expected 4}}
  %0 = talc.norm rms %x, %scale epsilon 1.0e-05 {groups = 2 : i64} : (tensor<?x8xf32>, tensor<6xf32>) -> tensor<?x8xf32>
  return
}

// -----

func.func @norm_bias(%x: tensor<?x8xf32>, %scale: tensor<8xf32>, %bias: tensor<4xf32>) {
  // expected-error @+1 {{'talc.norm' op length of the bias is 4, expected 8}}
  %0 = talc.norm layer %x, %scale bias %bias epsilon 1.0e-05 : (tensor<?x8xf32>, tensor<8xf32>, tensor<4xf32>) -> tensor<?x8xf32>
  return
}

// -----

func.func @rope_heads(%x: tensor<?x8xf32>, %s: !talc.sequences) {
  // expected-error @+1 {{'talc.rope' op divides 8 features into 3 heads}}
  %0 = talc.rope %x, %s heads 3 rotary 2 base 10000.0 : tensor<?x8xf32>
  return
}

// -----

func.func @rope_odd(%x: tensor<?x8xf32>, %s: !talc.sequences) {
  // expected-error @+1 {{'talc.rope' op rotates 3 features of heads of width 4, expected an even number up to that width}}
  %0 = talc.rope %x, %s heads 2 rotary 3 base 10000.0 : tensor<?x8xf32>
  return
}

// -----

func.func @rope_too_wide(%x: tensor<?x8xf32>, %s: !talc.sequences) {
  // expected-error @+1 {{'talc.rope' op rotates 6 features of heads of width 4, expected an even number up to that width}}
  %0 = talc.rope %x, %s heads 2 rotary 6 base 10000.0 : tensor<?x8xf32>
  return
}

// -----

func.func @rope_base(%x: tensor<?x8xf32>, %s: !talc.sequences) {
  // expected-error @+1 {{'talc.rope' op has the base 0.000000e+00, expected a number > 0}}
  %0 = talc.rope %x, %s heads 2 rotary 4 base 0.0 : tensor<?x8xf32>
  return
}

// -----

func.func @attention_heads(%x: tensor<?x8xf32>, %s: !talc.sequences) {
  // expected-error @+1 {{'talc.attention' op shares 3 key-value heads among 4 heads}}
  %0 = talc.attention causal %x, %x, %x, %s heads 4, 3 scale 1.0 : tensor<?x8xf32>, tensor<?x8xf32>
  return
}

// -----

func.func @attention_width(%x: tensor<?x8xf32>, %s: !talc.sequences) {
  // expected-error @+1 {{'talc.attention' op divides 8 features into 3 heads}}
  %0 = talc.attention causal %x, %x, %x, %s heads 3, 1 scale 1.0 : tensor<?x8xf32>, tensor<?x8xf32>
  return
}

// -----

func.func @attention_window(%x: tensor<?x8xf32>, %s: !talc.sequences) {
  // expected-error @+1 {{'talc.attention' op has the negative window -1}}
  %0 = talc.attention causal %x, %x, %x, %s heads 2, 2 scale 1.0 {window = -1 : i64} : tensor<?x8xf32>, tensor<?x8xf32>
  return
}

// -----

func.func @attention_keys(%x: tensor<?x8xf32>, %s: !talc.sequences) {
  // expected-error @+1 {{'talc.attention' op width of the keys is 8, expected 4}}
  %0 = talc.attention causal %x, %x, %x, %s heads 2, 1 scale 1.0 : tensor<?x8xf32>, tensor<?x8xf32>
  return
}

// -----

func.func @unequal_types(%x: tensor<?x8xf32>, %y: tensor<?x4xf32>) {
  // expected-error @+1 {{'talc.add' op requires the same type for all operands and results}}
  %0 = "talc.add"(%x, %y) : (tensor<?x8xf32>, tensor<?x4xf32>) -> tensor<?x8xf32>
  return
}

// -----

func.func @source_mask(%state: !talc.kv_cache<2 x 4 x 8, source>, %x: tensor<?x8xf32>, %s: !talc.sequences) {
  %k, %v = talc.kv_read %state, %s : !talc.kv_cache<2 x 4 x 8, source> -> tensor<?x8xf32>, tensor<?x8xf32>
  // expected-error @+1 {{'talc.attention' op reads a source, whose keys have no order among the queries: expected the mask full, no window and no bias}}
  %0 = talc.attention causal %x, %k, %v, %s heads 2, 2 scale 1.0 : tensor<?x8xf32>, tensor<?x8xf32>
  return
}

// -----

func.func @source_window(%state: !talc.kv_cache<2 x 4 x 8, source>, %x: tensor<?x8xf32>, %s: !talc.sequences) {
  %k, %v = talc.kv_read %state, %s : !talc.kv_cache<2 x 4 x 8, source> -> tensor<?x8xf32>, tensor<?x8xf32>
  // expected-error @+1 {{'talc.attention' op reads a source, whose keys have no order among the queries}}
  %0 = talc.attention full %x, %k, %v, %s heads 2, 2 scale 1.0 {window = 2 : i64} : tensor<?x8xf32>, tensor<?x8xf32>
  return
}

// -----

func.func @source_bias(%state: !talc.kv_cache<2 x 4 x 8, source>, %x: tensor<?x8xf32>, %b: tensor<2x15xf32>, %s: !talc.sequences) {
  %k, %v = talc.kv_read %state, %s : !talc.kv_cache<2 x 4 x 8, source> -> tensor<?x8xf32>, tensor<?x8xf32>
  // expected-error @+1 {{'talc.attention' op reads a source, whose keys have no order among the queries}}
  %0 = talc.attention full %x, %k, %v, %s heads 2, 2 scale 1.0 bias %b : tensor<2x15xf32> : tensor<?x8xf32>, tensor<?x8xf32>
  return
}

// -----

func.func @bias_heads(%x: tensor<?x8xf32>, %b: tensor<4x15xf32>, %s: !talc.sequences) {
  // expected-error @+1 {{'talc.attention' op has the bias 'tensor<4x15xf32>', expected 2 heads by an odd number of distances}}
  %0 = talc.attention full %x, %x, %x, %s heads 2, 2 scale 1.0 bias %b : tensor<4x15xf32> : tensor<?x8xf32>, tensor<?x8xf32>
  return
}

// -----

func.func @bias_distances(%x: tensor<?x8xf32>, %b: tensor<2x16xf32>, %s: !talc.sequences) {
  // expected-error @+1 {{'talc.attention' op has the bias 'tensor<2x16xf32>', expected 2 heads by an odd number of distances}}
  %0 = talc.attention full %x, %x, %x, %s heads 2, 2 scale 1.0 bias %b : tensor<2x16xf32> : tensor<?x8xf32>, tensor<?x8xf32>
  return
}

// -----

func.func @mask(%x: tensor<?x8xf32>, %s: !talc.sequences) {
  // expected-error @+2 {{expected ::talc::MaskKind to be one of: full, causal, prefix}}
  // expected-error @+1 {{failed to parse}}
  %0 = talc.attention none %x, %x, %x, %s heads 2, 2 scale 1.0 : tensor<?x8xf32>, tensor<?x8xf32>
  return
}

// -----

func.func @activation(%x: tensor<?x8xf32>) {
  // expected-error @+1 {{'talc.activation' op requires the same type for all operands and results}}
  %0 = "talc.activation"(%x) {kind = #talc<function relu>} : (tensor<?x8xf32>) -> tensor<?x9xf32>
  return
}

// -----

func.func @mul(%x: tensor<?x8xf32>, %y: tensor<?x9xf32>) {
  // expected-error @+1 {{'talc.mul' op requires the same type for all operands and results}}
  %0 = "talc.mul"(%x, %y) : (tensor<?x8xf32>, tensor<?x9xf32>) -> tensor<?x8xf32>
  return
}

// -----

func.func @scale(%x: tensor<?x8xf32>) {
  // expected-error @+1 {{'talc.scale' op requires the same type for all operands and results}}
  %0 = "talc.scale"(%x) {factor = 2.0 : f64} : (tensor<?x8xf32>) -> tensor<?x9xf32>
  return
}

// -----

func.func @softmax(%x: tensor<?x8xf32>) {
  // expected-error @+1 {{'talc.softmax' op requires the same type for all operands and results}}
  %0 = "talc.softmax"(%x) : (tensor<?x8xf32>) -> tensor<?x9xf32>
  return
}

// -----

func.func @rope_base_of_yarn(%x: tensor<?x8xf32>, %s: !talc.sequences) {
  // expected-error @+1 {{'talc.rope' op has the base 1.000000e+00, expected more than 1}}
  %0 = talc.rope %x, %s heads 2 rotary 4 base 1.0 scaling (#talc.yarn_scaling<factor = 2.0, fast = 32.0, slow = 1.0, original = 8, truncate = true, amplitude = 1.0>) : tensor<?x8xf32>
  return
}

// -----

func.func @rope_growing(%x: tensor<?x8xf32>, %s: !talc.sequences) {
  // expected-error @+1 {{'talc.rope' op rotates 2 features with a growing base, expected more than 2}}
  %0 = talc.rope %x, %s heads 2 rotary 2 base 100.0 scaling (#talc.dynamic_scaling<factor = 2.0, original = 8>) : tensor<?x8xf32>
  return
}

// -----

func.func @rope_listed(%x: tensor<?x8xf32>, %s: !talc.sequences) {
  // expected-error @+1 {{'talc.rope' op number of factors is 3, expected 2}}
  %0 = talc.rope %x, %s heads 2 rotary 4 base 100.0 scaling (#talc.listed_scaling<[1.0, 2.0, 3.0], amplitude = 1.0>) : tensor<?x8xf32>
  return
}

// -----

// expected-error @+1 {{has the factor 0.000000e+00, expected a number > 0}}
func.func @listed_zero() attributes {a = #talc.listed_scaling<[0.0], amplitude = 1.0>} {
  return
}

// -----

// expected-error @+1 {{has the number of slow turns 0.000000e+00, expected a number > 0}}
func.func @yarn_slow() attributes {a = #talc.yarn_scaling<factor = 2.0, fast = 32.0, slow = 0.0, original = 8, truncate = true, amplitude = 1.0>} {
  return
}

// -----

// expected-error @+1 {{has the original context 0.000000e+00, expected a number > 0}}
func.func @dynamic_original() attributes {a = #talc.dynamic_scaling<factor = 2.0, original = 0>} {
  return
}

// -----

func.func @clamp_bound(%x: tensor<?x8xf32>) {
  // expected-error @+1 {{'talc.clamp' op has the bound 0.000000e+00, expected a number > 0}}
  %0 = talc.clamp %x to 0.0 : tensor<?x8xf32>
  return
}

// -----

func.func @attention_cap(%x: tensor<?x8xf32>, %s: !talc.sequences) {
  // expected-error @+1 {{'talc.attention' op has the cap -1.000000e+00, expected a number >= 0}}
  %0 = talc.attention causal %x, %x, %x, %s heads 2, 2 scale 1.0 {cap = -1.0 : f64} : tensor<?x8xf32>, tensor<?x8xf32>
  return
}

// -----

func.func @attention_absolute(%x: tensor<?x8xf32>, %s: !talc.sequences) {
  // expected-error @+1 {{'talc.attention' op is absolute, but has no bias}}
  %0 = talc.attention causal %x, %x, %x, %s heads 2, 2 scale 1.0 {absolute} : tensor<?x8xf32>, tensor<?x8xf32>
  return
}

// -----

func.func @attention_absolute_heads(%x: tensor<?x8xf32>, %s: !talc.sequences, %b: tensor<4x16xf32>) {
  // expected-error @+1 {{'talc.attention' op has the bias 'tensor<4x16xf32>', expected 2 heads by positions}}
  %0 = talc.attention causal %x, %x, %x, %s heads 2, 2 scale 1.0 bias %b : tensor<4x16xf32> {absolute} : tensor<?x8xf32>, tensor<?x8xf32>
  return
}

// -----

func.func @route_count(%x: tensor<?x8xf32>) {
  // expected-error @+1 {{'talc.route' op chooses 9 of 8 features}}
  %0 = talc.route %x to 9 : tensor<?x8xf32>
  return
}

// -----

func.func @experts_chosen(%x: tensor<?x4xf32>, %routes: tensor<?x3xf32>, %gate: tensor<15x4xf32>, %down: tensor<12x5xf32>) {
  // expected-error @+1 {{'talc.experts' op chooses 4 of 3 experts}}
  %0 = talc.experts silu %x, %routes, %gate, %gate down %down chosen 4 : (tensor<?x4xf32>, tensor<?x3xf32>, tensor<15x4xf32>, tensor<15x4xf32>, tensor<12x5xf32>) -> tensor<?x4xf32>
  return
}

// -----

func.func @experts_gate(%x: tensor<?x4xf32>, %routes: tensor<?x3xf32>, %gate: tensor<14x4xf32>, %down: tensor<12x5xf32>) {
  // expected-error @+1 {{'talc.experts' op size of the gate is 14, expected 15}}
  %0 = talc.experts silu %x, %routes, %gate, %gate down %down chosen 2 : (tensor<?x4xf32>, tensor<?x3xf32>, tensor<14x4xf32>, tensor<14x4xf32>, tensor<12x5xf32>) -> tensor<?x4xf32>
  return
}

// -----

func.func @experts_down(%x: tensor<?x4xf32>, %routes: tensor<?x3xf32>, %gate: tensor<15x4xf32>, %down: tensor<11x5xf32>) {
  // expected-error @+1 {{'talc.experts' op size of the down projection is 11, expected 12}}
  %0 = talc.experts silu %x, %routes, %gate, %gate down %down chosen 2 : (tensor<?x4xf32>, tensor<?x3xf32>, tensor<15x4xf32>, tensor<15x4xf32>, tensor<11x5xf32>) -> tensor<?x4xf32>
  return
}

// -----

func.func @experts_up(%x: tensor<?x4xf32>, %routes: tensor<?x3xf32>, %gate: tensor<15x4xf32>, %down: tensor<12x5xf32>) {
  // expected-error @+1 {{'talc.experts' op expected two matrices, gate and up, or one packed weight}}
  %0 = talc.experts silu %x, %routes, %gate down %down chosen 2 : (tensor<?x4xf32>, tensor<?x3xf32>, tensor<15x4xf32>, tensor<12x5xf32>) -> tensor<?x4xf32>
  return
}

// -----

func.func @memory_role(%y: tensor<?x8xf32>, %k: tensor<?x4xf32>, %m: !talc.kv_cache<2 x 2 x 8>, %g: tensor<4xf32>, %s: !talc.sequences) {
  // expected-error @+1 {{'talc.memory' op has the cache '!talc.kv_cache<2 x 2 x 8>', expected one of the role memory}}
  %0 = talc.memory linear %y, %y, %k, %k, %m, %s gates %g heads 4 : (tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x4xf32>, tensor<?x4xf32>, !talc.kv_cache<2 x 2 x 8>, !talc.sequences, tensor<4xf32>) -> tensor<?x8xf32>
  return
}

// -----

func.func @memory_heads(%y: tensor<?x8xf32>, %k: tensor<?x4xf32>, %m: !talc.kv_cache<2 x 2 x 8, memory>, %g: tensor<4xf32>, %s: !talc.sequences) {
  // expected-error @+1 {{'talc.memory' op shares 2 key-value heads among 3 heads}}
  %0 = talc.memory linear %y, %y, %k, %k, %m, %s gates %g heads 3 : (tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x4xf32>, tensor<?x4xf32>, !talc.kv_cache<2 x 2 x 8, memory>, !talc.sequences, tensor<4xf32>) -> tensor<?x8xf32>
  return
}

// -----

func.func @memory_queries(%y: tensor<?x8xf32>, %k: tensor<?x4xf32>, %m: !talc.kv_cache<2 x 2 x 8, memory>, %g: tensor<4xf32>, %s: !talc.sequences) {
  // expected-error @+1 {{'talc.memory' op width of the queries is 8, expected 12}}
  %0 = talc.memory linear %y, %y, %k, %k, %m, %s gates %g heads 6 : (tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x4xf32>, tensor<?x4xf32>, !talc.kv_cache<2 x 2 x 8, memory>, !talc.sequences, tensor<4xf32>) -> tensor<?x8xf32>
  return
}

// -----

func.func @memory_keys(%y: tensor<?x8xf32>, %k: tensor<?x6xf32>, %m: !talc.kv_cache<2 x 2 x 8, memory>, %g: tensor<4xf32>, %s: !talc.sequences) {
  // expected-error @+1 {{'talc.memory' op width of the keys is 6, expected 4}}
  %0 = talc.memory linear %y, %y, %k, %k, %m, %s gates %g heads 4 : (tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x6xf32>, tensor<?x6xf32>, !talc.kv_cache<2 x 2 x 8, memory>, !talc.sequences, tensor<4xf32>) -> tensor<?x8xf32>
  return
}

// -----

func.func @memory_gates(%y: tensor<?x8xf32>, %k: tensor<?x4xf32>, %m: !talc.kv_cache<2 x 2 x 8, memory>, %g: tensor<3xf32>, %s: !talc.sequences) {
  // expected-error @+1 {{'talc.memory' op number of gates is 3, expected 4}}
  %0 = talc.memory linear %y, %y, %k, %k, %m, %s gates %g heads 4 : (tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x4xf32>, tensor<?x4xf32>, !talc.kv_cache<2 x 2 x 8, memory>, !talc.sequences, tensor<3xf32>) -> tensor<?x8xf32>
  return
}

// -----

func.func @memory_append(%k: tensor<?x4xf32>, %m: !talc.kv_cache<2 x 2 x 8, memory>, %s: !talc.sequences) {
  // expected-error @+1 {{'talc.kv_append' op is of a compressive memory, which does not hold keys and values of tokens}}
  talc.kv_append %m, %k, %k, %s : !talc.kv_cache<2 x 2 x 8, memory>, tensor<?x4xf32>
  return
}

// -----

func.func @memory_read(%m: !talc.kv_cache<2 x 2 x 8, memory>, %s: !talc.sequences) {
  // expected-error @+1 {{'talc.kv_read' op is of a compressive memory, which does not hold keys and values of tokens}}
  %0, %1 = talc.kv_read %m, %s : !talc.kv_cache<2 x 2 x 8, memory> -> tensor<?x4xf32>, tensor<?x4xf32>
  return
}
