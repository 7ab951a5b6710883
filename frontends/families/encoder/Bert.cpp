// SPDX-License-Identifier: Apache-2.0
// BERT (arXiv 1810.04805), RoBERTa (arXiv 1907.11692), XLM-RoBERTa (arXiv 1911.02116), CamemBERT (arXiv 1911.03894),
// DistilBERT (arXiv 1910.01108), MPNet (arXiv 2004.09297), ELECTRA (arXiv 2003.10555) and ALBERT (arXiv 1909.11942).
#include "frontends/families/Families.h"
#include "frontends/families/encoder/BertModel.h"

#include <algorithm>
#include <cmath>

namespace talc {

static void define(GraphBuilder &g, const ModelConfig &config, const BertVariant &variant) {
  BertModel model(config, variant);
  if (!config.failed())
    model.define(g);
}

static MaskedHead bertMasked() {
  return {"cls.predictions.transform.dense", "cls.predictions.transform.LayerNorm", "cls.predictions.decoder",
          "cls.predictions.bias"};
}

void defineBert(GraphBuilder &g, const ModelConfig &config) {
  BertVariant variant{"bert.", bertMasked(), {"bert.pooler.dense", "classifier"}};
  variant.hasNextSentence = true;
  define(g, config, variant);
}

// All texts have the first type of task.
void defineErnie(GraphBuilder &g, const ModelConfig &config) {
  BertVariant variant{"ernie.", bertMasked(), {"ernie.pooler.dense", "classifier"}};
  variant.hasNextSentence = true;
  const int64_t tasks = config.integer("task_type_vocab_size", 3, ModelConfig::size);
  if (config.flag("use_task_id", false))
    variant.zeroInputs = {{"task_type_embeddings", tasks}};
  define(g, config, variant);
}

// The text of LayoutLM (arXiv 1912.13318): boxes of words, which are not among the inputs, are empty.
void defineLayoutLm(GraphBuilder &g, const ModelConfig &config) {
  BertVariant variant{"layoutlm.", bertMasked(), {"layoutlm.pooler.dense", "classifier"}};
  const int64_t rows = config.integer("max_2d_position_embeddings", 1024, ModelConfig::size);
  variant.zeroInputs = {{"x_position_embeddings", rows, 2},
                        {"y_position_embeddings", rows, 2},
                        {"h_position_embeddings", rows},
                        {"w_position_embeddings", rows}};
  define(g, config, variant);
}

static void refuseHeads(const ModelConfig &config, std::initializer_list<std::string_view> heads, const char *why) {
  for (const std::string &name : config.texts("architectures"))
    for (std::string_view head : heads)
      if (name.size() > head.size() && name.compare(name.size() - head.size(), head.size(), head) == 0)
        config.unsupported("architectures", "is '" + name + "', " + why);
}

// BigBird (arXiv 2007.14062). Its blocks serve texts that are longer than a few blocks; shorter ones see all of it.
void defineBigBird(GraphBuilder &g, const ModelConfig &config) {
  BertVariant variant{"bert.", bertMasked(), {"classifier.dense", "classifier.out_proj"}};
  variant.sizes.vocabulary = 50358;
  variant.activation = "gelu_new";
  variant.text.activation = config.activation("hidden_act", "gelu_new");
  variant.choice = {"bert.pooler", "classifier"};
  variant.inputBias = config.flag("use_bias", true);
  variant.isEmbeddingScaled = config.flag("rescale_embeddings", false);
  variant.sizes.positions = 4096;
  refuseHeads(config, {"ForQuestionAnswering"}, "whose head talc does not know");
  variant.usedPositions = config.denseBlockTokens().value_or(0);
  define(g, config, variant);
}

void defineMegatronBert(GraphBuilder &g, const ModelConfig &config) {
  BertVariant variant{"bert.", bertMasked(), {"bert.pooler.dense", "classifier"}};
  variant.sizes = {29056, 1024, 24, 16, 4096};
  variant.tableNorm = "";
  variant.layer.mixedNorm = "attention.ln";
  variant.layer.outerNorm = "ln";
  variant.lastNorm = "encoder.ln";
  variant.hasNextSentence = true;
  define(g, config, variant);
}

// The table of the masked head is another one.
void defineRemBert(GraphBuilder &g, const ModelConfig &config) {
  MaskedHead masked{"cls.predictions.dense", "cls.predictions.LayerNorm", "cls.predictions.decoder",
                    "cls.predictions.decoder.bias"};
  BertVariant variant{"rembert.", masked, {"rembert.pooler.dense", "classifier"}};
  variant.sizes = {250300, 1152, 32, 18, 4608, 256};
  variant.sizes.output = 1664;
  variant.sizes.tableKey = "input_embedding_size";
  variant.projection = "rembert.encoder.embedding_hidden_mapping_in";
  variant.alwaysProjects = true;
  define(g, config, variant);
}

void defineDistilBert(GraphBuilder &g, const ModelConfig &config) {
  MaskedHead masked{"vocab_transform", "vocab_layer_norm", "vocab_projector", "vocab_projector.bias"};
  BertVariant variant{"distilbert.", masked, {"pre_classifier", "classifier", Activation::Relu}};
  variant.choice = variant.text;
  variant.sizes.layers = 6;
  variant.hasTypes = variant.hasEpsilon = false;
  variant.layers = "transformer.layer";
  config.passOver({"tie_weights_"});
  variant.keys = {"dim", "n_layers", "n_heads", "hidden_dim", "activation"};
  variant.layer = {"attention.q_lin", "attention.k_lin", "attention.v_lin", "attention.out_lin",
                   "sa_layer_norm",   "ffn.lin1",        "ffn.lin2",        "output_layer_norm"};
  define(g, config, variant);
}

static MaskedHead robertaMasked() {
  return {"lm_head.dense", "lm_head.layer_norm", "lm_head.decoder", "lm_head.bias"};
}

// RoBERTa's heads and positions.
static BertVariant robertaVariant(const std::string &base, int64_t vocabulary) {
  BertVariant variant{base, robertaMasked(), {"classifier.dense", "classifier.out_proj"}};
  variant.sizes.vocabulary = vocabulary;
  variant.padding = 1;
  variant.afterPadding = variant.geluHead = true;
  return variant;
}

void defineRoberta(GraphBuilder &g, const ModelConfig &config) {
  define(g, config, robertaVariant("roberta.", 50265));
}

// I-BERT (arXiv 2101.01321), which files hold as it was before its layers became integers.
void defineIBert(GraphBuilder &g, const ModelConfig &config) {
  config.refuseFlag("quant_mode", "talc knows the family before quantization");
  config.passOver({"force_dequant"});
  define(g, config, robertaVariant("ibert.", 30522));
}

// The words of LUKE (arXiv 2010.01057), without entities.
void defineLuke(GraphBuilder &g, const ModelConfig &config) {
  BertVariant variant = robertaVariant("luke.", 50267);
  variant.text = {"luke.pooler.dense", "classifier"};
  refuseHeads(config, {"ForEntityClassification", "ForEntityPairClassification", "ForEntitySpanClassification"},
              "which is about entities; talc knows the words alone");
  config.passOver({"entity_vocab_size", "entity_emb_size", "use_entity_aware_attention", "cls_entity_prediction"});
  define(g, config, variant);
}

// SqueezeBERT (arXiv 2006.11316).
void defineSqueezeBert(GraphBuilder &g, const ModelConfig &config) {
  BertVariant variant{"transformer.", bertMasked(), {"transformer.pooler.dense", "classifier"}};
  variant.layers = "encoder.layers";
  variant.layer = {"attention.query",          "attention.key",       "attention.value", "post_attention.conv1d",
                   "post_attention.layernorm", "intermediate.conv1d", "output.conv1d",   "output.layernorm"};
  const int64_t width = config.integer("hidden_size", 768, ModelConfig::size);
  const int64_t inner = config.integer("intermediate_size", 3072, ModelConfig::size);
  if (config.integer("embedding_size", 768, ModelConfig::size) != width)
    config.unsupported("embedding_size", "is not hidden_size");
  auto count = [&](const char *key, int64_t fallback, int64_t inputs, int64_t outputs) {
    int64_t groups = config.integer(key, fallback, ModelConfig::headCount);
    if (inputs % groups != 0 || outputs % groups != 0)
      config.invalid(key, "does not divide the features of the layer");
    return groups;
  };
  variant.groups = {count("q_groups", 4, width, width),
                    count("k_groups", 4, width, width),
                    count("v_groups", 4, width, width),
                    count("post_attention_groups", 1, width, width),
                    count("intermediate_groups", 4, width, inner),
                    count("output_groups", 4, inner, width)};
  define(g, config, variant);
}

// Longformer (arXiv 2004.05150) without tokens that see all others, which some heads have.
void defineLongformer(GraphBuilder &g, const ModelConfig &config) {
  BertVariant variant = robertaVariant("longformer.", 30522);
  refuseHeads(config, {"ForSequenceClassification", "ForQuestionAnswering", "ForMultipleChoice"},
              "some of whose tokens see all others, which talc does not know");
  variant.windows = config.windows("attention_window", 512,
                                   config.integer("num_hidden_layers", variant.sizes.layers, ModelConfig::layerCount));
  for (double dilation : config.numbers("attention_dilation"))
    if (dilation != 1)
      config.unsupported("attention_dilation", "talc knows windows without gaps");
  config.passOver({"attention_mode", "onnx_export"});  // how programs compute windows
  define(g, config, variant);
}

namespace {

// X-MOD (arXiv 2205.06266): every layer has an adapter for each language, of which those of one are compiled.
struct Xmod : BertModel {
  Xmod(const ModelConfig &config, const BertVariant &variant) : BertModel(config, variant) {
    languages = config.texts("languages");
    if (languages.empty())
      languages = {"en_XX"};
    language = config.has("default_language") ? config.text("default_language", "") : "";
    if (std::find(languages.begin(), languages.end(), language) == languages.end())
      config.invalid("default_language", "is none of languages; name the language of the texts");
    inner = width / config.integer("adapter_reduction_factor", 2, {1, width});
    hasOwnNorm = config.flag("adapter_layer_norm", false);
    sharesNorm = config.flag("adapter_reuse_layer_norm", true);
    keepsNorm = config.flag("ln_before_adapter", true);
  }

