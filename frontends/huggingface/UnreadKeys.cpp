// SPDX-License-Identifier: Apache-2.0
// Tells keys of config.json that change what is computed from those that do not.
//
// A key that talc does not read may mean that the model computes something else than talc. So it is refused unless it
// is known to be without a meaning: settings of training, of generation (which GenerationConfig reads), of the
// library's outputs, and notes of the programs that wrote the file.
#include "frontends/ModelConfig.h"
#include "frontends/huggingface/HuggingFace.h"
#include "frontends/huggingface/JsonConfig.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/ADT/StringSet.h"

#include <nlohmann/json.hpp>

namespace talc {

using nlohmann::json;

// Names that begin or end like this belong to training, to single tokens, or to heads that have no tensors here.
constexpr llvm::StringRef knownBeginnings[] = {"_",       "sbert_",  "summary_", "initializer_",
                                               "pooler_", "vision_", "audio_"};
constexpr llvm::StringRef knownEnds[] = {"dropout",   "dropout_prob", "dropout_rate", "_pdrop",     "layerdrop",
                                         "_token_id", "_token_ids",   "_token_index", "loss_coef",  "loss_weight",
                                         "init_std",  "loss_alpha",   "_loss_type",   "norm_moment"};

static const llvm::StringSet<> &keysWithoutMeaning() {
  static const llvm::StringSet<> keys = {
      // the file and its programs
      "architectures", "auto_map", "custom_pipelines", "finetuning_task", "id2label", "label2id", "language",
      "model_type", "name_or_path", "num_labels", "prefix", "problem_type", "quantization_config", "compression_config",
      "task_specific_params", "tokenizer_class", "tokenizer_name", "transformers.js_config", "transformers_version",
      "sentence_transformers", "tokenizer_padding_side", "tokenizer_model_max_length", "model_max_length",
      "unsloth_fixed", "unsloth_version", "verbose", "is_llama_config", "text_config", "is_encoder_decoder",
      "is_decoder", "is_causal",
      // types, memory and outputs
      "attn_implementation", "cache_implementation", "chunk_size_feed_forward", "deterministic_flash_attn", "dtype",
      "gradient_checkpointing", "init_device", "output_attentions", "output_hidden_states", "output_past",
      "output_router_logits", "pretraining_tp", "reference_compile", "reorder_and_upcast_attn",
      "repad_logits_with_grad", "return_dict", "slow_but_exact", "sparse_pred_ignore_index", "sparse_prediction",
      "tf_legacy_loss", "torch_dtype", "torchscript", "use_bfloat16", "use_cache", "ep_size", "use_flash_attn",
      "use_flash_attention", "use_flash_attention_2", "attention_softmax_in_fp32", "scale_attention_softmax_in_fp32",
      "masked_softmax_fusion", "bias_dropout_fusion",
      // training
      "embedding_fraction", "init_config", "router_jitter_noise", "seq_aux", "num_nextn_predict_layers",
      "num_mtp_layers", "predict_special_tokens", "tie_encoder_decoder",
      // generation
      "generation_config", "cache_config", "low_memory", "return_legacy_cache", "prefill_chunk_size", "compile_config",
      "disable_compile", "is_assistant", "num_assistant_tokens", "num_assistant_tokens_schedule",
      "assistant_confidence_threshold", "assistant_lookbehind", "target_lookbehind", "assistant_early_exit",
      "prompt_lookup_num_tokens", "max_matching_ngram_size", "output_logits", "remove_invalid_values",
      "return_dict_in_generate", "output_scores", "force_bos_token_to_be_generated",
      // what other keys say
      "extra_pos_embeddings", "initial_context_length", "learned_pos_emb", "max_seq_len", "mm_tokens_per_image",
      "max_sequence_length", "n_ctx", "original_max_position_embeddings", "qk_head_dim", "seq_length",
      "experts_per_token", "directionality", "order_of_interleaved_layers", "layer_switch"};
  return keys;
}

// Whether a value turns its key off.
static bool isNeutral(llvm::StringRef key, const json &value) {
  static const llvm::StringSet<> factors = {"attention_multiplier",  "embedding_multiplier", "full_attn_mod",
                                            "interpolate_factor",    "logit_scale",          "logits_scaling",
                                            "partial_rotary_factor", "residual_multiplier",  "rotary_pct"};
  static const llvm::StringSet<> flags = {"use_embedding_sharing", "use_gated_activation", "use_parallel_block",
                                          "scale_attn_weights", "rotary"};
  bool isOff = value.is_null() || value == false || value == "" || (value.is_structured() && value.empty());
  return isOff || (factors.contains(key) && value == 1) || (flags.contains(key) && value == true);
}

static bool hasNoMeaning(llvm::StringRef key) {
  return keysWithoutMeaning().contains(key) ||
         llvm::any_of(knownBeginnings, [&](llvm::StringRef begin) { return key.starts_with(begin); }) ||
         llvm::any_of(knownEnds, [&](llvm::StringRef end) { return key.ends_with(end); });
}

void refuseUnreadKeys(const ModelConfig &config, const json &object) {
  std::set<std::string> readKeys = config.readKeys();
  for (const std::string &key : config.readKeys())
    if (const char *general = JsonConfig::generalName(key))
      readKeys.insert(general);
  for (const auto &[key, value] : object.items())
    if (!readKeys.count(key) && !isNeutral(key, value) && !hasNoMeaning(key) && !isGenerationKey(key))
      config.unsupported(key,
                         "may change what is computed, and talc does not know it for this model_type; if it changes "
                         "nothing, add --unused=allow");
}

}  // namespace talc
