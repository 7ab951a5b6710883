// SPDX-License-Identifier: Apache-2.0
// The part of Llama 4 for texts: attention inside of chunks, and layers without positions that see everything, whose
// scores grow with the text; norms without weights behind rope; one expert a token beside a shared one.
#include "frontends/families/Families.h"
#include "frontends/families/decoder/Decoder.h"

#include <set>

namespace talc {

// Layers with experts: moe_layers, or every interleave_moe_layer_step-th.
static LayerRule readMoeLayers(const ModelConfig &config) {
  int64_t step = config.integer("interleave_moe_layer_step", 1, ModelConfig::layerCount);
  if (!config.has("moe_layers"))
    return [=](int64_t layer) { return (layer + 1) % step == 0; };
  std::vector<double> listed = config.numbers("moe_layers");
  return [layers = std::set<double>(listed.begin(), listed.end())](int64_t layer) {
    return layers.count(static_cast<double>(layer)) > 0;
  };
}

static MoeLayer readExperts(const Decoder &d) {
  MoeLayer moe;
  moe.readCounts(d.config, "num_local_experts", 16, 1);
  if (moe.routing.count != 1)
    d.config.unsupported("num_experts_per_tok", "talc knows the family with one expert for each token");
  moe.scalesInput = true;
  moe.inner = d.feedForward.inner;
  moe.activation = d.feedForward.activation;
  moe.router.name = "feed_forward.router";
  moe.tensors.gateUp = "feed_forward.experts.gate_up_proj";
  moe.tensors.downs = "feed_forward.experts.down_proj";
  moe.tensors.form = ExpertTensors::Form::Columns;
  moe.shared = d.feedForward.at("feed_forward.shared_expert", moe.inner);
  return moe;
}

// A text of one chunk sees all of itself, which is what talc compiles the model for.
static void readChunks(Decoder &d, const LayerRule &turns) {
  auto chunk = d.config.integerOrNull("attention_chunk_size", 8192, ModelConfig::positionCount);
  std::vector<std::string> types = d.config.texts("layer_types");
  bool hasChunks = false;
  for (int64_t layer = 0; layer < d.layers && types.empty(); ++layer)
    hasChunks |= chunk && turns(layer);
  for (const std::string &type : types) {
    hasChunks |= type == "chunked_attention";
    if (type != "chunked_attention" && type != "full_attention")
      d.config.unsupported("layer_types", "talc knows full_attention and chunked_attention");
  }
  if (hasChunks && !chunk)
    d.config.invalid("layer_types", "has chunked_attention, but the configuration gives no chunk");
  if (!hasChunks || !chunk || d.positions <= *chunk)
    return;
  d.positions = *chunk;
  d.hasHardPositions = true;
}

static void readGrowth(Decoder &d) {
  const char *key = "attn_temperature_tuning";
  bool grows =
      d.config.has(key) && !d.config.isFlag(key) ? d.config.number(key, 1, 0, 1e9) != 0 : d.config.flag(key, true);
  Growth growth = {d.config.number("attn_scale", 0.1, -1e3, 1e3),
                   d.config.integer("floor_scale", 8192, ModelConfig::positionCount), 1, true};
  if (grows)
    d.useGrowth(growth, "floor_scale");
}

void defineLlama4(GraphBuilder &g, const ModelConfig &config) {
  Decoder d(config, {.vocabulary = 202048,
                     .width = 5120,
                     .inner = 8192,
                     .layers = 48,
                     .heads = 40,
                     .positions = 131072,
                     .keyValueHeads = 8,
                     .headWidth = 128,
                     .epsilon = 1e-5,
                     .rope = {.theta = 500000}});
  d.readBiases(/*hasAttentionBias=*/true, /*hasInnerBias=*/false);
  LayerRule turns = d.readRopeLayers();
  d.attention.windows.assign(d.layers, 0);
  d.readRopes();
  d.pairNeighbors();
  d.dropRopes([&](int64_t layer) { return !turns(layer); });
  readChunks(d, turns);
  readGrowth(d);
  if (config.flag("use_qk_norm", true))
    d.useHeadNorms(HeadNorms::Scale::Shared);
  d.attention.norms.norm.hasScale = false;
  d.attention.norms.isBehindRope = d.attention.norms.needsRope = true;
  MoeLayer moe = readExperts(d);
  d.feedForward = d.feedForward.at("feed_forward", config.integer("intermediate_size_mlp", 16384, ModelConfig::size));
  d.replaceFeedForward(readMoeLayers(config), moe);
  config.passOver({"for_llm_compressor"});
  d.define(g);
}

}  // namespace talc
