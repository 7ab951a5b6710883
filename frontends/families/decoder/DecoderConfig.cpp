// SPDX-License-Identifier: Apache-2.0
// Reads what decoders have in common from a configuration.
#include "frontends/families/decoder/Decoder.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <tuple>

namespace talc {

LayerRule inEveryLayer() {
  return [](int64_t) { return true; };
}

LayerRule inNoLayer() {
  return [](int64_t) { return false; };
}

LayerRule exceptEvery(int64_t period) {
  return [=](int64_t layer) { return (layer + 1) % period != 0; };
}

LayerRule fromLayer(int64_t first) {
  return [=](int64_t layer) { return layer >= first; };
}

Decoder::Decoder(const ModelConfig &config, const DecoderDefaults &defaults) : config(config), defaults(defaults) {
  const DecoderKeys &keys = defaults.keys;
  readTask();
  vocabulary = config.integer(keys.vocabulary, defaults.vocabulary, ModelConfig::size);
  width = tableWidth = config.integer(keys.width, defaults.width, ModelConfig::size);
  if (keys.inner && defaults.inner > 0)
    feedForward.inner = config.integer(keys.inner, defaults.inner, ModelConfig::size);
  else
    feedForward.inner =
        keys.inner ? config.integerOrNull(keys.inner, {}, ModelConfig::size).value_or(4 * width) : 4 * width;
  layers = config.integer(keys.layers, defaults.layers, ModelConfig::layerCount);
  positions = config.integer(keys.positions, defaults.positions, ModelConfig::positionCount);
  bool isNamed = keys.activation && config.has(keys.activation);
  feedForward.activation = isNamed ? config.activation(keys.activation, defaults.activation)
                                   : config.activationNamed("hidden_act", defaults.activation);
  norm.epsilon = keys.epsilon ? config.positive(keys.epsilon, defaults.epsilon) : defaults.epsilon;
  head.isTied = config.flag("tie_word_embeddings", defaults.tied);
  readHeads();
  readInfini();
  config.passOver("head_dim", attention.sizes.width);
  config.passOver("num_key_value_heads", attention.sizes.keyValueHeads);
  config.passOver("intermediate_size", feedForward.inner);
}

// The task of the model's class, and whether that answers questions.
static std::pair<DecoderTask, bool> readClass(const ModelConfig &config, bool isEncoder) {
  using Task = DecoderTask;
  constexpr Task decoderTasks[] = {Task::Words, Task::Words, Task::Hidden, Task::Text, Task::Tokens, Task::Tokens};
  constexpr Task encoderTasks[] = {Task::Hidden, Task::Masked, Task::Text, Task::Tokens, Task::Tokens};
  if (!isEncoder) {
    const size_t number = config.head({"ForCausalLM", "LMHeadModel", "Model", "ForSequenceClassification",
                                       "ForTokenClassification", "ForQuestionAnswering"});
    return {decoderTasks[number], number + 1 == std::size(decoderTasks)};
  }
  const size_t number = config.head(
      {"Model", "ForMaskedLM", "ForSequenceClassification", "ForTokenClassification", "ForQuestionAnswering"});
  return {encoderTasks[number], number + 1 == std::size(encoderTasks)};
}

void Decoder::readTask() {
  bool asks;
  std::tie(head.task, asks) = readClass(config, defaults.isEncoder);
  if (defaults.isEncoder)
    attention.mask = Mask::Full;
  if (head.task != DecoderTask::Text && head.task != DecoderTask::Tokens)
    return;
  head.labels = asks ? std::vector<std::string>{"start", "end"} : config.labels();
  if (head.task == DecoderTask::Text) {
    head.classifiers = {"score"};
    head.padding = config.integerOrNull("pad_token_id", defaults.padding, {-1, ModelConfig::size.maximum}).value_or(-1);
  } else if (asks) {
    head.classifiers = {"qa_outputs"};
    head.classifierBias = true;
  } else {
    head.classifiers = {"score", "classifier"};
    head.classifierBias = config.flag("token_classification_bias", true);
  }
}

void Decoder::readHeads() {
  const DecoderKeys &keys = defaults.keys;
  HeadSizes &sizes = attention.sizes;
  sizes.heads = sizes.keyValueHeads = config.integer(keys.heads, defaults.heads, ModelConfig::headCount);
  if (keys.keyValueHeads)
    sizes.keyValueHeads =
        config.integerOrNull(keys.keyValueHeads, defaults.keyValueHeads, ModelConfig::headCount).value_or(sizes.heads);
  sizes.width = width / sizes.heads;
  if (keys.headWidth)
    sizes.width =
        config.integerOrNull(keys.headWidth, defaults.headWidth, ModelConfig::headCount).value_or(sizes.width);
  if (!keys.headWidth || (!config.has(keys.headWidth) && !defaults.headWidth))
    config.requireDivides(keys.heads, sizes.heads, keys.width, width);
  if (sizes.heads % sizes.keyValueHeads != 0)
    config.invalid(keys.keyValueHeads ? keys.keyValueHeads : keys.heads,
                   std::to_string(sizes.keyValueHeads) + " key-value heads do not divide " +
                       std::to_string(sizes.heads) + " attention heads");
  attention.scale = 1 / std::sqrt(static_cast<double>(sizes.width));
}

void Decoder::readInfini() {
  const char *key = defaults.keys.infini;
  if (!key)
    return;
  bool isOff = config.isFlag(key) && !config.flag(key, true);
  std::optional<ModelConfig> options = config.has(key) && !isOff ? config.inner(key) : std::nullopt;
  if (!options)
    return;
  if (!options->has("segment_length"))
    return options->invalid("segment_length", "is missing: the tokens of a segment");
  options->refuseOthers({"segment_length", "update", "first_segment"});
  auto choose = [&](const char *name, const char *usual, const char *other) {
    std::string text = options->text(name, usual);
    if (text != usual && text != other)
      options->unsupported(name, std::string("talc knows ") + usual + " and " + other);
    return text == other;
  };
  attention.infini = Infini{options->integer("segment_length", 1, ModelConfig::positionCount),
                            choose("update", "linear", "delta"), choose("first_segment", "gated", "local")};
}

void Decoder::readBiases(bool hasAttentionBias, bool hasInnerBias) {
  Projections &projections = attention.projections;
  if (hasAttentionBias) {
    projections.output.bias = config.flag("attention_bias", false);
    projections.setInputBias(projections.output.bias);
  } else {
    config.refuseFlag("attention_bias", "the family has none");
  }
  if (hasInnerBias)
    feedForward.setBias(config.flag("mlp_bias", false));
  else
    config.refuseFlag("mlp_bias", "the family has none");
}

std::optional<int64_t> Decoder::windowOr(std::optional<int64_t> fallback) const {
  return config.integerOrNull("sliding_window", fallback, ModelConfig::positionCount);
}

double Decoder::readCap(const char *key, double fallback) const {
  bool isOff = config.isNull(key) || (!config.has(key) && fallback == 0);
  return isOff ? 0 : config.positive(key, fallback);
}

void Decoder::readWindows(std::optional<int64_t> window, const LayerRule &slides) {
  std::vector<std::string> types = config.texts("layer_types");
  if (!types.empty() && static_cast<int64_t>(types.size()) != layers)
    return config.invalid("layer_types", "has " + std::to_string(types.size()) + " entries for " +
                                             std::to_string(layers) + " layers (num_hidden_layers)");
  for (int64_t layer = 0; layer < layers; ++layer) {
    bool sliding = types.empty() ? window && slides(layer) : types[layer] == "sliding_attention";
    bool hasOther = !types.empty() && !sliding && types[layer] != "full_attention";
    if (hasOther && stateTypes.empty())
      return config.unsupported("layer_types", "talc knows full_attention and sliding_attention");
    if (hasOther && !stateLayers[layer] && types[layer] != "attention")
      return config.unsupported("layer_types", "talc knows full_attention and " + stateTypes.front());
    if (sliding && !window)
      return config.invalid("layer_types", "has sliding_attention, but the configuration gives no window");
    attention.windows.push_back(sliding ? *window : 0);
  }
}

void Decoder::readStateLayers(const std::vector<std::string> &types, const LayerRule &usual) {
  stateTypes = types;
  for (const std::string &entry : config.texts("layer_types"))
    stateLayers.push_back(std::find(types.begin(), types.end(), entry) != types.end());
  for (int64_t layer = 0; !config.has("layer_types") && layer < layers; ++layer)
    stateLayers.push_back(usual(layer));
}

void Decoder::replaceAttention(const LayerPart &part) {
  LayerPart usual = otherAttention;
  otherAttention = [this, part, usual](GraphBuilder &g, Tensor x, int64_t layer) {
    return hasState(layer) ? part(g, x, layer) : usual ? usual(g, x, layer) : attention(g, x, layer);
  };
}

void Decoder::readRopes(const RopeKeys &sliding) {
  RopeKeys full = defaults.rope;
  full.isByType = !attention.windows.empty();
  if (attention.windows.empty())
    readWindows({}, inEveryLayer());
  for (int64_t window : attention.windows)
    if (!config.failed())
      attention.ropes.push_back(window ? config.rope(attention.sizes.width, "sliding_attention", sliding)
                                       : config.rope(attention.sizes.width, "full_attention", full));
}

LayerRule Decoder::readRopeLayers() const {
  int64_t every = config.integer("no_rope_layer_interval", 4, ModelConfig::layerCount);
  std::vector<double> listed = config.numbers("no_rope_layers");
  if (listed.empty())
    return exceptEvery(every);
  if (static_cast<int64_t>(listed.size()) < layers)
    config.invalid("no_rope_layers", "has " + std::to_string(listed.size()) + " entries for " + std::to_string(layers) +
                                         " layers (num_hidden_layers)");
  listed.resize(layers);
  return [=](int64_t layer) { return listed[layer] != 0; };
}

void Decoder::dropRopes(const LayerRule &where) {
  for (size_t layer = 0; layer < attention.ropes.size(); ++layer)
    if (where(static_cast<int64_t>(layer)))
      attention.ropes[layer].reset();
}

void Decoder::replaceFeedForward(const LayerRule &where, const LayerPart &part) {
  LayerPart usual = otherFeedForward ? otherFeedForward : LayerPart(feedForward);
  otherFeedForward = [=](GraphBuilder &g, Tensor x, int64_t layer) {
    return where(layer) ? part(g, x, layer) : usual(g, x, layer);
  };
}

void Decoder::useLayerNorms(bool bias, const std::string &attentionNorm, const std::string &innerNorm) {
  norm.form = Norm::Form::Layer;
  norm.bias = bias;
  attentionNorms = {attentionNorm, {}, {}};
  innerNorms = {innerNorm, {}, {}};
  isParallel = innerNorm.empty();
}

void Decoder::useHeadNorms(HeadNorms::Scale scale) {
  attention.norms.scale = scale;
  attention.norms.norm = norm;
}

void Decoder::useOutputNorms(const std::string &attentionNorm, const std::string &innerNorm) {
  attentionNorms = {{}, attentionNorm, {}};
  innerNorms = {{}, innerNorm, {}};
}

void Decoder::useGrowth(const Growth &growth, const char *key) {
  constexpr int64_t maxSteps = 4096;
  if (positions / growth.period >= maxSteps)
    config.unsupported(key, "makes scores of queries grow in more than " + std::to_string(maxSteps) + " steps");
  attention.growth = growth;
}

void Decoder::pairNeighbors() {
  for (const std::optional<Rope> &rope : attention.ropes)
    if (rope)
      attention.projections.pairedFeatures = rope->rotary;
}

}  // namespace talc
