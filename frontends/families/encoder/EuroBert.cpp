// SPDX-License-Identifier: Apache-2.0
// EuroBERT (arXiv 2503.05500) and ESM C: Llama's layers, whose tokens see the whole text.
#include "frontends/families/Families.h"
#include "frontends/families/decoder/Decoder.h"

#include <cmath>

namespace talc {

static Tensor dense(GraphBuilder &g, Tensor x, const std::string &name, Activation activation, bool bias = true) {
  return g.activation(Linear{name, bias}.write(g, x, x.width(), "hidden_size"), activation);
}

// The mean of all tokens of a text.
static Tensor mean(GraphBuilder &g, Tensor x, const Decoder &d) {
  const int64_t heads = d.attention.sizes.heads;
  return g.mean(x, x.width() % heads == 0 ? heads : 1);
}

// The classifier of texts reads the first token, the mean of all, or the mean of what it makes of each.
static void readEuroBertClasses(Decoder &d) {
  const std::string pooling = d.config.text("classifier_pooling", "late");
  if (pooling != "late" && pooling != "mean" && pooling != "bos")
    d.config.unsupported("classifier_pooling", "is neither late, mean nor bos");
  d.head.classifiers = {"classifier"};
  d.head.classifierBias = true;
  d.head.pool = [=, &d](GraphBuilder &g, Tensor x) {
    if (pooling == "late")
      return g.select(mean(g, dense(g, x, "dense", Activation::Gelu), d));
    return dense(g, g.select(pooling == "mean" ? mean(g, x, d) : x), "dense", Activation::Gelu);
  };
}

void defineEuroBert(GraphBuilder &g, const ModelConfig &config) {
  Decoder d(config, {.vocabulary = 128256,
                     .width = 768,
                     .inner = 3072,
                     .layers = 12,
                     .heads = 12,
                     .positions = 8192,
                     .epsilon = 1e-5,
                     .isEncoder = true});
  d.readBiases(/*hasAttentionBias=*/true, /*hasInnerBias=*/true);
  d.head.bias = d.feedForward.down.bias;
  d.readRopes();
  config.passOver({"classifier_pooling", "bos_token", "eos_token", "pad_token", "mask_token"});
  if (d.head.task == DecoderTask::Text)
    readEuroBertClasses(d);
  d.define(g);
}

// Proteins: layer norms, one of all queries and one of all keys, and residuals scaled by the number of layers.
void defineEsmc(GraphBuilder &g, const ModelConfig &config) {
  Decoder d(config, {.vocabulary = 64,
                     .width = 2560,
                     .inner = 6912,
                     .layers = 80,
                     .heads = 40,
                     .epsilon = 1e-5,
                     .keys = {.epsilon = nullptr},
                     .isEncoder = true});
  constexpr double scaledLayers = 36;
  d.readBiases(/*hasAttentionBias=*/true, /*hasInnerBias=*/true);
  d.useLayerNorms(/*bias=*/true, "input_layernorm", "post_attention_layernorm");
  d.useHeadNorms(HeadNorms::Scale::AllHeads);
  d.attention.norms.norm.bias = d.head.hasNormBias = false;
  d.readRopes();
  d.residualFactor = std::sqrt(scaledLayers / static_cast<double>(d.layers));
  d.layersName = "esmc.layers";
  d.embedding.table = "esmc.embed_tokens";
  d.head.norm = "esmc.norm";
  d.head.name = "lm_head.decoder";
  d.head.bias = true;
  d.head.isTied = false;
  d.head.transform = [=](GraphBuilder &g, Tensor x) {
    return g.layerNorm(dense(g, x, "lm_head.dense", Activation::Gelu), "lm_head.layer_norm", 1e-5);
  };
  if (d.head.task == DecoderTask::Text) {
    d.head.classifiers = {"classifier.out_proj"};
    d.head.classifierBias = true;
    d.head.pool = [](GraphBuilder &g, Tensor x) { return dense(g, g.select(x), "classifier.dense", Activation::Tanh); };
  }
  d.define(g);
}

}  // namespace talc
