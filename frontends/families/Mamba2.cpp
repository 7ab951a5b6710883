// SPDX-License-Identifier: Apache-2.0
// Mamba-2 (arXiv 2405.21060): layers that are its mixer alone. Bamba: in most layers for attention. Falcon-H1 (arXiv
// 2507.22448): beside attention, with a factor for each part.
#include "frontends/families/Families.h"
#include "frontends/families/decoder/Decoder.h"
#include "frontends/families/decoder/StateSpace.h"

namespace talc {

void defineMamba2(GraphBuilder &g, const ModelConfig &config) {
  Decoder d(config, {.vocabulary = 32768,
                     .layers = 64,
                     .heads = 1,
                     .positions = 1 << 20,
                     .epsilon = 1e-5,
                     .keys = {.inner = nullptr,
                              .keyValueHeads = nullptr,
                              .headWidth = nullptr,
                              .epsilon = "layer_norm_epsilon",
                              .infini = nullptr}});
  StateSpace mixer;
  mixer.name = "mixer";
  mixer.epsilon = d.norm.epsilon;
  mixer.read(config, d.width,
             {.groups = 8,
              .state = 128,
              .headWidth = 64,
              .keys = {"num_heads", "head_dim", "n_groups", "state_size", "conv_kernel", "expand", "use_conv_bias",
                       "use_bias", "chunk_size"}});
  if (d.feedForward.activation != Activation::Silu)
    config.unsupported("hidden_act", "talc knows silu behind this convolution");
  // The precision of residuals, and initial values.
  config.passOver({"residual_in_fp32", "time_step_rank", "time_step_min", "time_step_max", "time_step_floor",
                   "rescale_prenorm_residual", "norm_before_gate"});
  config.passOverFlag("rms_norm", true);
  config.passOver("intermediate_size", mixer.heads * mixer.headWidth);
  d.embedding.table = "backbone.embeddings";
  d.layersName = "backbone.layers";
  d.head.norm = "backbone.norm_f";
  d.attentionNorms.input = "norm";
  d.hasOnePart = true;
  d.stateLayers.assign(d.layers, true);
  d.replaceAttention(mixer);
  d.define(g);
}

// Layers with attention, by number.
static LayerRule readMixerLayers(const ModelConfig &config) {
  std::vector<double> attending = config.numbers("attn_layer_indices");
  return [=](int64_t layer) {
    for (double number : attending)
      if (number == static_cast<double>(layer))
        return false;
    return true;
  };
}

void defineBamba(GraphBuilder &g, const ModelConfig &config) {
  Decoder d(config, {.vocabulary = 128000,
                     .inner = 14336,
                     .positions = 262144,
                     .keyValueHeads = 8,
                     .epsilon = 1e-5,
                     .rope = {.share = 0.5, .hasShare = true}});
  d.readBiases(/*hasAttentionBias=*/true, /*hasInnerBias=*/true);
  d.innerNorms.input = "pre_ff_layernorm";
  d.head.norm = "model.final_layernorm";
  for (Linear *part : {&d.feedForward.gate, &d.feedForward.up, &d.feedForward.down})
    part->name.replace(0, 3, "feed_forward");
  d.readStateLayers({"linear_attention", "mamba"}, readMixerLayers(config));
  d.readRopes();
  // Files say other shares, which the family does not heed.
  for (std::optional<Rope> &rope : d.attention.ropes)
    rope->rotary = d.attention.sizes.width / 2;
  StateSpace mixer;
  mixer.epsilon = d.norm.epsilon;
  mixer.read(config, d.width, {});
  config.passOver({"num_logits_to_keep", "z_loss_coefficient", "mamba_dt_rank", "use_mamba_kernels"});
  config.passOver("attn_rotary_emb", d.attention.sizes.width / 2);
  d.replaceAttention(mixer);
  d.define(g);
}

// down(silu(gate(x) * factor) * up(x)) * factor
static Tensor processFalcon(GraphBuilder &g, Tensor x, const FeedForward &f, const std::vector<double> &factors) {
  Tensor gate = g.scale(f.gate.write(g, x, f.inner, f.why), factors[0]);
  Tensor y = g.mul(g.activation(gate, f.activation), f.up.write(g, x, f.inner, f.why));
  return g.scale(f.down.write(g, y, x.width(), f.why), factors[1]);
}

static std::vector<double> readFactors(const ModelConfig &config, const char *key, size_t count) {
  std::vector<double> factors = config.numbers(key);
  if (!factors.empty() && factors.size() != count)
    config.invalid(key, "has " + std::to_string(factors.size()) + " factors, expected " + std::to_string(count));
  factors.resize(count, 1);
  return factors;
}

static StateSpace readFalconMixer(const Decoder &d) {
  const ModelConfig &config = d.config;
  StateSpaceKeys keys;
  int64_t inner = config.integerOrNull("mamba_d_ssm", 1024, ModelConfig::size).value_or(0);
  if (inner > 0) {
    config.passOver({keys.expand});
    keys.expand = nullptr;
  }
  StateSpace mixer;
  mixer.epsilon = d.norm.epsilon;
  int64_t heads = config.integer(keys.heads, 128, ModelConfig::headCount);
  bool isAuto = !config.has(keys.headWidth) || config.isText(keys.headWidth);
  if (inner > 0 && isAuto)
    keys.headWidth = "mamba_d_head_of_auto";
  mixer.read(config, d.width, {.headWidth = inner > 0 && isAuto ? inner / heads : 0, .keys = keys});
  if (inner > 0 && mixer.heads * mixer.headWidth != inner)
    config.invalid("mamba_d_ssm", "is not heads (mamba_n_heads) by their width (mamba_d_head)");
  mixer.hasOutputBias = config.flag("projectors_bias", false);
  bool isBefore = config.flag("mamba_norm_before_gate", true);
  mixer.normPlace = !config.flag("mamba_rms_norm", false) ? StateSpace::NormPlace::None
                    : isBefore                            ? StateSpace::NormPlace::BeforeGate
                                                          : StateSpace::NormPlace::BehindGate;
  std::vector<double> parts = readFactors(config, "ssm_multipliers", 5);
  mixer.factors = {config.positive("ssm_in_multiplier", 1), parts[0], parts[1], parts[2], parts[3], parts[4],
                   config.positive("ssm_out_multiplier", 1)};
  return mixer;
}

void defineFalconH1(GraphBuilder &g, const ModelConfig &config) {
  Decoder d(config, {.vocabulary = 128000, .inner = 14336, .positions = 8192, .keyValueHeads = 8, .epsilon = 1e-5});
  d.readBiases(/*hasAttentionBias=*/true, /*hasInnerBias=*/true);
  d.innerNorms.input = "pre_ff_layernorm";
  d.head.norm = "model.final_layernorm";
  for (Linear *part : {&d.feedForward.gate, &d.feedForward.up, &d.feedForward.down})
    part->name.replace(0, 3, "feed_forward");
  d.readRopes();
  d.embedding.factor = config.positive("embedding_multiplier", 1);
  d.head.factor = config.positive("lm_head_multiplier", 1);
  d.attention.scale *= config.positive("key_multiplier", 1);
  double in = config.positive("attention_in_multiplier", 1), out = config.positive("attention_out_multiplier", 1);
  StateSpace mixer = readFalconMixer(d);
  std::vector<double> factors = readFactors(config, "mlp_multipliers", 2);
  config.passOver({"num_logits_to_keep"});
  config.passOverFlag("mamba_use_mlp", true);
  d.otherAttention = [&](GraphBuilder &g, Tensor x, int64_t layer) {
    Tensor attended = g.scale(d.attention(g, g.scale(x, in), layer), out);
    return g.add(mixer(g, x, layer), attended);
  };
  d.otherFeedForward = [&](GraphBuilder &g, Tensor x, int64_t) { return processFalcon(g, x, d.feedForward, factors); };
  d.define(g);
}

}  // namespace talc
