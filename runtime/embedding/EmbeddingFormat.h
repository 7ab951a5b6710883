// SPDX-License-Identifier: Apache-2.0
// CONTRACT between compiler and runtime: the Embedding section of an artifact, which says how a text becomes one vector
// as sentence-transformers describes it.
//
//   EmbeddingHeader | EmbeddingLayer[layerCount] | float32 values of the layers in their order | texts
//
// A dense layer has its weight [outputs][inputs], then its bias [outputs] if it has one, then the weight of its
// residual projection [outputs][inputs] if it has one. A layer norm has its scale and its bias [outputs]. The texts are
// the name and the text of each prompt, UTF-8, each ended by a NUL. A reader must treat every field as untrusted.
#pragma once

#include <cstdint>

namespace talc::artifact {

constexpr uint32_t maxPoolings = 8, maxEmbeddingLayers = 64, maxPrompts = 1024;

struct EmbeddingHeader {
  uint32_t poolingCount;           // poolings that are concatenated, at least one
  uint32_t poolings[maxPoolings];  // Pooling, of one vector each
  uint32_t excludesPrompt;         // 1: the prompt's tokens are not pooled
  uint32_t maxTokens;              // longer texts are cut; 0: they are not
  uint32_t cutsBegin;              // 1: a cut text loses its beginning instead of its end
  uint32_t promptCount;
  uint32_t defaultPrompt;  // index + 1 of the prompt before a text if the caller does not say; 0: none
  uint32_t layerCount;
};

enum class EmbeddingLayerKind : uint32_t { Dense = 1, LayerNorm = 2, Normalize = 3 };
enum class DenseActivation : uint32_t { None = 0, Tanh = 1, Relu = 2, Gelu = 3, Silu = 4, Sigmoid = 5 };
enum class DenseResidual : uint32_t { None = 0, Input = 1, Projection = 2 };

struct EmbeddingLayer {
  uint32_t kind;             // EmbeddingLayerKind
  uint32_t inputs, outputs;  // floats
  uint32_t activation;       // DenseActivation
  uint32_t hasBias;          // of a dense layer
  uint32_t residual;         // DenseResidual
};

// The number of floats that a layer has in the section.
inline uint64_t countValues(const EmbeddingLayer &layer) {
  uint64_t matrix = uint64_t(layer.inputs) * layer.outputs;
  if (layer.kind == static_cast<uint32_t>(EmbeddingLayerKind::LayerNorm))
    return 2 * uint64_t(layer.outputs);
  if (layer.kind != static_cast<uint32_t>(EmbeddingLayerKind::Dense))
    return 0;
  bool projects = layer.residual == static_cast<uint32_t>(DenseResidual::Projection);
  return matrix + (layer.hasBias ? layer.outputs : 0) + (projects ? matrix : 0);
}

}  // namespace talc::artifact
