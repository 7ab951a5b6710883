// SPDX-License-Identifier: Apache-2.0
// Nemotron-H (arXiv 2504.03624): each layer has one part: Mamba-2's mixer, attention without positions, or a plain
// feed-forward.
#include "frontends/families/Families.h"
#include "frontends/families/decoder/Decoder.h"
#include "frontends/families/decoder/StateSpace.h"

#include <algorithm>

namespace talc {

namespace {

enum class Part { Mixer, Attention, FeedForward };

struct PartName {
  std::string name;
  Part part;
};

}  // namespace

// By a letter for each layer, or by a list.
static std::vector<Part> readParts(const ModelConfig &config) {
  static const std::vector<PartName> partNames = {{"M", Part::Mixer},
                                                  {"*", Part::Attention},
                                                  {"-", Part::FeedForward},
                                                  {"mamba", Part::Mixer},
                                                  {"attention", Part::Attention},
                                                  {"mlp", Part::FeedForward},
                                                  {"linear_attention", Part::Mixer},
                                                  {"full_attention", Part::Attention}};
  const char *key = config.has("hybrid_override_pattern") ? "hybrid_override_pattern"
                    : config.has("layers_block_type")     ? "layers_block_type"
                                                          : "layer_types";
  std::vector<std::string> names;
  if (config.isText(key))
    for (char letter : config.text(key, ""))
      names.emplace_back(1, letter);
  else
    names = config.texts(key);
  std::vector<Part> parts;
  for (const std::string &name : names) {
    auto entry =
        std::find_if(partNames.begin(), partNames.end(), [&](const PartName &part) { return part.name == name; });
    if (entry == partNames.end()) {
      config.unsupported(key, "talc knows mixers (M), attention (*) and plain feed-forward layers (-)");
      return {};
    }
    parts.push_back(entry->part);
  }
  return parts;
}

static StateSpace readNemotronMixer(const Decoder &d) {
  StateSpace mixer;
  mixer.name = "mixer";
  mixer.epsilon = d.norm.epsilon;
  mixer.read(d.config, d.width,
             {.groups = 8,
              .state = 128,
              .headWidth = 64,
              .keys = {"mamba_num_heads", "mamba_head_dim", "n_groups", "ssm_state_size", "conv_kernel", nullptr,
                       "use_conv_bias", "mamba_proj_bias", "chunk_size"}});
  d.config.refuseFlag("use_bias", "talc knows the family without");
  if (d.config.text("mamba_hidden_act", "silu") != "silu")
    d.config.unsupported("mamba_hidden_act", "talc knows silu behind this convolution");
  // Initial values, precision, programs, and layers that predict several tokens. transformers bounds steps of prompts
  // by time_step_min, but not those of single tokens, which no cut of a text can agree with; talc bounds none.
  d.config.passOver({"expand", "time_step_min", "time_step_max", "time_step_floor", "mamba_ssm_cache_dtype",
                     "residual_in_fp32", "rescale_prenorm_residual", "use_mamba_kernels", "num_logits_to_keep",
                     "mtp_layers_block_type", "mtp_hybrid_override_pattern"});
  // Experts, which no layer has that talc knows.
  d.config.passOver({"n_routed_experts", "n_shared_experts", "moe_intermediate_size",
                     "moe_shared_expert_intermediate_size", "moe_shared_expert_overlap", "moe_latent_size",
                     "num_experts_per_tok", "routed_scaling_factor", "n_group", "topk_group", "norm_topk_prob"});
  return mixer;
}

void defineNemotronH(GraphBuilder &g, const ModelConfig &config) {
  Decoder d(config, {.vocabulary = 131072,
                     .inner = 21504,
                     .positions = 4096,
                     .keyValueHeads = 8,
                     .headWidth = 128,
                     .epsilon = 1e-5,
                     .activation = "relu2",
                     .keys = {.epsilon = "layer_norm_epsilon", .activation = "mlp_hidden_act"}});
  std::vector<Part> parts = readParts(config);
  if (static_cast<int64_t>(parts.size()) != d.layers && !config.failed())
    config.invalid("num_hidden_layers", "is not the number of entries of the pattern, " + std::to_string(parts.size()));
  d.readBiases(/*hasAttentionBias=*/true, /*hasInnerBias=*/true);
  d.feedForward.makePlain("mixer.up_proj", "mixer.down_proj", config.flag("mlp_bias", false));
  d.attention.projections.nameApart("mixer.", "_proj", "mixer.o_proj");
  d.embedding.table = "backbone.embeddings";
  d.layersName = "backbone.layers";
  d.head.norm = "backbone.norm_f";
  d.attentionNorms.input = "norm";
  d.hasOnePart = true;
  for (Part part : parts)
    d.stateLayers.push_back(part == Part::Mixer);
  StateSpace mixer = readNemotronMixer(d);
  d.otherAttention = [&, parts](GraphBuilder &g, Tensor x, int64_t layer) {
    return parts[layer] == Part::Mixer       ? mixer(g, x, layer)
           : parts[layer] == Part::Attention ? d.attention(g, x, layer)
                                             : d.feedForward(g, x, layer);
  };
  d.define(g);
}

}  // namespace talc
