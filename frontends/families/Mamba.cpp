// SPDX-License-Identifier: Apache-2.0
// Mamba (arXiv 2312.00752): layers that are its mixer alone. FalconMamba (arXiv 2410.05355): with norms inside. Jamba
// (arXiv 2403.19887): in most layers for attention, and experts in some.
#include "frontends/families/Families.h"
#include "frontends/families/decoder/Decoder.h"
#include "frontends/families/decoder/SelectiveMixer.h"

namespace talc {

static void defineMambaKin(GraphBuilder &g, const ModelConfig &config, SelectiveMixer::Norms norms) {
  Decoder d(config, {.vocabulary = 50280,
                     .width = 768,
                     .heads = 1,
                     .positions = 1 << 20,
                     .epsilon = 1e-5,
                     .tied = true,
                     .keys = {.inner = nullptr,
                              .keyValueHeads = nullptr,
                              .headWidth = nullptr,
                              .epsilon = "layer_norm_epsilon",
                              .infini = nullptr}});
  SelectiveMixer mixer;
  mixer.read(config, d.width, {});
  mixer.norms = norms;
  if (norms != SelectiveMixer::Norms::None)
    mixer.epsilon = config.positive("mixer_rms_eps", 1e-6);
  if (d.feedForward.activation != Activation::Silu)
    config.unsupported("hidden_act", "talc knows silu behind this convolution");
  // These say precisions, initial values and programs, and once more the width.
  config.passOver("intermediate_size", mixer.inner);
  config.passOver({"residual_in_fp32", "time_step_scale", "time_step_min", "time_step_max", "time_step_floor",
                   "time_step_init_scheme", "rescale_prenorm_residual", "use_mambapy", "use_falcon_mambapy",
                   "use_associative_scan", "d_inner", "d_model", "n_layer", "ssm_cfg", "fused_add_norm",
                   "pad_vocab_size_multiple"});
  config.passOverFlag("rms_norm", true);
  d.embedding.table = "backbone.embeddings";
  d.layersName = "backbone.layers";
  d.head.norm = "backbone.norm_f";
  d.attentionNorms.input = "norm";
  d.hasOnePart = true;
  d.stateLayers.assign(d.layers, true);
  d.replaceAttention(mixer);
  d.define(g);
}

void defineMamba(GraphBuilder &g, const ModelConfig &config) {
  defineMambaKin(g, config, SelectiveMixer::Norms::None);
}

void defineFalconMamba(GraphBuilder &g, const ModelConfig &config) {
  defineMambaKin(g, config, SelectiveMixer::Norms::Weightless);
}

// In each period of layers the one at the offset.
static LayerRule readPeriod(const ModelConfig &config, const char *periodKey, int64_t period, const char *offsetKey,
                            int64_t offset) {
  period = config.integer(periodKey, period, ModelConfig::layerCount);
  offset = config.integer(offsetKey, offset, {0, ModelConfig::layerCount.maximum});
  return [=](int64_t layer) { return layer % period == offset; };
}

static MoeLayer readJambaMoe(const Decoder &d) {
  MoeLayer moe;
  moe.readCounts(d.config, "num_experts", 16, 2);
  moe.routing.normalized = false;
  moe.inner = d.feedForward.inner;
  moe.activation = d.feedForward.activation;
  moe.router.name = moe.otherRouter = "feed_forward.router";
  moe.tensors.each = "feed_forward.experts";
  moe.tensors.gateUp = "feed_forward.experts.gate_up_proj";
  moe.tensors.downs = "feed_forward.experts.down_proj";
  return moe;
}

void defineJamba(GraphBuilder &g, const ModelConfig &config) {
  Decoder d(config, {.vocabulary = 65536, .inner = 14336, .positions = 262144, .keyValueHeads = 8});
  d.readBiases(/*hasAttentionBias=*/false, /*hasInnerBias=*/false);
  d.innerNorms.input = "pre_ff_layernorm";
  d.head.norm = "model.final_layernorm";
  for (Linear *part : {&d.feedForward.gate, &d.feedForward.up, &d.feedForward.down})
    part->name.replace(0, 3, "feed_forward");
  LayerRule attends = readPeriod(config, "attn_layer_period", 8, "attn_layer_offset", 4),
            mixes = readPeriod(config, "expert_layer_period", 2, "expert_layer_offset", 1);
  d.readStateLayers({"linear_attention", "mamba"}, [=](int64_t layer) { return !attends(layer); });
  if (config.integer("num_experts", 16, {1, 4096}) > 1)
    d.replaceFeedForward(mixes, readJambaMoe(d));
  SelectiveMixer mixer;
  mixer.name = "mamba";
  mixer.norms = SelectiveMixer::Norms::Weighted;
  mixer.epsilon = d.norm.epsilon;
  mixer.read(config, d.width,
             {"mamba_d_state", "mamba_d_conv", "mamba_expand", "mamba_dt_rank", "mamba_conv_bias", "mamba_proj_bias"});
  config.passOver({"use_mamba_kernels", "use_mambapy", "use_associative_scan", "num_logits_to_keep",
                   "calc_logits_for_entire_prompt"});
  config.passOverFlag("mamba_inner_layernorms", true);
  d.replaceAttention(mixer);
  d.define(g);
}

}  // namespace talc
