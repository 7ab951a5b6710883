// SPDX-License-Identifier: Apache-2.0
// Pools the hidden states of a text and applies the layers that follow, as sentence-transformers does.
#pragma once

#include "runtime/artifact/ArtifactFormat.h"
#include "runtime/embedding/EmbeddingFormat.h"

#include <cstddef>
#include <vector>

namespace talc {

class EmbeddingHead {
public:
  // Without a section: the pooling alone, of hidden states [width].
  EmbeddingHead(artifact::Pooling pooling, uint32_t width);

  // Reads a section, of which it keeps pointers: the bytes must be aligned to 4 and outlive the object. Returns null,
  // or what is wrong with the section.
  const char *open(const unsigned char *bytes, uint64_t size);

  // Floats of an embedding; 0: hidden states are not pooled.
  int32_t width() const;
  int32_t maxTokens() const { return static_cast<int32_t>(header.maxTokens); }
  bool cutsBegin() const { return header.cutsBegin != 0; }
  bool excludesPrompt() const { return header.excludesPrompt != 0; }
  int32_t defaultPrompt() const { return static_cast<int32_t>(header.defaultPrompt) - 1; }
  const std::vector<const char *> &promptNames() const { return names; }
  const std::vector<const char *> &prompts() const { return texts; }

  // The embedding of hidden states [count][width]; the first `promptTokens` are not pooled if the model says so.
  std::vector<float> embed(const float *hidden, size_t count, size_t promptTokens) const;
  // One pooling alone, without layers.
  std::vector<float> pool(artifact::Pooling pooling, const float *hidden, size_t count, size_t promptTokens) const;

  // Divides a vector by its length.
  static void normalize(std::vector<float> &vector);

private:
  struct PlacedLayer {
    artifact::EmbeddingLayer shape;
    const float *values;
  };

  const char *readLayers(const unsigned char *bytes, uint64_t size, uint64_t &at);
  const char *readPrompts(const unsigned char *bytes, uint64_t size);

  uint32_t hiddenWidth;
  artifact::EmbeddingHeader header = {};
  std::vector<PlacedLayer> layers;
  std::vector<const char *> names, texts;
};

}  // namespace talc
