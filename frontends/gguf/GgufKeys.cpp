// SPDX-License-Identifier: Apache-2.0
// The table of keys of the metadata. Source: gguf-py/gguf/constants.py and the converters of llama.cpp.
#include "frontends/gguf/GgufKeys.h"

#include "frontends/gguf/GgufArchitectures.h"
#include "runtime/artifact/GenerationSettings.h"

#include "llvm/ADT/STLExtras.h"

namespace talc {

using Use = GgufKey::Use;

bool GgufKey::isFor(std::string_view name, const GgufArchitecture &architecture) const {
  return key == name && (only.empty() || llvm::is_contained(only, architecture.name));
}

static const std::vector<std::string_view> mixtures = {
    "llama",   "qwen2moe",     "qwen3moe",    "gpt-oss", "deepseek2",  "afmoe",     "dots1",
    "glm4moe", "ernie4_5-moe", "hunyuan-moe", "olmoe",   "minimax-m2", "granitemoe"};
static const std::vector<std::string_view> windowed = {"gemma2",  "gemma3", "cohere2", "phi3",
                                                       "gpt-oss", "olmo2",  "exaone4", "afmoe"};
static const std::vector<std::string_view> latent = {"deepseek2"};
// These route by sigmoids of scores and a bias, as DeepSeek V3 does.
static const std::vector<std::string_view> biased = {"deepseek2", "dots1", "glm4moe"};

// Keys of experts and latent attention.
static std::vector<GgufKey> mixtureRows() {
  return {
      {"expert_count", Use::Optional, {"num_experts", "num_local_experts", "n_routed_experts"}, nullptr, mixtures},
      {"expert_count", Use::Optional, {"moe_num_experts"}, nullptr, {"ernie4_5-moe"}},
      {"expert_used_count", Use::Optional, {"num_experts_per_tok", "moe_topk", "moe_k"}, nullptr, mixtures},
      {"expert_shared_count", Use::Optional, {"n_shared_experts"}, nullptr, biased},
      {"expert_weights_scale", Use::Optional, {"routed_scaling_factor"}, nullptr, biased},
      {"expert_weights_norm", Use::Optional, {"norm_topk_prob"}, nullptr, biased},
      {"expert_group_count", Use::Optional, {"n_group"}, nullptr, biased},
      {"expert_group_used_count", Use::Optional, {"topk_group"}, nullptr, biased},
      {"expert_gating_func", Use::Read, {}, nullptr, {"deepseek2"}},
      {"expert_gating_func", Use::Nothing, {}, 2, {"afmoe", "dots1", "glm4moe", "minimax-m2"}},
      {"expert_gating_func", Use::Nothing, {}, 1, {"hunyuan-moe", "olmoe", "granitemoe", "ernie4_5-moe"}},
      {"leading_dense_block_count", Use::Optional, {"first_k_dense_replace"}, nullptr, biased},
      {"leading_dense_block_count", Use::Optional, {"num_dense_layers"}, nullptr, {"afmoe"}},
      {"leading_dense_block_count", Use::Optional, {"moe_layer_start_index"}, nullptr, {"ernie4_5-moe"}},
      {"interleave_moe_layer_step", Use::Optional, {"moe_layer_interval"}, nullptr, {"ernie4_5-moe"}},
      {"expert_shared_count", Use::Optional, {"moe_num_shared_experts"}, nullptr, {"ernie4_5-moe"}},
      {"expert_shared_count", Use::Optional, {"num_shared_experts"}, nullptr, {"afmoe"}},
      {"expert_shared_count", Use::Nothing, {}, 1, {"hunyuan-moe"}},
      {"expert_weights_scale", Use::Optional, {"route_scale"}, nullptr, {"afmoe"}},
      {"expert_weights_norm", Use::Nothing, {}, true, {"afmoe"}},
      {"expert_group_count", Use::Nothing, {}, 1, {"afmoe"}},
      {"expert_group_used_count", Use::Nothing, {}, 1, {"afmoe"}},
      {"nextn_predict_layers", Use::Read, {}, nullptr, {"glm4moe"}},
      {"attention.q_lora_rank", Use::Optional, {"q_lora_rank"}, nullptr, latent},
      {latentKey, Use::Optional, {"kv_lora_rank"}, nullptr, latent},
      {"attention.key_length_mla", Use::Read, {}, nullptr, latent},
      {"attention.value_length_mla", Use::Read, {}, nullptr, latent},
      {"rope.scaling.yarn_log_multiplier", Use::Read, {}, nullptr, latent},
      {"expert_shared_feed_forward_length", Use::Optional, {"shared_expert_intermediate_size"}, nullptr, {"qwen2moe"}},
      // The shapes of tensors tell what this says.
      {"expert_shared_feed_forward_length", Use::Read, {}, nullptr, {"ernie4_5-moe", "hunyuan-moe"}},
  };
}

static std::vector<GgufKey> usualRows() {
  return {
      {"context_length", Use::Required, {"max_position_embeddings", "n_positions", "seq_length", "max_seq_len"}},
      {"embedding_length", Use::Required, {"hidden_size", "n_embd", "d_model"}},
      {"block_count", Use::Required, {"num_hidden_layers", "n_layer", "num_layers", "n_layers"}},
      {"expert_feed_forward_length",
       Use::Optional,
       {"intermediate_size"},
       nullptr,
       {"gpt-oss", "hunyuan-moe", "minimax-m2", "olmoe"}},
      {"feed_forward_length", Use::Required, {"intermediate_size", "n_inner", "d_ff", "ffn_hidden_size"}},
      {"attention.head_count", Use::Required, {"num_attention_heads", "n_head", "num_heads", "n_heads"}},
      {"attention.head_count_kv", Use::Optional, {"num_key_value_heads", "num_kv_heads"}},
      {"attention.key_length", Use::Optional, {"head_dim", "d_kv"}},
      {"attention.layer_norm_epsilon",
       Use::Optional,
       {"layer_norm_epsilon", "layer_norm_eps", "norm_eps", "norm_epsilon"}},
      {"attention.layer_norm_rms_epsilon", Use::Optional, {"rms_norm_eps", "layer_norm_epsilon"}},
      {"attention.relative_buckets_count", Use::Optional, {"relative_attention_num_buckets"}},
      {"decoder_block_count", Use::Optional, {"num_decoder_layers"}},
      {"rope.freq_base", Use::Optional, {"rope_theta", "global_rope_theta", "rotary_emb_base"}},
      {"attention.sliding_window", Use::Optional, {"sliding_window"}, nullptr, windowed},
      {"attn_logit_softcapping", Use::Optional, {"attn_logit_softcapping"}, nullptr, {"gemma2"}},
      {"final_logit_softcapping", Use::Optional, {"final_logit_softcapping"}, nullptr, {"gemma2"}},
      {"rope.freq_base_swa", Use::Optional, {"rope_local_base_freq"}, nullptr, {"gemma3"}},
      {"attention.sliding_window", Use::Optional, {"local_attention"}, nullptr, {"modern-bert"}},
      {"attention.sliding_window_pattern", Use::Optional, {"global_attn_every_n_layers"}, nullptr, {"modern-bert"}},
      {"attention.sliding_window_pattern", Use::Read, {}, nullptr, {"olmo2", "exaone4", "afmoe"}},
      {"rope.freq_base_swa", Use::Optional, {"local_rope_theta"}, nullptr, {"modern-bert"}},
      {"logit_scale", Use::Optional, {"logit_scale"}, nullptr, {"command-r", "cohere2"}},
      {"logit_scale", Use::Optional, {"logits_scaling"}, nullptr, {"granite", "granitemoe"}},
      {"attention.scale", Use::Optional, {"attention_multiplier"}, nullptr, {"granite", "granitemoe"}},
      {"embedding_scale", Use::Optional, {"embedding_multiplier"}, nullptr, {"granite", "granitemoe"}},
      {"residual_scale", Use::Optional, {"residual_multiplier"}, nullptr, {"granite", "granitemoe"}},
      {"use_parallel_residual", Use::Optional, {"use_parallel_residual"}, nullptr, {"gptneox", "stablelm"}},
      {"expert_feed_forward_length",
       Use::Optional,
       {"moe_intermediate_size"},
       nullptr,
       {"qwen2moe", "qwen3moe", "deepseek2", "afmoe", "dots1", "glm4moe", "ernie4_5-moe"}},
      {"attention.clamp_kqv", Use::Optional, {"clip_qkv"}, nullptr, {"olmo"}},
      {"attention.temperature_scale", Use::Read, {}, nullptr, {"mistral3"}},
      {"rope.scaling.yarn_log_multiplier", Use::Read, {}, nullptr, {"mistral3"}},
      {"attention.clamp_kqv", Use::Read, {}, nullptr, {"mpt"}},
      {"attention.max_alibi_bias", Use::Read, {}, nullptr, {"mpt"}},
  };
}

// Keys that other code reads, and those that change nothing.
static std::vector<GgufKey> otherRows() {
  return {
      {"attention.value_length", Use::Read},
      {"classifier.output_labels", Use::Read, {}, nullptr, {"bert"}},
      {"pooling_type", Use::Read},
      {"rope.dimension_count", Use::Read},
      {"rope.scaling.type", Use::Read},
      {"rope.scaling.factor", Use::Read},
      {"rope.scaling.original_context_length", Use::Read},
      {"rope.scaling.yarn_beta_fast", Use::Read},
      {"rope.scaling.yarn_beta_slow", Use::Read},
      {"rope.scaling.attn_factor", Use::Read, {}, nullptr, {"phi3"}},
      {"rope.scaling.finetuned", Use::Nothing},
      {"attention.causal", Use::Nothing},
      {"tensor_data_layout", Use::Nothing},
      {"vocab_size", Use::Nothing},
      {artifact::settings::startToken.key, Use::Read},
      {"expert_count", Use::Nothing, {}, 0},
      {"expert_used_count", Use::Nothing, {}, 0},
      {"attention.clamp_kqv", Use::Nothing, {}, 0},
      {"attention.max_alibi_bias", Use::Nothing, {}, 0},
      {"attn_logit_softcapping", Use::Nothing, {}, 0},
      {"final_logit_softcapping", Use::Nothing, {}, 0},
      {"use_parallel_residual", Use::Nothing, {}, false},
  };
}

const std::vector<GgufKey> &ggufKeys() {
  static const std::vector<GgufKey> table = [] {
    std::vector<GgufKey> all = mixtureRows();
    llvm::append_range(all, usualRows());
    llvm::append_range(all, otherRows());
    return all;
  }();
  return table;
}

}  // namespace talc
