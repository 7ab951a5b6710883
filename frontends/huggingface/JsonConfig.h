// SPDX-License-Identifier: Apache-2.0
// config.json and generation_config.json: objects with the keys that families look up.
#pragma once

#include "frontends/ConfigSource.h"

#include <string>

namespace talc {

class JsonConfig : public ConfigSource {
public:
  // Keeps a reference to `object`. `file` is its name in messages.
  JsonConfig(const nlohmann::json &object, std::string file) : object(object), file(std::move(file)) {}

  // The name that all models of transformers have in common for a key of some families; null if there is none. A
  // configuration may have it instead.
  static const char *generalName(const std::string &key);

  const nlohmann::json *find(const std::string &key) const override;
  std::string location(const std::string &key) const override;

private:
  const nlohmann::json &object;
  std::string file;
};

}  // namespace talc
