// SPDX-License-Identifier: Apache-2.0
// ESM-1b and ESM-2 (doi 10.1126/science.ade2574), BERTs of proteins with layer norm before each part. Masked tokens are
// zero, and the more of a text are masked, the larger are the others.
#include "frontends/families/Families.h"
#include "frontends/families/decoder/TokenRows.h"
#include "frontends/families/encoder/BertModel.h"

namespace talc {

namespace {

struct Esm : BertModel {
  Esm(const ModelConfig &config, const BertVariant &variant) : BertModel(config, variant) {
    dropsMasks = config.flag("token_dropout", false);
    config.refuseFlag("is_folding_model", "talc knows the family without folding");
    if (dropsMasks && !config.has("mask_token_id"))
      config.invalid("mask_token_id", "is missing: token_dropout changes what masks are");
    if (dropsMasks)
      mask = config.integer("mask_token_id", 0, {0, vocabulary - 1});
  }

  // 1 for masks, 0 for other tokens.
  Tensor isMask(GraphBuilder &g, Tensor masks, Weight row) const {
    constexpr double epsilon = 1e-30;
    return g.rmsNorm(g.linear(masks, row), g.ones(1), epsilon);
  }

  Tensor words(GraphBuilder &g, Weight table) const override {
    if (!dropsMasks)
      return BertModel::words(g, table);
    constexpr double shareInTraining = 0.15 * 0.8;
    Weight row = g.rows(table, mask, 1, vocabulary);
    Tensor masks = g.embedding(row, mask), x = g.add(g.embedding(table), g.scale(masks, -1));
    Tensor masked = g.mean(repeated(g, isMask(g, masks, row), width), heads);
    Tensor feature = g.slice(masked, 0, 1), one = g.layerNorm(feature, g.ones(1), g.ones(1), 1);
    Tensor factor = g.scale(reciprocal(g, g.add(one, g.scale(feature, -1))), 1 - shareInTraining);
    return g.mul(x, repeated(g, factor, width));
  }

  bool dropsMasks;
  int64_t mask = 0;
};

}  // namespace

void defineEsm(GraphBuilder &g, const ModelConfig &config) {
  BertVariant variant{"esm.",
                      {"lm_head.dense", "lm_head.layer_norm", "lm_head.decoder", "lm_head.bias"},
                      {"classifier.dense", "classifier.out_proj"}};
  variant.keys.activation = nullptr;
  if (config.text("hidden_act", "gelu") != "gelu")
    config.unsupported("hidden_act", "is not gelu, which the family always has");
  variant.sizes.positions = 1026;
  variant.padding = 1;
  variant.afterPadding = variant.geluHead = true;
  variant.hasTypes = false;
  variant.choice = {};
  const std::string positions = config.text("position_embedding_type", "absolute");
  if (positions == "rotary")
    variant.rope = RopeKeys{.thetaKey = nullptr};
  variant.tableNorm = config.flag("emb_layer_norm_before", false) ? "embeddings.layer_norm" : "";
  variant.layer.mixedNorm = "attention.LayerNorm";
  variant.layer.outerNorm = "LayerNorm";
  variant.lastNorm = "encoder.emb_layer_norm_after";
  config.passOver({"vocab_list", "esmfold_config", "rope_theta"});
  if (config.has("rope_theta") && positions == "rotary")
    variant.rope->theta = config.positive("rope_theta", 10000);
  Esm model(config, variant);
  if (!config.failed())
    model.define(g);
}

}  // namespace talc
