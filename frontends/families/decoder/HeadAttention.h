// SPDX-License-Identifier: Apache-2.0
// Attention whose heads have queries, keys and values of their own, or share keys and values in groups.
#pragma once

#include "frontends/families/decoder/Norms.h"
#include "frontends/families/decoder/Projections.h"

#include <optional>
#include <string>
#include <vector>

namespace talc {

// Infini-attention (arXiv 2404.07143): the tokens of a segment, and how its compressive memory is written and read.
struct Infini {
  int64_t segment;
  bool delta, localFirst;
};

// ALiBi: the bias falls with the distance. `factor` > 0: by the key's position, rounded (GraphBuilder::alibi).
struct Alibi {
  double factor = 0;
};

// Scores grow with the position of the query, in steps: times 1 + weight * log(1 + floor((position + shift) / period)).
struct Growth {
  double weight = 0;
  int64_t period = 1, shift = 0;
  bool needsNoRope = false;  // only in layers without positions
};

struct HeadAttention {
  HeadSizes sizes;
  double scale = 1;              // of scores
  bool isScaledByLayer = false;  // the scale is divided by the layer's number, counted from 1
  double cap = 0;                // of scores; 0: none
  Mask mask = Mask::Causal;
  std::vector<int64_t> windows;            // per layer; 0: none
  std::vector<std::optional<Rope>> ropes;  // per layer; none: no rope
  double clip = 0;                         // > 0: the largest magnitude of queries, keys and values before rope
  Projections projections;
  HeadNorms norms;
  std::string sinks;     // the tensor of attention sinks; empty: none
  std::string gate;      // the projection whose sigmoids multiply what heads yield; empty: none
  NamedNorm outputNorm;  // of what heads yield
  std::optional<Growth> growth;
  std::optional<Alibi> alibi;
  std::optional<Infini> infini;

  // Makes the weights that all layers share.
  void prepare(GraphBuilder &g);
  // `x` is normalized; the result is a part of layer `layer`.
  Tensor operator()(GraphBuilder &g, Tensor x, int64_t layer) const;

private:
  // Queries or keys before and behind rope.
  struct Turned {
    Tensor plain, turned;
  };
  Tensor clipped(GraphBuilder &g, Tensor x) const;
  Turned turn(GraphBuilder &g, Tensor prepared, HeadPart part, int64_t layer) const;
  Tensor grown(GraphBuilder &g, Tensor queries, int64_t layer) const;

  Weight bias, factors /* of queries by position */;
};

}  // namespace talc
