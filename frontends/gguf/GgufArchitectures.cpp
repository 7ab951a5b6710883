// SPDX-License-Identifier: Apache-2.0
// The table of architectures. Source: gguf-py/gguf/tensor_mapping.py and convert_hf_to_gguf.py of llama.cpp.
#include "frontends/gguf/GgufArchitectures.h"

#include "llvm/ADT/STLExtras.h"

namespace talc {

using Kind = StoredOrder::Kind;

// GPT-2's matrices are transposed in its checkpoints, but not in GGUF.
constexpr GgufName gpt2Names[] = {
    {"transformer.wte", "token_embd"},
    {"transformer.wpe", "position_embd"},
    {"transformer.h.#.ln_1", "blk.#.attn_norm"},
    {"transformer.h.#.attn.c_attn", "blk.#.attn_qkv", Kind::Transposed},
    {"transformer.h.#.attn.c_proj", "blk.#.attn_output", Kind::Transposed},
    {"transformer.h.#.ln_2", "blk.#.ffn_norm"},
    {"transformer.h.#.mlp.c_fc", "blk.#.ffn_up", Kind::Transposed},
    {"transformer.h.#.mlp.c_proj", "blk.#.ffn_down", Kind::Transposed},
    {"transformer.ln_f", "output_norm"},
    {"lm_head", "output"},
};

// Tensor names that most decoders share.
constexpr GgufName decoderNames[] = {
    {"model.embed_tokens", "token_embd"},
    {"model.layers.#.input_layernorm", "blk.#.attn_norm"},
    {"model.layers.#.self_attn.q_proj", "blk.#.attn_q"},
    {"model.layers.#.self_attn.k_proj", "blk.#.attn_k"},
    {"model.layers.#.self_attn.v_proj", "blk.#.attn_v"},
    {"model.layers.#.self_attn.q_norm", "blk.#.attn_q_norm"},
    {"model.layers.#.self_attn.k_norm", "blk.#.attn_k_norm"},
    {"model.layers.#.self_attn.o_proj", "blk.#.attn_output"},
    {"model.layers.#.post_attention_layernorm", "blk.#.ffn_norm"},
    {"model.layers.#.mlp.gate_proj", "blk.#.ffn_gate"},
    {"model.layers.#.mlp.up_proj", "blk.#.ffn_up"},
    {"model.layers.#.mlp.down_proj", "blk.#.ffn_down"},
    {"model.norm", "output_norm"},
    {"lm_head", "output"},
};

// Tensor names in which decoders differ.

// The features that rotary positions turn together stand side by side.
constexpr GgufName pairedNames[] = {
    {"model.layers.#.self_attn.q_proj", "blk.#.attn_q", Kind::Pairs},
    {"model.layers.#.self_attn.k_proj", "blk.#.attn_k", Kind::Pairs},
};

constexpr GgufName mixtralNames[] = {
    {"model.layers.#.self_attn.q_proj", "blk.#.attn_q", Kind::Pairs},
    {"model.layers.#.self_attn.k_proj", "blk.#.attn_k", Kind::Pairs},
    {"model.layers.#.block_sparse_moe.gate", "blk.#.ffn_gate_inp"},
    {"model.layers.#.block_sparse_moe.experts.*.w1", "blk.#.ffn_gate_exps"},
    {"model.layers.#.block_sparse_moe.experts.*.w3", "blk.#.ffn_up_exps"},
    {"model.layers.#.block_sparse_moe.experts.*.w2", "blk.#.ffn_down_exps"},
};

constexpr GgufName qwenMixtureNames[] = {
    {"model.layers.#.mlp.gate", "blk.#.ffn_gate_inp"},
    {"model.layers.#.mlp.experts.*.gate_proj", "blk.#.ffn_gate_exps"},
    {"model.layers.#.mlp.experts.*.up_proj", "blk.#.ffn_up_exps"},
    {"model.layers.#.mlp.experts.*.down_proj", "blk.#.ffn_down_exps"},
    {"model.layers.#.mlp.shared_expert_gate", "blk.#.ffn_gate_inp_shexp"},
    {"model.layers.#.mlp.shared_expert.gate_proj", "blk.#.ffn_gate_shexp"},
    {"model.layers.#.mlp.shared_expert.up_proj", "blk.#.ffn_up_shexp"},
    {"model.layers.#.mlp.shared_expert.down_proj", "blk.#.ffn_down_shexp"},
};

// DeepSeek's: latent attention, experts beside shared ones. Files have kv_b of all heads as one matrix, or each head's
// keys, transposed, and values apart.
constexpr GgufName deepSeekNames[] = {
    {"model.layers.#.self_attn.q_a_proj", "blk.#.attn_q_a"},
    {"model.layers.#.self_attn.q_a_layernorm", "blk.#.attn_q_a_norm"},
    {"model.layers.#.self_attn.q_b_proj", "blk.#.attn_q_b"},
    {"model.layers.#.self_attn.kv_a_proj_with_mqa", "blk.#.attn_kv_a_mqa"},
    {"model.layers.#.self_attn.kv_a_layernorm", "blk.#.attn_kv_a_norm"},
    {"model.layers.#.self_attn.kv_b_proj", "blk.#.attn_kv_b"},
    {"model.layers.#.self_attn.k_b_proj", "blk.#.attn_k_b"},
    {"model.layers.#.self_attn.v_b_proj", "blk.#.attn_v_b"},
    {"model.layers.#.mlp.gate", "blk.#.ffn_gate_inp"},
    {"model.layers.#.mlp.gate.e_score_correction_bias", "blk.#.exp_probs_b.bias"},
    {"model.layers.#.mlp.experts.*.gate_proj", "blk.#.ffn_gate_exps"},
    {"model.layers.#.mlp.experts.*.up_proj", "blk.#.ffn_up_exps"},
    {"model.layers.#.mlp.experts.*.down_proj", "blk.#.ffn_down_exps"},
    {"model.layers.#.mlp.shared_experts.gate_proj", "blk.#.ffn_gate_shexp"},
    {"model.layers.#.mlp.shared_experts.up_proj", "blk.#.ffn_up_shexp"},
    {"model.layers.#.mlp.shared_experts.down_proj", "blk.#.ffn_down_shexp"},
};

// Norms behind attention stand in front of the experts; their gates and inputs are matrices of their own.
constexpr GgufName gptOssNames[] = {
    {"model.layers.#.self_attn.sinks", "blk.#.attn_sinks.weight"},
    {"model.layers.#.post_attention_layernorm", "blk.#.post_attention_norm"},
    {"model.layers.#.mlp.router", "blk.#.ffn_gate_inp"},
    {"model.layers.#.mlp.experts.*.gate_proj", "blk.#.ffn_gate_exps"},
    {"model.layers.#.mlp.experts.*.up_proj", "blk.#.ffn_up_exps"},
    {"model.layers.#.mlp.experts.*.down_proj", "blk.#.ffn_down_exps"},
};

// Gemma's norms multiply by 1 + w, which is what is stored.
constexpr GgufName gemmaNames[] = {
    {"model.layers.#.input_layernorm", "blk.#.attn_norm", Kind::PlusOne},
    {"model.layers.#.post_attention_layernorm", "blk.#.ffn_norm", Kind::PlusOne},
    {"model.norm", "output_norm", Kind::PlusOne},
};

constexpr GgufName gemma2Names[] = {
    {"model.layers.#.input_layernorm", "blk.#.attn_norm", Kind::PlusOne},
    {"model.layers.#.post_attention_layernorm", "blk.#.post_attention_norm", Kind::PlusOne},
    {"model.layers.#.pre_feedforward_layernorm", "blk.#.ffn_norm", Kind::PlusOne},
    {"model.layers.#.post_feedforward_layernorm", "blk.#.post_ffw_norm", Kind::PlusOne},
    {"model.layers.#.self_attn.q_norm", "blk.#.attn_q_norm", Kind::PlusOne},
    {"model.layers.#.self_attn.k_norm", "blk.#.attn_k_norm", Kind::PlusOne},
    {"model.norm", "output_norm", Kind::PlusOne},
};

constexpr GgufName olmo2Names[] = {
    {"model.layers.#.post_attention_layernorm", "blk.#.post_attention_norm"},
    {"model.layers.#.post_feedforward_layernorm", "blk.#.post_ffw_norm"},
};

// Norms around each part; gates and inputs in one.
constexpr GgufName glm4Names[] = {
    {"model.layers.#.post_self_attn_layernorm", "blk.#.post_attention_norm"},
    {"model.layers.#.post_mlp_layernorm", "blk.#.post_ffw_norm"},
    {"model.layers.#.mlp.gate_up_proj", "blk.#.ffn_up"},
};

// The second norm of a layer stands where others have one behind attention.
constexpr GgufName secondNormNames[] = {
    {"model.layers.#.post_attention_layernorm", "blk.#.post_attention_norm"},
};

constexpr GgufName nemotronNames[] = {
    {"model.layers.#.input_layernorm", "blk.#.attn_norm", Kind::PlusOne},
    {"model.layers.#.post_attention_layernorm", "blk.#.ffn_norm", Kind::PlusOne},
    {"model.norm", "output_norm", Kind::PlusOne},
};

constexpr GgufName starcoder2Names[] = {
    {"model.layers.#.mlp.c_fc", "blk.#.ffn_up"},
    {"model.layers.#.mlp.c_proj", "blk.#.ffn_down"},
};

// As GPT-2's, but not transposed.
constexpr GgufName starcoderNames[] = {
    {"transformer.wte", "token_embd"},
    {"transformer.wpe", "position_embd"},
    {"transformer.h.#.ln_1", "blk.#.attn_norm"},
    {"transformer.h.#.attn.c_attn", "blk.#.attn_qkv"},
    {"transformer.h.#.attn.c_proj", "blk.#.attn_output"},
    {"transformer.h.#.ln_2", "blk.#.ffn_norm"},
    {"transformer.h.#.mlp.c_fc", "blk.#.ffn_up"},
    {"transformer.h.#.mlp.c_proj", "blk.#.ffn_down"},
    {"transformer.ln_f", "output_norm"},
    {"lm_head", "output"},
};

constexpr GgufName exaoneNames[] = {
    {"transformer.wte", "token_embd"},
    {"transformer.h.#.ln_1", "blk.#.attn_norm"},
    {"transformer.h.#.attn.attention.q_proj", "blk.#.attn_q"},
    {"transformer.h.#.attn.attention.k_proj", "blk.#.attn_k"},
    {"transformer.h.#.attn.attention.v_proj", "blk.#.attn_v"},
    {"transformer.h.#.attn.attention.out_proj", "blk.#.attn_output"},
    {"transformer.h.#.ln_2", "blk.#.ffn_norm"},
    {"transformer.h.#.mlp.c_fc_0", "blk.#.ffn_gate"},
    {"transformer.h.#.mlp.c_fc_1", "blk.#.ffn_up"},
    {"transformer.h.#.mlp.c_proj", "blk.#.ffn_down"},
    {"transformer.ln_f", "output_norm"},
    {"lm_head", "output"},
};

constexpr GgufName hunyuanNames[] = {
    {"model.layers.#.self_attn.query_layernorm", "blk.#.attn_q_norm"},
    {"model.layers.#.self_attn.key_layernorm", "blk.#.attn_k_norm"},
    {"model.layers.#.mlp.gate.wg", "blk.#.ffn_gate_inp"},
    {"model.layers.#.mlp.experts.*.gate_proj", "blk.#.ffn_gate_exps"},
    {"model.layers.#.mlp.experts.*.up_proj", "blk.#.ffn_up_exps"},
    {"model.layers.#.mlp.experts.*.down_proj", "blk.#.ffn_down_exps"},
    {"model.layers.#.mlp.shared_mlp.gate_proj", "blk.#.ffn_gate_shexp"},
    {"model.layers.#.mlp.shared_mlp.up_proj", "blk.#.ffn_up_shexp"},
    {"model.layers.#.mlp.shared_mlp.down_proj", "blk.#.ffn_down_shexp"},
};

constexpr GgufName graniteMoeNames[] = {
    {"model.layers.#.self_attn.q_proj", "blk.#.attn_q", Kind::Pairs},
    {"model.layers.#.self_attn.k_proj", "blk.#.attn_k", Kind::Pairs},
    {"model.layers.#.block_sparse_moe.router.layer", "blk.#.ffn_gate_inp"},
    {"model.layers.#.mlp.experts.*.gate_proj", "blk.#.ffn_gate_exps"},
    {"model.layers.#.mlp.experts.*.up_proj", "blk.#.ffn_up_exps"},
    {"model.layers.#.mlp.experts.*.down_proj", "blk.#.ffn_down_exps"},
};

constexpr GgufName miniMaxNames[] = {
    {"model.layers.#.block_sparse_moe.gate", "blk.#.ffn_gate_inp"},
    {"model.layers.#.block_sparse_moe.e_score_correction_bias", "blk.#.exp_probs_b.bias"},
    {"model.layers.#.block_sparse_moe.experts.*.w1", "blk.#.ffn_gate_exps"},
    {"model.layers.#.block_sparse_moe.experts.*.w3", "blk.#.ffn_up_exps"},
    {"model.layers.#.block_sparse_moe.experts.*.w2", "blk.#.ffn_down_exps"},
};

constexpr GgufName glm4MoeNames[] = {
    {"model.layers.#.post_attention_layernorm", "blk.#.post_attention_norm"},
    {"model.layers.#.mlp.gate", "blk.#.ffn_gate_inp"},
    {"model.layers.#.mlp.gate.e_score_correction_bias", "blk.#.exp_probs_b.bias"},
    {"model.layers.#.mlp.experts.*.gate_proj", "blk.#.ffn_gate_exps"},
    {"model.layers.#.mlp.experts.*.up_proj", "blk.#.ffn_up_exps"},
    {"model.layers.#.mlp.experts.*.down_proj", "blk.#.ffn_down_exps"},
    {"model.layers.#.mlp.shared_experts.gate_proj", "blk.#.ffn_gate_shexp"},
    {"model.layers.#.mlp.shared_experts.up_proj", "blk.#.ffn_up_shexp"},
    {"model.layers.#.mlp.shared_experts.down_proj", "blk.#.ffn_down_shexp"},
};

constexpr GgufName ernieMoeNames[] = {
    {"model.layers.#.mlp.gate", "blk.#.ffn_gate_inp"},
    {"model.layers.#.mlp.moe_statics.e_score_correction_bias", "blk.#.exp_probs_b.bias"},
    {"model.layers.#.mlp.experts.*.gate_proj", "blk.#.ffn_gate_exps"},
    {"model.layers.#.mlp.experts.*.up_proj", "blk.#.ffn_up_exps"},
    {"model.layers.#.mlp.experts.*.down_proj", "blk.#.ffn_down_exps"},
    {"model.layers.#.mlp.shared_experts.gate_proj", "blk.#.ffn_gate_shexp"},
    {"model.layers.#.mlp.shared_experts.up_proj", "blk.#.ffn_up_shexp"},
    {"model.layers.#.mlp.shared_experts.down_proj", "blk.#.ffn_down_shexp"},
};

constexpr GgufName afmoeNames[] = {
    {"model.layers.#.post_attention_layernorm", "blk.#.post_attention_norm"},
    {"model.layers.#.pre_mlp_layernorm", "blk.#.ffn_norm"},
    {"model.layers.#.post_mlp_layernorm", "blk.#.post_ffw_norm"},
    {"model.layers.#.self_attn.gate_proj", "blk.#.attn_gate"},
    {"model.layers.#.mlp.router.gate", "blk.#.ffn_gate_inp"},
    {"model.layers.#.mlp.expert_bias", "blk.#.exp_probs_b.bias"},
    {"model.layers.#.mlp.experts.*.gate_proj", "blk.#.ffn_gate_exps"},
    {"model.layers.#.mlp.experts.*.up_proj", "blk.#.ffn_up_exps"},
    {"model.layers.#.mlp.experts.*.down_proj", "blk.#.ffn_down_exps"},
    {"model.layers.#.mlp.shared_experts.gate_proj", "blk.#.ffn_gate_shexp"},
    {"model.layers.#.mlp.shared_experts.up_proj", "blk.#.ffn_up_shexp"},
    {"model.layers.#.mlp.shared_experts.down_proj", "blk.#.ffn_down_shexp"},
};

constexpr GgufName phi2Names[] = {
    {"model.layers.#.self_attn.dense", "blk.#.attn_output"},
    {"model.layers.#.mlp.fc1", "blk.#.ffn_up"},
    {"model.layers.#.mlp.fc2", "blk.#.ffn_down"},
    {"model.final_layernorm", "output_norm"},
};

constexpr GgufName phi3Names[] = {
    {"model.layers.#.self_attn.qkv_proj", "blk.#.attn_qkv"},
    {"model.layers.#.mlp.gate_up_proj", "blk.#.ffn_up"},
};

// Successors of GPT-2: queries, keys and values in one projection, which GGUF has in this order.
constexpr GgufName gptNeoXNames[] = {
    {"gpt_neox.embed_in", "token_embd"},
    {"gpt_neox.layers.#.input_layernorm", "blk.#.attn_norm"},
    {"gpt_neox.layers.#.attention.query_key_value", "blk.#.attn_qkv"},
    {"gpt_neox.layers.#.attention.dense", "blk.#.attn_output"},
    {"gpt_neox.layers.#.post_attention_layernorm", "blk.#.ffn_norm"},
    {"gpt_neox.layers.#.mlp.dense_h_to_4h", "blk.#.ffn_up"},
    {"gpt_neox.layers.#.mlp.dense_4h_to_h", "blk.#.ffn_down"},
    {"gpt_neox.final_layer_norm", "output_norm"},
    {"embed_out", "output"},
};

// BLOOM's and Falcon's.
constexpr GgufName bloomNames[] = {
    {"transformer.word_embeddings", "token_embd"},
    {"transformer.word_embeddings_layernorm", "token_embd_norm"},
    {"transformer.h.#.input_layernorm", "blk.#.attn_norm"},
    {"transformer.h.#.ln_attn", "blk.#.attn_norm_2"},
    {"transformer.h.#.ln_mlp", "blk.#.attn_norm"},
    {"transformer.h.#.self_attention.query_key_value", "blk.#.attn_qkv"},
    {"transformer.h.#.self_attention.dense", "blk.#.attn_output"},
    {"transformer.h.#.post_attention_layernorm", "blk.#.ffn_norm"},
    {"transformer.h.#.mlp.dense_h_to_4h", "blk.#.ffn_up"},
    {"transformer.h.#.mlp.dense_4h_to_h", "blk.#.ffn_down"},
    {"transformer.ln_f", "output_norm"},
    {"lm_head", "output"},
};

constexpr GgufName mptNames[] = {
    {"transformer.wte", "token_embd"},
    {"transformer.blocks.#.norm_1", "blk.#.attn_norm"},
    {"transformer.blocks.#.attn.Wqkv", "blk.#.attn_qkv"},
    {"transformer.blocks.#.attn.out_proj", "blk.#.attn_output"},
    {"transformer.blocks.#.norm_2", "blk.#.ffn_norm"},
    {"transformer.blocks.#.ffn.up_proj", "blk.#.ffn_up"},
    {"transformer.blocks.#.ffn.down_proj", "blk.#.ffn_down"},
    {"transformer.norm_f", "output_norm"},
    {"lm_head", "output"},
};

constexpr GgufName modernBertNames[] = {
    {"model.embeddings.tok_embeddings", "token_embd"},
    {"model.embeddings.norm", "token_embd_norm"},
    {"model.layers.#.attn_norm", "blk.#.attn_norm"},
    {"model.layers.#.attn.Wqkv", "blk.#.attn_qkv"},
    {"model.layers.#.attn.Wo", "blk.#.attn_output"},
    {"model.layers.#.mlp_norm", "blk.#.ffn_norm"},
    {"model.layers.#.mlp.Wi", "blk.#.ffn_up"},
    {"model.layers.#.mlp.Wo", "blk.#.ffn_down"},
    {"model.final_norm", "output_norm"},
};

constexpr GgufName bertNames[] = {
    {"bert.embeddings.word_embeddings", "token_embd"},
    {"bert.embeddings.position_embeddings", "position_embd"},
    {"bert.embeddings.token_type_embeddings", "token_types"},
    {"bert.embeddings.LayerNorm", "token_embd_norm"},
    {"bert.encoder.layer.#.attention.self.query", "blk.#.attn_q"},
    {"bert.encoder.layer.#.attention.self.key", "blk.#.attn_k"},
    {"bert.encoder.layer.#.attention.self.value", "blk.#.attn_v"},
    {"bert.encoder.layer.#.attention.output.dense", "blk.#.attn_output"},
    {"bert.encoder.layer.#.attention.output.LayerNorm", "blk.#.attn_output_norm"},
    {"bert.encoder.layer.#.intermediate.dense", "blk.#.ffn_up"},
    {"bert.encoder.layer.#.output.dense", "blk.#.ffn_down"},
    {"bert.encoder.layer.#.output.LayerNorm", "blk.#.layer_output_norm"},
    {"bert.pooler.dense", "cls"},
    {"classifier", "cls.output"},
};

constexpr GgufName t5Names[] = {
    {"shared", "token_embd"},
    {"encoder.block.#.layer.0.layer_norm", "enc.blk.#.attn_norm"},
    {"encoder.block.#.layer.0.SelfAttention.q", "enc.blk.#.attn_q"},
    {"encoder.block.#.layer.0.SelfAttention.k", "enc.blk.#.attn_k"},
    {"encoder.block.#.layer.0.SelfAttention.v", "enc.blk.#.attn_v"},
    {"encoder.block.#.layer.0.SelfAttention.o", "enc.blk.#.attn_o"},
    {"encoder.block.#.layer.0.SelfAttention.relative_attention_bias", "enc.blk.#.attn_rel_b"},
    {"encoder.block.#.layer.1.layer_norm", "enc.blk.#.ffn_norm"},
    {"encoder.block.#.layer.1.DenseReluDense.wi", "enc.blk.#.ffn_up"},
    {"encoder.block.#.layer.1.DenseReluDense.wi_0", "enc.blk.#.ffn_gate"},
    {"encoder.block.#.layer.1.DenseReluDense.wi_1", "enc.blk.#.ffn_up"},
    {"encoder.block.#.layer.1.DenseReluDense.wo", "enc.blk.#.ffn_down"},
    {"encoder.final_layer_norm", "enc.output_norm"},
    {"decoder.block.#.layer.0.layer_norm", "dec.blk.#.attn_norm"},
    {"decoder.block.#.layer.0.SelfAttention.q", "dec.blk.#.attn_q"},
    {"decoder.block.#.layer.0.SelfAttention.k", "dec.blk.#.attn_k"},
    {"decoder.block.#.layer.0.SelfAttention.v", "dec.blk.#.attn_v"},
    {"decoder.block.#.layer.0.SelfAttention.o", "dec.blk.#.attn_o"},
    {"decoder.block.#.layer.0.SelfAttention.relative_attention_bias", "dec.blk.#.attn_rel_b"},
    {"decoder.block.#.layer.1.layer_norm", "dec.blk.#.cross_attn_norm"},
    {"decoder.block.#.layer.1.EncDecAttention.q", "dec.blk.#.cross_attn_q"},
    {"decoder.block.#.layer.1.EncDecAttention.k", "dec.blk.#.cross_attn_k"},
    {"decoder.block.#.layer.1.EncDecAttention.v", "dec.blk.#.cross_attn_v"},
    {"decoder.block.#.layer.1.EncDecAttention.o", "dec.blk.#.cross_attn_o"},
    {"decoder.block.#.layer.2.layer_norm", "dec.blk.#.ffn_norm"},
    {"decoder.block.#.layer.2.DenseReluDense.wi", "dec.blk.#.ffn_up"},
    {"decoder.block.#.layer.2.DenseReluDense.wi_0", "dec.blk.#.ffn_gate"},
    {"decoder.block.#.layer.2.DenseReluDense.wi_1", "dec.blk.#.ffn_up"},
    {"decoder.block.#.layer.2.DenseReluDense.wo", "dec.blk.#.ffn_down"},
    {"decoder.final_layer_norm", "dec.output_norm"},
    {"lm_head", "output"},
};

// Entries with a mark follow those of the same name without one. Mistral is called llama there, as is Mixtral; so are
// RoBERTa and its relatives bert, with the positions that they use.
static const GgufArchitecture table[] = {
    {"afmoe", "afmoe", "", decoderNames, afmoeNames, R"({"mup_enabled": true})"},
    {"arcee", "arcee", "", decoderNames, pairedNames},
    {"bert", "bert", "BertModel", bertNames, {}, {}, 0, /*mark=*/{}, "BertForSequenceClassification"},
    {"bloom", "bloom", "", bloomNames, {}, R"({"qkv_in_order": true})"},
    {"cohere2", "cohere2", "", decoderNames},
    {"command-r", "cohere", "", decoderNames},
    {"deepseek2", "deepseek_v2", "", decoderNames, deepSeekNames},
    {"deepseek2", "deepseek_v3", "", decoderNames, deepSeekNames, {}, 0, /*mark=*/{"expert_gating_func", 2}},
    {"dots1", "dots1", "", decoderNames, deepSeekNames, R"({"sliding_window": null})"},
    {"ernie4_5", "ernie4_5", "", decoderNames},
    {"ernie4_5-moe", "ernie4_5_moe", "", decoderNames, ernieMoeNames},
    {"exaone", "exaone", "", exaoneNames},
    {"exaone4", "exaone4", "", decoderNames, olmo2Names, R"({"sliding_window": null})"},
    {"falcon", "falcon", "", bloomNames, {}, R"({"qkv_in_order": true, "new_decoder_architecture": true})"},
    {"gemma", "gemma", "", decoderNames, gemmaNames},
    {"gemma2", "gemma2", "", decoderNames, gemma2Names, {}, 46},
    {"gemma3", "gemma3_text", "", decoderNames, gemma2Names, {}, 62},
    {"glm4", "glm4", "", decoderNames, glm4Names, {}, 0, {}, {}, {}, "attn_q"},
    {"glm4moe", "glm4_moe", "", decoderNames, glm4MoeNames, {}, 0, {}, {}, {}, "attn_q"},
    {"gpt-oss", "gpt_oss", "", decoderNames, gptOssNames, {}, 0, {}, {}, R"({"truncate": false})"},
    {"gpt2", "gpt2", "", gpt2Names},
    {"gptneox", "gpt_neox", "", gptNeoXNames, {}, R"({"qkv_in_order": true})"},
    {"granite", "granite", "", decoderNames, pairedNames},
    {"granitemoe", "granitemoe", "", decoderNames, graniteMoeNames},
    {"hunyuan-dense", "hunyuan_v1_dense", "", decoderNames, hunyuanNames},
    {"hunyuan-moe", "hunyuan_v1_moe", "", decoderNames, hunyuanNames},
    {"llama", "llama", "", decoderNames, pairedNames},
    {"llama", "mixtral", "", decoderNames, mixtralNames, {}, 0, /*mark=*/{"expert_count", 1}},
    {"minimax-m2", "minimax_m2", "", decoderNames, miniMaxNames},
    {"mistral3", "llama", "", decoderNames, pairedNames},
    {"mistral3", "ministral3", "", decoderNames, pairedNames, {}, 0, /*mark=*/{"attention.temperature_scale", 0}},
    {"modern-bert", "modernbert", "ModernBertModel", modernBertNames},
    {"mpt", "mpt", "", mptNames},
    {"nemotron", "nemotron", "", decoderNames, nemotronNames},
    {"olmo", "olmo", "", decoderNames, pairedNames},
    {"olmo2", "olmo2", "", decoderNames, olmo2Names},
    {"olmo2", "olmo3", "", decoderNames, olmo2Names, {}, 0, /*mark=*/{"attention.sliding_window", 1}},
    {"olmoe", "olmoe", "", decoderNames, qwenMixtureNames, R"({"norm_topk_prob": false})"},
    {"phi2", "phi", "", decoderNames, phi2Names},
    {"phi3", "phi3", "", decoderNames, phi3Names},
    {"qwen2", "qwen2", "", decoderNames},
    {"qwen2moe", "qwen2_moe", "", decoderNames, qwenMixtureNames, R"({"norm_topk_prob": false})"},
    {"qwen3", "qwen3", "", decoderNames},
    {"qwen3moe", "qwen3_moe", "", decoderNames, qwenMixtureNames, R"({"norm_topk_prob": true})"},
    {"seed_oss", "seed_oss", "", decoderNames, secondNormNames, {}, 0, {}, {}, {}, "attn_q"},
    {"smollm3", "smollm3", "", decoderNames, pairedNames},
    {"stablelm", "stablelm", "", decoderNames},
    {"starcoder", "gpt_bigcode", "", starcoderNames},
    {"starcoder2", "starcoder2", "", decoderNames, starcoder2Names, R"({"sliding_window": null})"},
    {"t5", "t5", "", t5Names},
    {"t5encoder", "t5", "T5EncoderModel", t5Names},
};

llvm::ArrayRef<GgufArchitecture> ggufArchitectureTable() {
  return table;
}

const GgufArchitecture *ggufArchitecture(std::string_view name, llvm::function_ref<bool(const GgufMark &)> has) {
  const GgufArchitecture *result = nullptr;
  for (const GgufArchitecture &architecture : table)
    if (architecture.name == name && (architecture.mark.key.empty() || has(architecture.mark)))
      result = &architecture;
  return result;
}

std::string ggufArchitectures() {
  std::string names;
  for (const GgufArchitecture &architecture : table)
    if (architecture.mark.key.empty())
      names += (names.empty() ? "" : ", ") + std::string(architecture.name);
  return names;
}

}  // namespace talc
