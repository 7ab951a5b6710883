// SPDX-License-Identifier: Apache-2.0
// Reads an Embedding section and checks all of it, so that later arithmetic stays inside of it.
#include "runtime/embedding/EmbeddingHead.h"
#include "runtime/tokenizer/Utf8.h"

#include <algorithm>
#include <cstring>
#include <string_view>

namespace talc {

using namespace artifact;

constexpr uint32_t maxWidth = 1 << 20;

EmbeddingHead::EmbeddingHead(Pooling pooling, uint32_t width) : hiddenWidth(width) {
  header.poolingCount = 1;
  header.poolings[0] = static_cast<uint32_t>(pooling);
}

static bool isPossible(const EmbeddingHeader &header) {
  if (header.poolingCount < 1 || header.poolingCount > maxPoolings || header.layerCount > maxEmbeddingLayers ||
      header.promptCount > maxPrompts || header.defaultPrompt > header.promptCount || header.maxTokens > (1u << 30) ||
      header.excludesPrompt > 1 || header.cutsBegin > 1)
    return false;
  bool isAlone = header.poolingCount == 1 && header.layerCount == 0;
  return std::all_of(header.poolings, header.poolings + header.poolingCount, [&](uint32_t pooling) {
    return pooling <= static_cast<uint32_t>(Pooling::Last) && (pooling > 0 || isAlone);
  });
}

// `width`: of the layer's input.
static bool isPossible(const EmbeddingLayer &layer, uint32_t width) {
  auto kind = static_cast<EmbeddingLayerKind>(layer.kind);
  if (layer.kind < 1 || layer.kind > static_cast<uint32_t>(EmbeddingLayerKind::Normalize) || layer.inputs != width ||
      layer.outputs < 1 || layer.outputs > maxWidth || layer.hasBias > 1 ||
      layer.activation > static_cast<uint32_t>(DenseActivation::Sigmoid) ||
      layer.residual > static_cast<uint32_t>(DenseResidual::Projection))
    return false;
  bool keepsWidth = kind != EmbeddingLayerKind::Dense || layer.residual == static_cast<uint32_t>(DenseResidual::Input);
  return !keepsWidth || layer.outputs == layer.inputs;
}

const char *EmbeddingHead::readLayers(const unsigned char *bytes, uint64_t size, uint64_t &at) {
  if (header.layerCount * sizeof(EmbeddingLayer) > size - at)
    return "a layer is missing";
  uint64_t values = at + header.layerCount * sizeof(EmbeddingLayer);
  auto width = static_cast<uint64_t>(header.poolingCount) * hiddenWidth;
  bool pools = header.poolings[0] != static_cast<uint32_t>(Pooling::None);
  if (pools && (width < 1 || width > maxWidth))
    return "the model has no hidden states, or too many";
  for (uint32_t i = 0; i < header.layerCount; ++i, at += sizeof(EmbeddingLayer)) {
    EmbeddingLayer layer;
    memcpy(&layer, bytes + at, sizeof(layer));
    if (!isPossible(layer, static_cast<uint32_t>(width)))
      return "an impossible layer";
    if (countValues(layer) > (size - values) / sizeof(float))
      return "values of a layer are missing";
    layers.push_back({layer, reinterpret_cast<const float *>(bytes + values)});
    values += countValues(layer) * sizeof(float);
    width = layer.outputs;
  }
  at = values;
  return nullptr;
}

const char *EmbeddingHead::readPrompts(const unsigned char *bytes, uint64_t size) {
  std::string_view all(reinterpret_cast<const char *>(bytes), size);
  if (static_cast<uint64_t>(std::count(all.begin(), all.end(), '\0')) != 2 * uint64_t(header.promptCount) ||
      (!all.empty() && all.back() != '\0'))
    return "another number of prompts";
  if (tokenizer::findInvalid(all) != std::string_view::npos)
    return "a prompt is not valid UTF-8";
  for (size_t at = 0, i = 0; i < 2 * size_t(header.promptCount); ++i, at = all.find('\0', at) + 1)
    (i % 2 ? texts : names).push_back(all.data() + at);
  return nullptr;
}

const char *EmbeddingHead::open(const unsigned char *bytes, uint64_t size) {
  if (size < sizeof(header))
    return "the header is missing";
  memcpy(&header, bytes, sizeof(header));
  if (!isPossible(header))
    return "an impossible header";
  uint64_t at = sizeof(header);
  if (const char *wrong = readLayers(bytes, size, at))
    return wrong;
  return readPrompts(bytes + at, size - at);
}

}  // namespace talc
