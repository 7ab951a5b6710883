// SPDX-License-Identifier: Apache-2.0
// OLMo (arXiv 2402.00838): Llama with layer norms without weights. OLMoE (arXiv 2409.02060): experts, and queries and
// keys normalized over all heads at once. OLMo 2 (arXiv 2501.00656) and OLMo 3: as OLMoE without experts, with norms
// behind the parts instead of before them.
#include "frontends/families/Families.h"
#include "frontends/families/decoder/MoeConfig.h"

namespace talc {

constexpr DecoderDefaults olmoSizes = {.vocabulary = 50304, .epsilon = 1e-5, .padding = 1};

static void readOlmo(Decoder &d) {
  d.readBiases(/*hasAttentionBias=*/true, /*hasInnerBias=*/false);
  if (d.config.has("clip_qkv"))
    d.attention.clip = d.config.positive("clip_qkv", 1);
  d.readRopes();
}

void defineOlmo(GraphBuilder &g, const ModelConfig &config) {
  Decoder d(config, {.vocabulary = 50304, .epsilon = 1e-5, .keys = {.epsilon = nullptr}, .padding = 1});
  readOlmo(d);
  d.norm.form = Norm::Form::Layer;
  d.norm.hasScale = false;
  d.define(g);
}

void defineOlmoe(GraphBuilder &g, const ModelConfig &config) {
  Decoder d(config, {.vocabulary = 50304,
                     .width = 2048,
                     .inner = 2048,
                     .layers = 16,
                     .heads = 16,
                     .positions = 4096,
                     .epsilon = 1e-5,
                     .keys = {.headWidth = nullptr}});
  readOlmo(d);
  d.useHeadNorms(HeadNorms::Scale::AllHeads);
  d.replaceFeedForward(inEveryLayer(), readQwenMoe(d, {.experts = 64, .perToken = 8, .inner = 0}));
  d.define(g);
}

static void readOlmo2(Decoder &d) {
  d.readBiases(/*hasAttentionBias=*/true, /*hasInnerBias=*/false);
  d.useOutputNorms("post_attention_layernorm", "post_feedforward_layernorm");
  d.useHeadNorms(HeadNorms::Scale::AllHeads);
}

void defineOlmo2(GraphBuilder &g, const ModelConfig &config) {
  Decoder d(config, olmoSizes);
  readOlmo2(d);
  d.readRopes();
  d.define(g);
}

void defineFlexOlmo(GraphBuilder &g, const ModelConfig &config) {
  Decoder d(config, {.vocabulary = 100352, .positions = 4096, .rope = {.theta = 500000}});
  readOlmo2(d);
  d.readRopes();
  d.replaceFeedForward(inEveryLayer(), readQwenMoe(d, {.experts = 7, .perToken = 5, .inner = 0}));
  d.define(g);
}

// Versions of transformers read other spellings in different ways.
static void checkRope(const ModelConfig &config, double base) {
  auto parameters = config.inner("rope_parameters"), scaling = config.inner("rope_scaling");
  if (parameters && !parameters->has("full_attention"))
    config.unsupported("rope_parameters", "is the same for all layers; talc knows an object for each of the types "
                                          "full_attention and sliding_attention");
  if (scaling && !scaling->has("rope_type"))
    scaling->invalid("rope_type", "is missing");
  if (!parameters && config.positive("rope_theta", base) != base)
    config.unsupported("rope_theta", "is not 500000, the base of layers with windows");
}

// Three layers of four have a window, and no scaling of their positions.
void defineOlmo3(GraphBuilder &g, const ModelConfig &config) {
  DecoderDefaults sizes = olmoSizes;
  sizes.rope.theta = 500000;
  Decoder d(config, sizes);
  readOlmo2(d);
  d.readWindows(d.windowOr(4096), exceptEvery(4));
  checkRope(config, sizes.rope.theta);
  d.readRopes({.theta = 500000, .ownScaling = true});
  d.define(g);
}

}  // namespace talc
