// SPDX-License-Identifier: Apache-2.0
// Decoders that differ from Llama in a few properties: Seed-OSS, ERNIE 4.5, AFM (arcee), CWM (arXiv 2510.02387),
// Helium, Nemotron 4 (arXiv 2402.16819), InternLM 3, IQuest-Coder, Jais 2, BitNet and nanochat.
#include "frontends/families/Families.h"
#include "frontends/families/decoder/Decoder.h"

namespace talc {

// The output of attention has a bias of its own key.
void defineSeedOss(GraphBuilder &g, const ModelConfig &config) {
  Decoder d(config, {.vocabulary = 155136,
                     .inner = 27648,
                     .layers = 64,
                     .heads = 80,
                     .positions = 524288,
                     .keyValueHeads = 8,
                     .headWidth = 128,
                     .padding = 1});
  d.attention.projections.setInputBias(config.flag("attention_bias", true));
  d.attention.projections.output.bias = config.flag("attention_out_bias", false);
  d.feedForward.setBias(config.flag("mlp_bias", false));
  d.readRopes();
  d.define(g);
}

// Neighbouring features are turned together.
static void readErnie(Decoder &d) {
  bool hasBias = d.config.flag("use_bias", false);
  d.attention.projections.setBias(hasBias);
  d.feedForward.setBias(hasBias);
  d.readRopes();
  d.pairNeighbors();
}

void defineErnie45(GraphBuilder &g, const ModelConfig &config) {
  Decoder d(config, {.vocabulary = 103424,
                     .width = 1024,
                     .inner = 3072,
                     .layers = 18,
                     .heads = 16,
                     .positions = 131072,
                     .keyValueHeads = 2,
                     .headWidth = 128,
                     .epsilon = 1e-5,
                     .tied = true,
                     .rope = {.theta = 500000}});
  readErnie(d);
  d.define(g);
}

// A bias selects experts; some layers have none.
void defineErnie45Moe(GraphBuilder &g, const ModelConfig &config) {
  Decoder d(config, {.vocabulary = 103424,
                     .width = 2560,
                     .inner = 12288,
                     .layers = 28,
                     .heads = 20,
                     .positions = 131072,
                     .keyValueHeads = 4,
                     .epsilon = 1e-5,
                     .tied = true,
                     .rope = {.theta = 500000}});
  readErnie(d);
  MoeLayer moe;
  moe.readCounts(config, "moe_num_experts", 64, 6, "moe_k");
  moe.inner = config.integer("moe_intermediate_size", 1536, ModelConfig::size);
  moe.activation = d.feedForward.activation;
  moe.selectionBias = "mlp.moe_statics.e_score_correction_bias";
  moe.isBiasRow = true;
  config.passOver({"moe_capacity", "moe_gate", "moe_use_aux_free"});  // of training
  constexpr double leastSum = 1e-6;                                   // of the chosen scores, which is never as small
  if (config.number("moe_norm_min", 0, 0, 1e30) > leastSum)
    config.unsupported("moe_norm_min", "is more than sums of scores may be");
  if (d.feedForward.gate.bias)
    config.unsupported("use_bias", "is true; talc knows the family without biases");
  int64_t shared = config.integer("moe_num_shared_experts", 2, {0, 4096});
  if (shared > 0)
    moe.shared = d.feedForward.at("mlp.shared_experts", shared * moe.inner);
  int64_t first = config.integer("moe_layer_start_index", 1, {0, ModelConfig::layerCount.maximum});
  int64_t last = config.integer("moe_layer_end_index", -1, {-1, ModelConfig::layerCount.maximum});
  int64_t step = config.integer("moe_layer_interval", 1, ModelConfig::layerCount);
  d.replaceFeedForward(
      [=](int64_t layer) { return (layer + 1) % step == 0 && layer >= first && (last < 0 || layer <= last); }, moe);
  d.define(g);
}

void defineArcee(GraphBuilder &g, const ModelConfig &config) {
  Decoder d(config, {.width = 2560, .inner = 18432, .positions = 4096, .epsilon = 1e-5, .activation = "relu2"});
  d.feedForward.makePlain("mlp.up_proj", "mlp.down_proj", /*bias=*/false);
  d.readBiases(/*hasAttentionBias=*/true, /*hasInnerBias=*/true);
  d.readRopes();
  d.define(g);
}

// Three layers of four have a window; without keys of their own, positions are scaled as in Llama 3.
void defineCwm(GraphBuilder &g, const ModelConfig &config) {
  Decoder d(config, {.vocabulary = 128256,
                     .width = 6144,
                     .inner = 21504,
                     .layers = 64,
                     .heads = 48,
                     .positions = 131072,
                     .keyValueHeads = 8,
                     .headWidth = 128,
                     .epsilon = 1e-5,
                     .rope = {.theta = 1000000}});
  d.readBiases(/*hasAttentionBias=*/false, /*hasInnerBias=*/true);
  d.readWindows(d.windowOr(8192), [](int64_t layer) { return layer % 4 != 0; });
  d.readRopes();
  if (!config.has("rope_scaling") && !config.has("rope_parameters"))
    for (std::optional<Rope> &rope : d.attention.ropes)
      rope->scaling = Llama3Scaling{16, 1, 4, 8192};
  d.define(g);
}

// Neighbouring features are turned together.
void defineHelium(GraphBuilder &g, const ModelConfig &config) {
  Decoder d(config, {.vocabulary = 48000,
                     .width = 2560,
                     .inner = 7040,
                     .layers = 24,
                     .heads = 20,
                     .positions = 4096,
                     .keyValueHeads = 20,
                     .headWidth = 128,
                     .epsilon = 1e-8,
                     .rope = {.theta = 100000},
                     .padding = 3});
  d.readBiases(/*hasAttentionBias=*/true, /*hasInnerBias=*/true);
  d.attention.projections.output.bias = false;
  d.readRopes();
  d.pairNeighbors();
  d.define(g);
}

// Layer norms whose weights count from 1, and a plain feed-forward.
void defineNemotron(GraphBuilder &g, const ModelConfig &config) {
  Decoder d(config, {.vocabulary = 256000,
                     .width = 6144,
                     .inner = 24576,
                     .heads = 48,
                     .positions = 4096,
                     .epsilon = 1e-5,
                     .activation = "relu2",
                     .rope = {.share = 0.5, .hasShare = true},
                     .keys = {.epsilon = "norm_eps"}});
  d.useLayerNorms(/*bias=*/true, "input_layernorm", "post_attention_layernorm");
  d.norm.isFromOne = true;
  d.feedForward.makePlain("mlp.up_proj", "mlp.down_proj", /*bias=*/false);
  d.readBiases(/*hasAttentionBias=*/true, /*hasInnerBias=*/true);
  d.readRopes();
  d.define(g);
}

// Keys of its own for biases.
void defineInternLm3(GraphBuilder &g, const ModelConfig &config) {
  Decoder d(config, {.vocabulary = 128512,
                     .inner = 10240,
                     .layers = 48,
                     .positions = 32768,
                     .keyValueHeads = 2,
                     .headWidth = 128,
                     .epsilon = 1e-5,
                     .padding = 2});
  bool hasInputBias = config.flag("qkv_bias", config.flag("attention_bias", false));
  bool hasBias = config.flag("bias", config.flag("mlp_bias", false));
  if (hasInputBias != hasBias)
    config.unsupported("qkv_bias", "differs from 'bias'; talc knows the family with all biases or none");
  d.attention.projections.setBias(hasBias);
  d.feedForward.setBias(hasBias);
  d.readRopes();
  d.define(g);
}

void defineIquestCoder(GraphBuilder &g, const ModelConfig &config) {
  Decoder d(config, {.vocabulary = 76800,
                     .width = 5120,
                     .inner = 27648,
                     .layers = 80,
                     .heads = 40,
                     .positions = 131072,
                     .keyValueHeads = 8,
                     .headWidth = 128,
                     .epsilon = 1e-5});
  d.readBiases(/*hasAttentionBias=*/true, /*hasInnerBias=*/true);
  d.readRopes();
  d.define(g);
}

// Layer norms, biases, and a plain feed-forward.
void defineJais2(GraphBuilder &g, const ModelConfig &config) {
  Decoder d(config, {.vocabulary = 150272,
                     .width = 3328,
                     .inner = 26624,
                     .heads = 26,
                     .positions = 8192,
                     .epsilon = 1e-5,
                     .activation = "relu2",
                     .keys = {.epsilon = "layer_norm_eps"}});
  d.useLayerNorms(/*bias=*/true, "input_layernorm", "post_attention_layernorm");
  d.attention.projections.setBias(config.flag("attention_bias", true));
  d.feedForward.makePlain("mlp.up_proj", "mlp.down_proj", config.flag("mlp_bias", true));
  d.readRopes();
  d.define(g);
}

// BitNet b1.58 (arXiv 2402.17764): norms inside the parts.
void defineBitNet(GraphBuilder &g, const ModelConfig &config) {
  Decoder d(config, {.vocabulary = 128256,
                     .width = 2560,
                     .inner = 6912,
                     .layers = 30,
                     .heads = 20,
                     .keyValueHeads = 5,
                     .epsilon = 1e-5,
                     .activation = "relu2",
                     .rope = {.theta = 500000}});
  d.readBiases(/*hasAttentionBias=*/true, /*hasInnerBias=*/false);
  d.attention.outputNorm = {"self_attn.attn_sub_norm", d.norm};
  d.feedForward.innerNorm = {"mlp.ffn_sub_norm", d.norm};
  d.readRopes();
  d.define(g);
}

// nanochat: norms without weights, also behind the embedding and behind rope, which turns by negative angles.
void defineNanoChat(GraphBuilder &g, const ModelConfig &config) {
  Decoder d(config,
            {.vocabulary = 50304, .width = 768, .inner = 8192, .layers = 12, .heads = 6, .activation = "relu2"});
  d.readBiases(/*hasAttentionBias=*/true, /*hasInnerBias=*/false);
  d.norm.hasScale = false;
  d.embedding.norm = d.head.norm;
  d.useHeadNorms(HeadNorms::Scale::Shared);
  d.attention.norms.isBehindRope = true;
  d.attention.projections.turnsBack = true;
  d.feedForward.makePlain("mlp.fc1", "mlp.fc2", /*bias=*/false);
  d.head.cap = d.readCap("final_logit_softcapping", 15);
  d.readRopes();
  d.define(g);
}

}  // namespace talc
