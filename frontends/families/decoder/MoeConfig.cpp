// SPDX-License-Identifier: Apache-2.0
// Reads the keys of MoE layers that several families share.
#include "frontends/families/decoder/MoeConfig.h"

#include <algorithm>

namespace talc {

MoeLayer readQwenMoe(const Decoder &d, const QwenMoeDefaults &defaults) {
  MoeLayer moe;
  moe.readCounts(d.config, d.config.has("num_experts") ? "num_experts" : "num_local_experts", defaults.experts,
                 defaults.perToken);
  moe.routing.normalized = d.config.flag("norm_topk_prob", defaults.isNormalized);
  moe.inner = defaults.inner > 0 ? d.config.integer("moe_intermediate_size", defaults.inner, ModelConfig::size)
                                 : d.feedForward.inner;
  moe.activation = d.feedForward.activation;
  return moe;
}

MoeLayer readDeepSeekMoe(const Decoder &d, const DeepSeekMoeDefaults &defaults) {
  const ModelConfig &config = d.config;
  if (config.integer("moe_layer_freq", 1, ModelConfig::layerCount) != 1)
    config.unsupported("moe_layer_freq", "talc knows mixtures in all layers behind the first");
  MoeLayer moe;
  moe.readCounts(config, "n_routed_experts", defaults.experts, defaults.perToken);
  moe.inner = config.integer("moe_intermediate_size", defaults.inner, ModelConfig::size);
  moe.activation = d.feedForward.activation;
  moe.factor = config.positive("routed_scaling_factor", defaults.factor);
  int64_t shared = config.integerOrNull("n_shared_experts", defaults.shared, {0, 4096}).value_or(0);
  if (shared > 0)
    moe.shared = d.feedForward.at("mlp.shared_experts", shared * moe.inner);
  return moe;
}

LayerRule readSparseLayers(const Decoder &d, const LayerRule &usual) {
  std::vector<std::string> types = d.config.texts("mlp_layer_types");
  if (types.empty())
    return usual;
  if (static_cast<int64_t>(types.size()) != d.layers)
    d.config.invalid("mlp_layer_types", "has " + std::to_string(types.size()) + " entries for " +
                                            std::to_string(d.layers) + " layers (num_hidden_layers)");
  for (const std::string &type : types)
    if (type != "dense" && type != "sparse")
      d.config.unsupported("mlp_layer_types", "talc knows dense and sparse");
  return [=](int64_t layer) { return types[layer] == "sparse"; };
}

void useDeepSeekMoe(Decoder &d, const LayerPart &moe, const DeepSeekMoeDefaults &defaults) {
  int64_t first = d.config.integer("first_k_dense_replace", defaults.denseLayers, {0, ModelConfig::layerCount.maximum});
  d.replaceFeedForward(readSparseLayers(d, fromLayer(first)), moe);
}

void readBiasedRouting(MoeLayer &moe, const ModelConfig &config, int64_t groups, int64_t topGroups) {
  moe.scores = MoeLayer::Scores::Sigmoid;
  moe.selectionBias = "mlp.gate.e_score_correction_bias";
  moe.readGroups(config, groups, topGroups);
  moe.routing.groupBest = std::min<int64_t>(2, moe.experts / moe.routing.groups);
  moe.routing.normalized = config.flag("norm_topk_prob", true);
  if (config.text("topk_method", "noaux_tc") != "noaux_tc")
    config.unsupported("topk_method", "the family has noaux_tc");
  if (config.text("scoring_func", "sigmoid") != "sigmoid")
    config.unsupported("scoring_func", "the family has sigmoid");
}

}  // namespace talc