  // The name of a tensor of the language's adapter. Those of the others have no use.
  std::string adapterName(GraphBuilder &g, const std::string &name) const {
    auto place = [&](const std::string &of) { return "output.adapter_modules." + of + "." + name; };
    for (const char *end : {".weight", ".bias"})
      for (const std::string &other : languages)
        if (other != language)
          g.storedName({place(language) + end, place(other) + end}, /*areTied=*/false);
    return place(language);
  }

  Tensor adapt(GraphBuilder &g, Tensor sum) const override {
    Tensor x = sum;
    if (hasOwnNorm || sharesNorm)
      x = g.layerNorm(x, hasOwnNorm ? "output.adapter_layer_norm" : "output.LayerNorm", epsilon);
    Tensor hidden = g.activation(g.linear(x, adapterName(g, "dense1"), inner), activation);
    return g.add(keepsNorm ? x : sum, g.linear(hidden, adapterName(g, "dense2"), width));
  }

  std::vector<std::string> languages;
  std::string language;
  int64_t inner;
  bool hasOwnNorm, sharesNorm, keepsNorm;
};

}  // namespace

void defineXmod(GraphBuilder &g, const ModelConfig &config) {
  BertVariant variant = robertaVariant("roberta.", 30522);
  if (config.flag("pre_norm", false))
    variant.lastNorm = "encoder.LayerNorm";
  Xmod model(config, variant);
  if (!config.failed())
    model.define(g);
}

void defineXlmRoberta(GraphBuilder &g, const ModelConfig &config) {
  define(g, config, robertaVariant("roberta.", 30522));
}

void defineCamembert(GraphBuilder &g, const ModelConfig &config) {
  define(g, config, robertaVariant("roberta.", 30522));
}

void defineData2VecText(GraphBuilder &g, const ModelConfig &config) {
  define(g, config, robertaVariant("data2vec_text.", 30522));
}

void defineRobertaPreLayerNorm(GraphBuilder &g, const ModelConfig &config) {
  BertVariant variant = robertaVariant("roberta_prelayernorm.", 50265);
  variant.layer.mixedNorm = "attention.LayerNorm";
  variant.layer.outerNorm = "intermediate.LayerNorm";
  variant.lastNorm = "LayerNorm";
  define(g, config, variant);
}

void defineXlmRobertaXl(GraphBuilder &g, const ModelConfig &config) {
  BertVariant variant = robertaVariant("roberta.", 250880);
  variant.sizes = {250880, 2560, 36, 32, 10240};
  variant.sizes.types = 1;
  variant.epsilon = 1e-5;
  variant.tableNorm = "";
  variant.layer.mixedNorm = "attention.self_attn_layer_norm";
  variant.layer.outerNorm = "LayerNorm";
  variant.lastNorm = "encoder.LayerNorm";
  define(g, config, variant);
}

// Encoders with rotary positions; their tensors have the names of the code that they were trained with.
static BertVariant rotaryVariant(const std::string &base, const MaskedHead &masked, const TextHead &text,
                                 double theta) {
  BertVariant variant{base, masked, text};
  variant.choice = {};
  variant.rope = RopeKeys{theta};
  variant.tableNorm = "emb_ln";
  variant.layers = "encoder.layers";
  variant.layer.mixedNorm = "norm1";
  variant.layer.outerNorm = "norm2";
  variant.layer.outer = "mlp.fc2";
  return variant;
}

void defineNomicBert(GraphBuilder &g, const ModelConfig &config) {
  MaskedHead masked = bertMasked();
  masked.norm = "cls.predictions.transform.layer_norm";
  BertVariant variant = rotaryVariant("nomic_bert.", masked, {"nomic_bert.pooler.dense", "classifier"}, 1000);
  variant.sizes.vocabulary = 30528;
  variant.activation = "silu";
  variant.headWidthKey = "head_dim";
  variant.attentionBias = variant.innerBias = variant.outerBias = false;
  variant.layer.packed = "attn.Wqkv";
  variant.layer.mixed = "attn.out_proj";
  variant.layer.inner = "mlp.fc11";
  variant.layer.gate = "mlp.fc12";
  define(g, config, variant);
}

void defineGte(GraphBuilder &g, const ModelConfig &config) {
  MaskedHead masked = robertaMasked();
  masked.norm = "lm_head.norm";
  BertVariant variant = rotaryVariant("gte.", masked, {"gte.pooler.dense", "classifier"}, 160000);
  variant.sizes.vocabulary = 250048;
  variant.sizes.types = 1;
  variant.geluHead = true;
  variant.innerBias = false;
  variant.tableNorm = "embeddings.LayerNorm";
  variant.layers = "encoder.layer";
  variant.layer.packed = "attention.qkv_proj";
  variant.layer.mixed = "attention.o_proj";
  variant.layer.mixedNorm = "attn_ln";
  variant.layer.pair = "mlp.up_gate_proj";
  variant.layer.outer = "mlp.down_proj";
  variant.layer.outerNorm = "mlp_ln";
  define(g, config, variant);
}

void defineJinaEmbeddingsV3(GraphBuilder &g, const ModelConfig &config) {
  TextHead text{"classifier.dense", "classifier.out_proj"};
  BertVariant variant = rotaryVariant("roberta.", robertaMasked(), text, 20000);
  variant.sizes = {250002, 1024, 24, 16, 4096};
  variant.sizes.types = 1;
  variant.epsilon = 1e-5;
  variant.geluHead = true;
  variant.layer.packed = "mixer.Wqkv";
  variant.layer.mixed = "mixer.out_proj";
  variant.layer.inner = "mlp.fc1";
  define(g, config, variant);
}

// Sinusoids turn neighboring features of queries and keys.
void defineRoFormer(GraphBuilder &g, const ModelConfig &config) {
  MaskedHead masked = bertMasked();
  TextHead text{"classifier.dense", "classifier.out_proj", config.activation("hidden_act", "gelu")};
  BertVariant variant{"roformer.", masked, text};
  variant.sizes.vocabulary = 50000;
  variant.sizes.table = config.integerOrNull("embedding_size", {}, ModelConfig::size)
                            .value_or(config.integer("hidden_size", 768, ModelConfig::size));
  variant.projection = "roformer.embeddings_project";
  variant.rope = RopeKeys{.thetaKey = nullptr};
  variant.turnsNeighbors = true;
  variant.choice = {};  // it reads the last token
  config.refuseFlag("rotary_value", "talc knows the family with values that are not turned");
  define(g, config, variant);
}

// The id of padding is a constant of the family's.
void defineMpnet(GraphBuilder &g, const ModelConfig &config) {
  BertVariant variant = robertaVariant("mpnet.", 30527);
  variant.ownPadding = variant.hasTypes = false;
  variant.distanceBias = true;
  variant.layer.query = "attention.attn.q";
  variant.layer.key = "attention.attn.k";
  variant.layer.value = "attention.attn.v";
  variant.layer.mixed = "attention.attn.o";
  variant.layer.mixedNorm = "attention.LayerNorm";
  define(g, config, variant);
}

void defineElectra(GraphBuilder &g, const ModelConfig &config) {
  MaskedHead masked{"generator_predictions.dense", "generator_predictions.LayerNorm", "generator_lm_head",
                    "generator_lm_head.bias"};
  BertVariant variant{"electra.", masked, {"classifier.dense", "classifier.out_proj", Activation::Gelu}};
  variant.sizes = {30522, 256, 12, 4, 1024, 128};
  variant.geluHead = true;
  variant.projection = "electra.embeddings_project";
  variant.discriminator = "discriminator_predictions";
  variant.choice = {"sequence_summary.summary", "classifier", Activation::Gelu};
  if (config.text("summary_type", "first") != "first" || !config.flag("summary_use_proj", true) ||
      config.text("summary_activation", "gelu") != "gelu")
    variant.choice = {};
  define(g, config, variant);
}

namespace {

// Layers lie in groups, and all layers of a group's turn use the same weights.
struct Albert : BertModel {
  Albert(const ModelConfig &config, const BertVariant &variant) : BertModel(config, variant) {
    groups = config.integer("num_hidden_groups", 1, {1, layers});
    inside = config.integer("inner_group_num", 1, ModelConfig::layerCount);
  }

