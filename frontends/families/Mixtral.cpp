// SPDX-License-Identifier: Apache-2.0
// Mixtral (arXiv 2401.04088): Mistral with many feed-forward layers, of which every token passes a few; DBRX, and the
// part of Aria for texts.
#include "frontends/families/Families.h"
#include "frontends/families/decoder/Decoder.h"

namespace talc {

void defineMixtral(GraphBuilder &g, const ModelConfig &config) {
  Decoder d(config,
            {.inner = 14336, .positions = 131072, .keyValueHeads = 8, .epsilon = 1e-5, .rope = {.theta = 1000000}});
  d.readBiases(/*hasAttentionBias=*/false, /*hasInnerBias=*/false);
  MoeLayer moe;
  moe.readCounts(config, "num_local_experts", 8, 2);
  moe.inner = d.feedForward.inner;
  moe.activation = d.feedForward.activation;
  moe.useMixtralNames();
  d.replaceFeedForward(inEveryLayer(), moe);
  d.readWindows(d.windowOr({}), inEveryLayer());
  d.readRopes();
  d.define(g);
}

// The part of Aria (arXiv 2410.05993) for texts: Llama with experts beside shared ones.
void defineAria(GraphBuilder &g, const ModelConfig &config) {
  Decoder d(config, {.inner = 4096});
  d.readBiases(/*hasAttentionBias=*/true, /*hasInnerBias=*/true);
  d.readRopes();
  MoeLayer moe;
  moe.readCounts(config, "moe_num_experts", 8, 2, "moe_topk");
  moe.inner = d.feedForward.inner;
  moe.router.name = "mlp.router";
  moe.tensors.gateUp = "mlp.experts.fc1.weight";
  moe.tensors.downs = "mlp.experts.fc2.weight";
  moe.tensors.form = ExpertTensors::Form::Columns;
  int64_t shared = config.integer("moe_num_shared_experts", 2, {1, 4096});
  moe.shared = d.feedForward.at("mlp.shared_experts", shared * moe.inner);
  d.replaceFeedForward(inEveryLayer(), moe);
  d.define(g);
}

// Settings of a part of DBRX, in an object of their own.
static std::optional<ModelConfig> readPart(const ModelConfig &config, const char *key,
                                           std::initializer_list<std::string_view> keys) {
  std::optional<ModelConfig> part = config.inner(key);
  if (!part)
    config.invalid(key, "is missing");
  else
    part->refuseOthers(keys);
  return part;
}

static MoeLayer readDbrxExperts(const ModelConfig &config) {
  MoeLayer moe;
  auto part =
      readPart(config, "ffn_config",
               {"ffn_act_fn", "ffn_hidden_size", "moe_num_experts", "moe_top_k", "moe_jitter_eps", "moe_loss_weight",
                "moe_normalize_expert_weights", "hidden_size", "model_type", "uniform_expert_assignment"});
  if (!part)
    return moe;
  moe.readCounts(*part, "moe_num_experts", 4, 1, "moe_top_k");
  moe.inner = part->integer("ffn_hidden_size", 3584, ModelConfig::size);
  part->refuseFlag("uniform_expert_assignment", "talc knows experts that the router chooses");
  const char *norm = "moe_normalize_expert_weights";
  moe.routing.normalized = !part->isNull(norm);
  if (part->positive(norm, 1) != 1 && moe.routing.normalized)
    part->unsupported(norm, "talc knows 1, which divides weights by their sum, and null");
  if (auto activation = part->inner("ffn_act_fn")) {
    activation->refuseOthers({"name"});
    moe.activation = activation->activation("name", "silu");
  }
  moe.router.name = "ffn.router.layer";
  moe.tensors.gate = "ffn.experts.mlp.w1";
  moe.tensors.up = "ffn.experts.mlp.v1";
  moe.tensors.down = "ffn.experts.mlp.w2";
  moe.tensors.form = ExpertTensors::Form::Stacked;
  return moe;
}

// DBRX: layer norms without biases, queries, keys and values within bounds, experts in every layer.
void defineDbrx(GraphBuilder &g, const ModelConfig &config) {
  Decoder d(config, {.width = 2048,
                     .inner = 0,
                     .layers = 24,
                     .heads = 16,
                     .epsilon = 1e-5,
                     .keys = {.width = "d_model",
                              .inner = nullptr,
                              .layers = "n_layers",
                              .heads = "n_heads",
                              .keyValueHeads = nullptr,
                              .headWidth = nullptr,
                              .positions = "max_seq_len",
                              .epsilon = nullptr,
                              .activation = nullptr,
                              .infini = nullptr}});
  if (d.head.isTied)
    config.unsupported("tie_word_embeddings", "the family has an LM head of its own");
  d.useLayerNorms(/*bias=*/false, "norm_attn_norm.norm_1", "norm_attn_norm.norm_2");
  d.layersName = "transformer.blocks";
  d.embedding.table = "transformer.wte";
  d.head.norm = "transformer.norm_f";
  HeadAttention &attention = d.attention;
  attention.projections.pack("norm_attn_norm.attn.Wqkv", /*inOrder=*/true);
  attention.projections.output.name = "norm_attn_norm.attn.out_proj";
  d.readRopes();
  if (auto part =
          readPart(config, "attn_config", {"attn_pdrop", "clip_qkv", "kv_n_heads", "rope_theta", "model_type"})) {
    attention.sizes.keyValueHeads = part->integer("kv_n_heads", 1, {1, attention.sizes.heads});
    if (attention.sizes.heads % attention.sizes.keyValueHeads != 0)
      part->invalid("kv_n_heads", "does not divide n_heads");
    attention.clip = part->has("clip_qkv") ? part->positive("clip_qkv", 1) : 0;
    if (part->has("rope_theta") && !config.has("rope_parameters"))
      for (std::optional<Rope> &rope : attention.ropes)
        rope->base = part->positive("rope_theta", 10000);
  }
  d.replaceFeedForward(inEveryLayer(), readDbrxExperts(config));
  d.define(g);
}

}  // namespace talc
