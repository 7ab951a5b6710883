// SPDX-License-Identifier: Apache-2.0
// Knows names of tensors without a use.
#include "frontends/huggingface/Checkpoint.h"

#include "llvm/ADT/STLExtras.h"

namespace talc {

static bool isBuffer(llvm::StringRef name, size_t rank) {
  if ((name.ends_with("attn.bias") || name.ends_with("attention.bias")) && rank == 4)
    return true;
  if (name.contains("rotary_emb") && (name.ends_with("_cached") || name.ends_with("inv_freq")))
    return true;
  for (const char *end :
       {".masked_bias", "position_ids", "token_type_ids", "embed_positions.weights", "embed_positions.weight",
        "EncDecAttention.relative_attention_bias.weight", "num_batches_tracked", ".weight_integer", ".bias_integer",
        ".fc_scaling_factor", ".weight_scaling_factor", ".act_scaling_factor", "LayerNorm.shift", ".x_min", ".x_max"})
    if (name.ends_with(end))
      return true;
  return false;
}

// Parts that see entities (LUKE), all tokens (Longformer) or contacts (ESM), which models of words and windows lack.
static bool isOfOtherAttention(llvm::StringRef name) {
  for (const char *part : {".query_global.", ".key_global.", ".value_global.", ".w2e_query.", ".e2w_query.",
                           ".e2e_query.", "entity_embeddings.", "entity_predictions.", "contact_head."})
    if (name.contains(part))
      return true;
  return false;
}

// The module of a head to which a tensor belongs; empty if it belongs to none.
static llvm::StringRef headModule(llvm::StringRef name) {
  static constexpr llvm::StringRef heads[] = {"lm_head.",
                                              "cls.predictions.",
                                              "cls.seq_relationship.",
                                              "predictions.",
                                              "sop_classifier.",
                                              "vocab_transform.",
                                              "vocab_layer_norm.",
                                              "vocab_projector.",
                                              "generator_predictions.",
                                              "generator_lm_head.",
                                              "discriminator_predictions.",
                                              "pre_classifier.",
                                              "classifier.",
                                              "qa_outputs.",
                                              "score.",
                                              "head.",
                                              "decoder.",
                                              "classification_head.",
                                              "v_head.",
                                              "multiple_choice_head."};
  auto module = llvm::find_if(heads, [&](llvm::StringRef head) { return name.starts_with(head); });
  return module == std::end(heads) ? llvm::StringRef() : *module;
}

// Layers that predict further tokens (multi-token prediction): they alone mix the embedding of the next token in.
bool Checkpoint::isOfPrediction(llvm::StringRef name) const {
  auto [place, rest] = name.split(".layers.");
  const std::string layer = (place + ".layers." + rest.split('.').first).str();
  return !rest.empty() && tensors.count(layer + ".eh_proj.weight") > 0;
}

bool Checkpoint::isLeftover(const std::string &stored, size_t rank) const {
  llvm::StringRef name = stored;
  if (isBuffer(name, rank) || isOfOtherAttention(name) || isOfPrediction(name) || name.starts_with("pooler.") ||
      name.contains(".pooler."))
    return true;
  llvm::StringRef head = headModule(name);
  return !head.empty() && llvm::none_of(used, [&](llvm::StringRef other) { return other.starts_with(head); });
}

}  // namespace talc
