// SPDX-License-Identifier: Apache-2.0
// Where the configuration of a model comes from.
//
// Families ask for what they need by the keys of transformers' config.json, which all of them share. A source answers
// from whatever its files call these things, and messages say what they are called there:
//
//   ModelConfig::integer("num_hidden_layers")   config.json    key 'num_hidden_layers'
//                                               another file   what holds the number of layers there
#pragma once

#include <nlohmann/json_fwd.hpp>

#include <string>

namespace talc {

class ConfigSource {
public:
  virtual ~ConfigSource() = default;

  // The value of a key; null: the files do not say. Lives as long as the source. An object may be made for the purpose,
  // such as rope_scaling.
  virtual const nlohmann::json *find(const std::string &key) const = 0;

  // Where that value stands or would stand, as a message begins: "config.json: key 'n_layer'". `key` may lead into an
  // object: "rope_scaling.factor".
  virtual std::string place(const std::string &key) const = 0;
};

}  // namespace talc
