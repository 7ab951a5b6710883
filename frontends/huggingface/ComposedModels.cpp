// SPDX-License-Identifier: Apache-2.0
// Models of texts and pictures: talc compiles the part for texts, whose configuration stands in an object of
// its own. Positions in pictures, which texts do not have, are dropped: every token of a text has one number for all
// its axes.
#include "frontends/huggingface/HuggingFace.h"

#include "frontends/Diagnostics.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringRef.h"

#include <nlohmann/json.hpp>

namespace talc {

using nlohmann::json;

namespace {

struct ComposedModel {
  llvm::StringRef modelType, texts;  // the model_type of the part for texts, unless its configuration names it
  bool isTied = false;               // the default of tie_word_embeddings, which is a key of the whole
};

constexpr ComposedModel composedModels[] = {
    {"aria", "aria_text"},
    {"deepseek_vl", "llama", /*isTied=*/true},
    {"fuyu", "persimmon"},
    {"gemma3", "gemma3_text", /*isTied=*/true},
    {"glm4v", "glm4v_text"},
    {"glm4v_moe", "glm4v_moe_text"},
    {"got_ocr2", "qwen2", /*isTied=*/true},
    {"idefics3", "llama"},
    {"internvl", "qwen2", /*isTied=*/true},
    {"lighton_ocr", "qwen3", /*isTied=*/true},
    {"llama4", "llama4_text"},
    {"llava", "llama"},
    {"llava_next", "llama"},
    {"llava_next_video", "llama"},
    {"llava_onevision", "qwen2"},
    {"mistral3", "mistral", /*isTied=*/true},
    {"qwen2_5_vl", "qwen2_5_vl_text"},
    {"qwen2_vl", "qwen2_vl_text"},
    {"qwen3_vl", "qwen3_vl_text"},
    {"smolvlm", "llama"},
    {"video_llava", "llama"},
    {"vipllava", "llama"},
};

// A part for texts that is a known family, but for these defaults (JSON).
struct TextPart {
  llvm::StringRef modelType, family, defaults;
};

constexpr llvm::StringRef qwen2Defaults =
    R"({"vocab_size": 152064, "hidden_size": 8192, "intermediate_size": 29568, "num_hidden_layers": 80,
        "num_attention_heads": 64, "num_key_value_heads": 8, "rms_norm_eps": 1e-5, "max_window_layers": 80,
        "rope_theta": 1000000.0})";
constexpr TextPart textParts[] = {
    {"glm4v_text", "glm4", R"({"max_position_embeddings": 32768, "rms_norm_eps": 1e-5, "head_dim": null})"},
    {"glm4v_moe_text", "glm4_moe",
     R"({"vocab_size": 151424, "max_position_embeddings": 65536, "attention_bias": true})"},
    {"qwen2_5_vl_text", "qwen2", qwen2Defaults},
    {"qwen2_vl_text", "qwen2", qwen2Defaults},
    {"qwen3_vl_text", "qwen3", R"({"max_position_embeddings": 128000, "rope_theta": 500000.0})"},
};

// Keys of the whole that are about the other part.
bool isOther(llvm::StringRef key) {
  constexpr llvm::StringRef beginnings[] = {"image_", "video_", "audio_",      "vision_",
                                            "vq_",    "mm_",    "multimodal_", "projector_"};
  constexpr llvm::StringRef names[] = {
      "downsample_ratio",   "ignore_index", "patch_size",   "scale_factor",  "use_image_newline_parameter",
      "spatial_merge_size", "num_patches",  "num_channels", "vocabulary_map"};
  return llvm::any_of(beginnings, [&](llvm::StringRef begin) { return key.starts_with(begin); }) ||
         llvm::is_contained(names, key);
}

// Files since 2025 have the keys of texts in an object; before that, Qwen-VL had them beside the others.
json separateTexts(const json &whole) {
  json result = json::object(), texts = whole.value("text_config", json::object());
  for (const auto &[key, value] : whole.items())
    if (key != "text_config" && !isOther(key))
      result[key] = value;
  texts.erase("architectures");
  result.update(texts);
  return result;
}

// Axes of positions in pictures.
void dropAxes(json &texts) {
  for (const char *key : {"rope_scaling", "rope_parameters"}) {
    if (!texts.contains(key) || !texts[key].is_object())
      continue;
    json &rope = texts[key];
    rope.erase("mrope_section");
    rope.erase("mrope_interleaved");
    for (const char *type : {"type", "rope_type"})
      if (rope.value(type, json()) == "mrope")
        rope[type] = "default";
  }
}

// A class of the whole becomes the family's own, and any other one is left, which the family refuses.
void renameClass(json &texts) {
  auto classes = texts.find("architectures");
  if (classes == texts.end() || !classes->is_array() || classes->size() != 1 || !classes->front().is_string())
    return;
  const auto name = classes->front().get<std::string>();
  if (llvm::StringRef(name).ends_with("ForConditionalGeneration") || llvm::StringRef(name).ends_with("ForCausalLM"))
    texts.erase(classes);
}

}  // namespace

bool takeTexts(json &object, Diagnostics &diagnostics) {
  const json type = object.value("model_type", json());
  auto model = llvm::find_if(composedModels, [&](const ComposedModel &one) { return type == one.modelType.str(); });
  bool isFlat = model != std::end(composedModels) && model->modelType.starts_with("qwen2") &&
                object.contains("hidden_size") && !object.contains("text_config");
  if (model == std::end(composedModels) || (!isFlat && !object.value("text_config", json()).is_object()))
    return false;
  json texts = separateTexts(object);
  const bool isNamed = !isFlat && object["text_config"].contains("model_type");
  const json named = isNamed ? object["text_config"]["model_type"] : json(model->texts.str());
  texts["model_type"] = named;
  texts["tie_word_embeddings"] = object.value("tie_word_embeddings", json(model->isTied));
  for (const TextPart &part : textParts)
    if (named == part.modelType.str()) {
      json whole = json::parse(part.defaults);
      whole.update(texts);
      texts = std::move(whole);
      texts["model_type"] = part.family.str();
      dropAxes(texts);
    }
  renameClass(texts);
  object = std::move(texts);
  diagnostics.warning("config.json: is of a model of texts and pictures; talc compiles the part for texts");
  return true;
}

}  // namespace talc
