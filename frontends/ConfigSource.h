// SPDX-License-Identifier: Apache-2.0
// The interface to the files that hold a model's configuration.
//
// Families look up values by the keys of transformers' config.json. A source translates these keys to those of its own
// files, and messages use the latter:
//
//   ModelConfig::integer("num_hidden_layers")   config.json    key 'num_hidden_layers'
//                                               GGUF file      key 'llama.block_count'
#pragma once

#include <nlohmann/json_fwd.hpp>

#include <string>

namespace talc {

class ConfigSource {
public:
  virtual ~ConfigSource() = default;

  // The value of a key; null if the files have none. It lives as long as the source, which may create objects such as
  // rope_scaling.
  virtual const nlohmann::json *find(const std::string &key) const = 0;

  // The location of a value, for the beginning of a message: "config.json: key 'n_layer'". `key` may lead into an
  // object: "rope_scaling.factor".
  virtual std::string location(const std::string &key) const = 0;
};

}  // namespace talc
