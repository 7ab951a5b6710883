// SPDX-License-Identifier: Apache-2.0
// Looks keys up in an object, also under the names that all models of transformers have in common.
#include "frontends/huggingface/JsonConfig.h"

#include "llvm/ADT/StringSwitch.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace talc {

const char *JsonConfig::generalName(const std::string &key) {
  return llvm::StringSwitch<const char *>(key)
      .Cases({"n_embd", "dim", "d_model"}, "hidden_size")
      .Cases({"n_layer", "n_layers", "num_layers"}, "num_hidden_layers")
      .Cases({"n_head", "n_heads", "num_heads", "encoder_attention_heads"}, "num_attention_heads")
      .Case("encoder_layers", "num_hidden_layers")
      .Case("n_positions", "max_position_embeddings")
      .Case("d_kv", "head_dim")
      .Default(nullptr);
}

const nlohmann::json *JsonConfig::find(const std::string &key) const {
  auto it = object.find(key);
  if (const char *general = it == object.end() ? generalName(key) : nullptr)
    it = object.find(general);
  return it == object.end() ? nullptr : &*it;
}

std::string JsonConfig::location(const std::string &key) const {
  const char *general = object.contains(key) ? nullptr : generalName(key);
  return fmt::format("{}: key '{}'", file, general && object.contains(general) ? general : key);
}

}  // namespace talc
