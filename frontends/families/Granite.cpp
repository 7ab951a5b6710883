// SPDX-License-Identifier: Apache-2.0
// Granite (arXiv 2405.04324): Llama with factors at the embedding, the scores, the parts and the logits;
// and the same with experts, and with Mamba-2's mixers.
#include "frontends/families/Families.h"
#include "frontends/families/decoder/Decoder.h"
#include "frontends/families/decoder/StateSpace.h"

namespace talc {

static void readGranite(Decoder &d, double scale = 1) {
  d.readRopes();
  d.attention.scale = d.config.positive("attention_multiplier", scale);
  d.embedding.factor = d.config.positive("embedding_multiplier", 1);
  d.residualFactor = d.config.positive("residual_multiplier", 1);
  d.head.factor = 1 / d.config.positive("logits_scaling", 1);
}

void defineGranite(GraphBuilder &g, const ModelConfig &config) {
  Decoder d(config, {});
  if (!config.has("hidden_size"))
    config.invalid("hidden_size", "is missing; models of IBM's that are GPT-2 inside have the same model_type");
  d.readBiases(/*hasAttentionBias=*/true, /*hasInnerBias=*/true);
  readGranite(d);
  d.define(g);
}

// Experts, whose files have all of a layer in one; with shared_intermediate_size, a layer beside them that every token
// passes.
static MoeLayer readGraniteMoe(const Decoder &d, int64_t usualShared = 0) {
  MoeLayer moe;
  moe.readCounts(d.config, "num_local_experts", 8, 2);
  moe.inner = d.feedForward.inner;
  moe.activation = d.feedForward.activation;
  moe.router = {"block_sparse_moe.router.layer"};
  moe.tensors.gateUp = "block_sparse_moe.input_linear.weight";
  moe.tensors.downs = "block_sparse_moe.output_linear.weight";
  if (int64_t inner = d.config.integer("shared_intermediate_size", usualShared, {0, ModelConfig::size.maximum});
      inner > 0) {
    moe.shared = d.feedForward.at("shared_mlp", inner);
    moe.shared->fuse("shared_mlp.input_linear");
    moe.shared->down.name = "shared_mlp.output_linear";
  }
  return moe;
}

void defineGraniteMoe(GraphBuilder &g, const ModelConfig &config) {
  Decoder d(config, {});
  d.readBiases(/*hasAttentionBias=*/true, /*hasInnerBias=*/false);
  readGranite(d);
  d.replaceFeedForward(inEveryLayer(), readGraniteMoe(d));
  d.define(g);
}

// Granite 4: Mamba-2's mixers for attention in most layers; without experts the shared layer is the feed-forward.
void defineGraniteMoeHybrid(GraphBuilder &g, const ModelConfig &config) {
  constexpr int64_t usualShared = 1024;
  Decoder d(config, {});
  d.readBiases(/*hasAttentionBias=*/true, /*hasInnerBias=*/false);
  d.readStateLayers({"linear_attention", "mamba"}, inEveryLayer());
  readGranite(d);
  if (config.text("position_embedding_type", "nope") != "rope")
    d.dropRopes(inEveryLayer());
  if (config.integer("num_local_experts", 8, {0, 4096}) > 0) {
    d.replaceFeedForward(inEveryLayer(), readGraniteMoe(d, usualShared));
  } else {
    d.feedForward =
        d.feedForward.at("shared_mlp", config.integer("shared_intermediate_size", usualShared, ModelConfig::size));
    d.feedForward.fuse("shared_mlp.input_linear");
    d.feedForward.down.name = "shared_mlp.output_linear";
    config.passOver({"num_experts_per_tok"});
  }
  StateSpace mixer;
  mixer.epsilon = d.norm.epsilon;
  mixer.read(config, d.width, {});
  d.replaceAttention(mixer);
  d.define(g);
}

// Windows in three layers of four, attention sinks, and a rotary base of each layer, which may be none.
static void readGraniteSwa(Decoder &d) {
  const ModelConfig &config = d.config;
  d.readWindows(d.windowOr(128), [](int64_t layer) { return layer % 4 != 0; });
  readGranite(d);
  d.attention.sinks = "self_attn.sinks";
  std::vector<double> bases = config.numbers("layer_rope_theta");
  if (!bases.empty() && static_cast<int64_t>(bases.size()) != d.layers)
    config.invalid("layer_rope_theta", "has " + std::to_string(bases.size()) + " entries for " +
                                           std::to_string(d.layers) + " layers (num_hidden_layers)");
  for (size_t layer = 0; layer < bases.size() && !config.failed(); ++layer)
    if (d.attention.ropes[layer])
      d.attention.ropes[layer]->base = bases[layer];
  d.dropRopes([&](int64_t layer) { return !bases.empty() && bases[layer] == 0; });
}

void defineGraniteSwa(GraphBuilder &g, const ModelConfig &config) {
  Decoder d(config, {.vocabulary = 100352,
                     .width = 2560,
                     .inner = 8192,
                     .layers = 24,
                     .heads = 20,
                     .positions = 8192,
                     .keyValueHeads = 4,
                     .epsilon = 1e-5,
                     .tied = true});
  d.readBiases(/*hasAttentionBias=*/true, /*hasInnerBias=*/true);
  readGraniteSwa(d);
  d.define(g);
}

void defineGraniteMoeSwa(GraphBuilder &g, const ModelConfig &config) {
  Decoder d(config, {});
  d.readBiases(/*hasAttentionBias=*/true, /*hasInnerBias=*/false);
  readGraniteSwa(d);
  MoeLayer moe = readGraniteMoe(d);
  moe.router = {"block_sparse_moe.router"};
  moe.tensors.gateUp = "block_sparse_moe.experts.gate_up_proj";
  moe.tensors.downs = "block_sparse_moe.experts.down_proj";
  d.replaceFeedForward(inEveryLayer(), moe);
  d.define(g);
}

// HyperCLOVA X: norms around each part; logits are multiplied, not divided.
void defineHyperClovaX(GraphBuilder &g, const ModelConfig &config) {
  Decoder d(config, {});
  d.readBiases(/*hasAttentionBias=*/true, /*hasInnerBias=*/true);
  readGranite(d, d.attention.scale);
  d.head.factor = config.positive("logits_scaling", 1);
  if (config.flag("use_post_norm", true)) {
    d.attentionNorms.output = "post_norm1";
    d.innerNorms.output = "post_norm2";
  }
  d.define(g);
}

}  // namespace talc
