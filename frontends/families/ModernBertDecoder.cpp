// SPDX-License-Identifier: Apache-2.0
// Ettin's decoders (arXiv 2507.11412): ModernBERT with causal attention.
#include "frontends/families/Families.h"
#include "frontends/families/decoder/Decoder.h"

namespace talc {

constexpr DecoderDefaults ettinSizes = {.vocabulary = 50368,
                                        .width = 768,
                                        .inner = 1152,
                                        .layers = 22,
                                        .heads = 12,
                                        .positions = 8192,
                                        .epsilon = 1e-5,
                                        .activation = "gelu",
                                        .tied = true,
                                        .rope = {.theta = 160000, .thetaKey = "global_rope_theta"},
                                        .keys = {.keyValueHeads = nullptr,
                                                 .headWidth = nullptr,
                                                 .epsilon = "norm_eps",
                                                 .activation = "hidden_activation",
                                                 .infini = nullptr}};

// A linear layer, an activation and a norm before the head.
static void readHead(Decoder &d) {
  Linear dense = {"lm_head.dense", d.config.flag("classifier_bias", false)};
  Activation activation = d.config.activation("classifier_activation", "gelu");
  d.head.transform = [dense, activation, norm = d.norm](GraphBuilder &g, Tensor x) {
    return norm.write(g, g.activation(dense.write(g, x, x.width(), "hidden_size"), activation), "lm_head.norm");
  };
  d.head.name = "decoder";
  d.head.bias = d.config.flag("decoder_bias", true);
  d.head.norm = "model.final_norm";
}

// Every third layer sees everything; half of local_attention is behind a token in ModernBERT, and nothing before it
// here.
static void readLayers(Decoder &d) {
  int64_t every = d.config.integer("global_attn_every_n_layers", 3, ModelConfig::layerCount);
  int64_t window = d.config.integer("local_attention", 128, {2, ModelConfig::positionCount.maximum}) / 2;
  d.config.passOver("sliding_window", window);
  d.readWindows(window, [=](int64_t layer) { return layer % every != 0; });
  d.config.passOver({"global_rope_theta", "local_rope_theta"});  // of layers that a model may lack
  d.readRopes({.thetaKey = "local_rope_theta"});
}

void defineModernBertDecoder(GraphBuilder &g, const ModelConfig &config) {
  Decoder d(config, ettinSizes);
  d.useLayerNorms(config.flag("norm_bias", false), "attn_norm", "mlp_norm");
  d.isFirstNormed = false;
  d.embedding.table = "model.embeddings.tok_embeddings";
  d.embedding.norm = "model.embeddings.norm";
  d.attention.projections.nameApart("attn.", "_proj", "attn.Wo");
  d.attention.projections.setBias(config.flag("attention_bias", false));
  d.feedForward.fuse("mlp.Wi");
  d.feedForward.down.name = "mlp.Wo";
  d.feedForward.setBias(config.flag("mlp_bias", false));
  readHead(d);
  readLayers(d);
  config.passOver({"classifier_pooling", "layer_norm_eps", "position_embedding_type"});  // of BERT, in all files
  d.define(g);
}

}  // namespace talc
