// SPDX-License-Identifier: Apache-2.0
// Latent attention of DeepSeek-V2 (arXiv 2405.04434): keys and values of all heads are made of one latent vector.
//
//   c = norm(kv_a x)            the latent: what keys and values of all heads are made of, and what is kept
//   r = rope(kv_a' x)           one key by position for all heads
//   k_h = [K_h c | r]           v_h = V_h c                                  K_h and V_h are rows of kv_b
//   score = q_h . k_h = (K_h^T q_h) . c + rope(q_h') . r                     so queries move into the latent's space,
//   out_h = sum p v_h = V_h (sum p c)                                        and results out of it
//
// So [c | r] is the only key and the only value, which all heads share. The same is done for one token and for many:
// their bits are to be the same, and matrices of a head's own keys and values would be larger than what they are made
// of.
#pragma once

#include "frontends/families/decoder/Norms.h"
#include "frontends/families/decoder/Projections.h"

#include <optional>
#include <vector>

namespace talc {

class ModelConfig;

// Default values of the widths in a configuration: of the latent of queries (0: none), of the latent of keys and
// values, of a head's part without positions, of its part with positions, and of its value.
struct LatentWidths {
  int64_t queries = 1536, latent = 512, plain = 128, turned = 64, value = 128;
};

struct LatentAttention {
  int64_t heads = 0, queryLatent = 0 /*0: none*/, latent = 0, plain = 0, turned = 0, valueWidth = 0;
  double scale = 1;                        // of scores
  std::vector<std::optional<Rope>> ropes;  // per layer
  bool interleaved = true;                 // files pair neighbors for rope
  bool separate = false;                   // files have keys and values of kv_b apart
  bool inputBias = false, outputBias = false;

  // Reads the widths.
  void readWidths(const ModelConfig &config, const LatentWidths &defaults);
  // Longer contexts sharpen the softmax.
  void readScale(const ModelConfig &config);
  Tensor operator()(GraphBuilder &g, Tensor x, int64_t layer) const;

private:
  struct HeadMatrices {
    Weight keys, values;
  };
  HeadMatrices headMatrices(GraphBuilder &g) const;
  Tensor latentQueries(GraphBuilder &g, Tensor x, Weight keys, int64_t layer) const;
  Tensor latentKeys(GraphBuilder &g, Tensor x, int64_t layer) const;
  Tensor norm(GraphBuilder &g, Tensor x, const std::string &name) const;
  Weight weight(GraphBuilder &g, const std::string &name, int64_t outputs, int64_t inputs) const;
  Weight turnedRows(GraphBuilder &g, Weight rows) const;
};

}  // namespace talc
