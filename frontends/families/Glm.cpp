// SPDX-License-Identifier: Apache-2.0
// GLM-4 (arXiv 2406.12793; glm), GLM-4-0414 (glm4) and GLM-4.5 to 4.7 (glm4_moe, arXiv 2508.06471): Llama with turns of
// half of each head's features; norms around each part in glm4; routing as in DeepSeek V3 in glm4_moe, and in Solar
// Open and Sarvam.
#include "frontends/families/Families.h"
#include "frontends/families/decoder/MoeConfig.h"

namespace talc {

constexpr DecoderDefaults glmSizes = {.vocabulary = 151552,
                                      .inner = 13696,
                                      .layers = 40,
                                      .positions = 131072,
                                      .keyValueHeads = 2,
                                      .headWidth = 128,
                                      .epsilon = 1.5625e-7,
                                      .rope = {.share = 0.5, .hasShare = true},
                                      .padding = 151329};

static void readGlm(Decoder &d) {
  d.attention.projections.setInputBias(d.config.flag("attention_bias", true));
  d.config.refuseFlag("mlp_bias", "the family has none");
  d.feedForward.fuse("mlp.gate_up_proj");
  d.readRopes();
  d.pairNeighbors();
}

void defineGlm(GraphBuilder &g, const ModelConfig &config) {
  Decoder d(config, glmSizes);
  readGlm(d);
  d.define(g);
}

void defineGlm4(GraphBuilder &g, const ModelConfig &config) {
  Decoder d(config, glmSizes);
  readGlm(d);
  d.attentionNorms.output = "post_self_attn_layernorm";
  d.innerNorms.output = "post_mlp_layernorm";
  d.define(g);
}

// The default of use_qk_norm, and of the keys of experts.
static void readGlmMoe(Decoder &d, bool hasHeadNorms, const DeepSeekMoeDefaults &defaults,
                       const std::string &selectionBias = "mlp.gate.e_score_correction_bias") {
  d.attention.projections.setInputBias(d.config.flag("attention_bias", false));
  d.config.refuseFlag("mlp_bias", "the family has none");
  if (d.config.flag("use_qk_norm", hasHeadNorms))
    d.useHeadNorms(HeadNorms::Scale::Shared);
  d.readRopes();
  MoeLayer moe = readDeepSeekMoe(d, defaults);
  readBiasedRouting(moe, d.config, 1, 1);
  moe.selectionBias = selectionBias;
  useDeepSeekMoe(d, moe, defaults);
}

void defineGlm4Moe(GraphBuilder &g, const ModelConfig &config) {
  Decoder d(config, {.vocabulary = 151552,
                     .inner = 10944,
                     .layers = 46,
                     .heads = 96,
                     .positions = 131072,
                     .keyValueHeads = 8,
                     .epsilon = 1e-5,
                     .rope = {.share = 0.5, .hasShare = true}});
  readGlmMoe(d, false, {.experts = 128, .perToken = 8, .inner = 1408, .denseLayers = 1, .shared = 1, .factor = 1.0});
  d.define(g);
}

// One matrix for queries, keys and values, and other names.
void defineSarvamMoe(GraphBuilder &g, const ModelConfig &config) {
  Decoder d(config, {.vocabulary = 262144,
                     .inner = 8192,
                     .layers = 19,
                     .heads = 64,
                     .positions = 131072,
                     .keyValueHeads = 4,
                     .headWidth = 64,
                     .rope = {.theta = 8000000, .hasShare = true}});
  readGlmMoe(d, true, {.experts = 128, .perToken = 6, .inner = 1024, .denseLayers = 1, .shared = 1, .factor = 2.5},
             "mlp.gate.expert_bias");
  d.embedding.table = "model.word_embeddings";
  d.attention.projections.pack("attention.query_key_value", /*inOrder=*/true);
  d.attention.projections.output.name = "attention.dense";
  d.attention.norms.query = "attention.query_layernorm";
  d.attention.norms.key = "attention.key_layernorm";
  d.define(g);
}

// Experts in all layers.
void defineSolarOpen(GraphBuilder &g, const ModelConfig &config) {
  Decoder d(config, {.vocabulary = 196608,
                     .layers = 48,
                     .heads = 64,
                     .positions = 131072,
                     .keyValueHeads = 8,
                     .headWidth = 128,
                     .epsilon = 1e-5,
                     .rope = {.theta = 1000000, .hasShare = true}});
  readGlmMoe(d, false, {.experts = 128, .perToken = 8, .inner = 1280, .denseLayers = 0, .shared = 1, .factor = 1.0});
  d.define(g);
}

}  // namespace talc
