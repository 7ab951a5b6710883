// SPDX-License-Identifier: Apache-2.0
// GPT-2 (Radford et al. 2019): learned positions, layer norm before each part, one matrix for queries, keys and values.
// Its relatives SantaCoder and StarCoder (arXiv 2305.06161; gpt_bigcode) and GPT-Neo.
#include "frontends/families/Families.h"
#include "frontends/families/decoder/Decoder.h"

namespace talc {

constexpr DecoderDefaults gpt2Sizes = {.vocabulary = 50257,
                                       .width = 768,
                                       .inner = 0,
                                       .layers = 12,
                                       .heads = 12,
                                       .positions = 1024,
                                       .epsilon = 1e-5,
                                       .activation = "gelu_new",
                                       .tied = true,
                                       .keys = gpt2Keys};

static void readGpt2(Decoder &d) {
  d.config.refuseFlag("add_cross_attention", "talc knows GPT-2 as a decoder without an encoder");
  d.hasHardPositions = true;
  d.useLayerNorms(/*bias=*/true, "ln_1", "ln_2");
  d.layersName = "transformer.h";
  d.embedding.table = "transformer.wte";
  d.embedding.positions = "transformer.wpe";
  d.head.norm = "transformer.ln_f";
  d.attention.projections.pack("attn.c_attn", /*inOrder=*/true);
  d.attention.projections.output.name = "attn.c_proj";
  d.attention.projections.setBias(true);
  d.feedForward.makePlain("mlp.c_fc", "mlp.c_proj", /*bias=*/true);
}

// Matrices are stored as inputs by outputs.
static void transposeMatrices(Decoder &d) {
  for (Linear *linear :
       {&d.attention.projections.all, &d.attention.projections.output, &d.feedForward.up, &d.feedForward.down})
    linear->transposed = true;
}

// reorder_and_upcast_attn only asks for the f32 attention that talc computes anyway.
void defineGpt2(GraphBuilder &g, const ModelConfig &config) {
  Decoder d(config, gpt2Sizes);
  readGpt2(d);
  if (!config.flag("scale_attn_weights", true))
    d.attention.scale = 1;
  d.attention.isScaledByLayer = config.flag("scale_attn_by_inverse_layer_idx", false);
  config.passOver({"n_special"});  // of GPT
  transposeMatrices(d);
  d.define(g);
}

// One key and value for all heads, or query, key and value head by head.
void defineGptBigCode(GraphBuilder &g, const ModelConfig &config) {
  DecoderDefaults sizes = gpt2Sizes;
  sizes.activation = "gelu_pytorch_tanh";
  Decoder d(config, sizes);
  readGpt2(d);
  if (!config.flag("scale_attn_weights", true))
    d.attention.scale = 1;
  // These keys are of the program that ran the first models.
  config.passOver({"inference_runner", "max_batch_size", "max_sequence_length", "pad_key_length",
                   "pre_allocate_kv_cache", "validate_runner_input", "scale_attention_softmax_in_fp32"});
  if (config.flag("multi_query", true))
    d.attention.sizes.keyValueHeads = 1;
  d.attention.projections.pack("attn.c_attn", /*inOrder=*/false);
  d.define(g);
}

// The kinds of layers stand in attention_layers, or in attention_types with their numbers of repetitions.
static void readGptNeoWindows(Decoder &d) {
  const ModelConfig &config = d.config;
  const char *key = config.has("attention_layers") ? "attention_layers" : "attention_types";
  config.passOver({"attention_types"});
  std::vector<std::string> kinds =
      config.has("attention_layers") ? config.texts(key) : config.repeatedTexts("attention_types");
  for (int64_t layer = 0; layer < 24 && !config.has(key); ++layer)
    kinds.emplace_back(layer % 2 == 0 ? "global" : "local");
  if (static_cast<int64_t>(kinds.size()) != d.layers)
    return config.invalid(key, "has " + std::to_string(kinds.size()) + " entries for " + std::to_string(d.layers) +
                                   " layers (num_layers)");
  int64_t window = config.integer("window_size", 256, ModelConfig::positionCount);
  for (const std::string &kind : kinds) {
    if (kind != "global" && kind != "local")
      return config.unsupported(key, "talc knows global and local");
    d.attention.windows.push_back(kind == "local" ? window : 0);
  }
}

// Every other layer has a window; scores are not scaled.
void defineGptNeo(GraphBuilder &g, const ModelConfig &config) {
  Decoder d(config, {.vocabulary = 50257,
                     .width = 2048,
                     .inner = 0,
                     .layers = 24,
                     .heads = 16,
                     .epsilon = 1e-5,
                     .activation = "gelu_new",
                     .tied = true,
                     .keys = {.layers = "num_layers",
                              .heads = "num_heads",
                              .keyValueHeads = nullptr,
                              .headWidth = nullptr,
                              .epsilon = "layer_norm_epsilon",
                              .activation = "activation_function",
                              .infini = nullptr}});
  readGpt2(d);
  d.attention.projections.packing = Projections::Packing::Apart;
  d.attention.projections.nameApart("attn.attention.", "_proj", "attn.attention.out_proj");
  d.attention.projections.setInputBias(false);
  d.attention.scale = 1;
  readGptNeoWindows(d);
  d.define(g);
}

// GPT (Radford et al. 2018): norms behind the sums with the residual. Its gelu is the tanh form.
void defineGpt(GraphBuilder &g, const ModelConfig &config) {
  DecoderDefaults sizes = gpt2Sizes;
  sizes.vocabulary = 40478;
  sizes.positions = 512;
  sizes.keys.inner = nullptr;
  sizes.keys.activation = config.text("afn", "gelu") == "gelu" ? nullptr : "afn";
  Decoder d(config, sizes);
  readGpt2(d);
  d.attentionNorms = {{}, {}, "ln_1"};
  d.innerNorms = {{}, {}, "ln_2"};
  d.embedding.table = "transformer.tokens_embed";
  d.embedding.positions = "transformer.positions_embed";
  d.head.norm.clear();
  transposeMatrices(d);
  d.define(g);
}

}  // namespace talc