  Tensor encode(GraphBuilder &g, Tensor x) const override {
    for (int64_t i = 0; i < layers; ++i) {
      const std::string group = variant.base + variant.layers + "." + std::to_string(i * groups / layers);
      x = g.repeat(group + ".albert_layers", inside, x, [&](Tensor x, int64_t number) { return layer(g, x, number); });
    }
    return x;
  }

  int64_t groups, inside;
};

}  // namespace

void defineAlbert(GraphBuilder &g, const ModelConfig &config) {
  MaskedHead masked{"predictions.dense", "predictions.LayerNorm", "predictions.decoder", "predictions.bias"};
  BertVariant variant{"albert.", masked, {"albert.pooler", "classifier"}};
  variant.choice = variant.text;
  variant.sizes = {30000, 4096, 12, 64, 16384, 128};
  variant.activation = "gelu_new";
  variant.projection = "albert.encoder.embedding_hidden_mapping_in";
  variant.alwaysProjects = true;
  config.passOver({"down_scale_factor", "gap_size", "net_structure_type", "num_memory_blocks"});  // of its first code
  variant.layers = "encoder.albert_layer_groups";
  variant.layer = {"attention.query",     "attention.key", "attention.value", "attention.dense",
                   "attention.LayerNorm", "ffn",           "ffn_output",      "full_layer_layer_norm"};
  Albert model(config, variant);
  if (!config.failed())
    model.define(g);
}

}  // namespace talc
