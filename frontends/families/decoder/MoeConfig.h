// SPDX-License-Identifier: Apache-2.0
// Reads MoE layers from keys that several families share.
#pragma once

#include "frontends/families/decoder/Decoder.h"

namespace talc {

// Qwen's keys: num_experts, num_experts_per_tok, norm_topk_prob, moe_intermediate_size.
struct QwenMoeDefaults {
  int64_t experts, perToken;
  int64_t inner;  // 0: intermediate_size, which is the key
  bool isNormalized = false;
};
MoeLayer readQwenMoe(const Decoder &d, const QwenMoeDefaults &defaults);

// DeepSeek's keys: n_routed_experts, n_shared_experts, routed_scaling_factor, first_k_dense_replace.
struct DeepSeekMoeDefaults {
  int64_t experts = 0;
  std::optional<int64_t> perToken = {};  // none: the key is required
  int64_t inner = 0, denseLayers = 0, shared = 0;
  double factor = 1;
};
MoeLayer readDeepSeekMoe(const Decoder &d, const DeepSeekMoeDefaults &defaults);
// Layers with experts: by mlp_layer_types; without that key, where `usual` says so.
LayerRule readSparseLayers(const Decoder &d, const LayerRule &usual);
// Replaces the feed-forward in layers behind the dense ones.
void useDeepSeekMoe(Decoder &d, const LayerPart &moe, const DeepSeekMoeDefaults &defaults);

// The routing of DeepSeek V3: sigmoid scores; a bias and groups decide which experts are selected.
void readBiasedRouting(MoeLayer &moe, const ModelConfig &config, int64_t groups, int64_t topGroups);

}  // namespace talc
