// SPDX-License-Identifier: Apache-2.0
// The metadata of a GGUF model as the configuration that families read.
#pragma once

#include "frontends/ConfigSource.h"
#include "frontends/gguf/GgufArchitectures.h"
#include "frontends/gguf/GgufModel.h"

#include <nlohmann/json.hpp>

#include <map>
#include <string>
#include <vector>

namespace talc {

class GgufConfig : public ConfigSource {
public:
  // Keeps references to both.
  GgufConfig(const GgufModel &model, const GgufArchitecture &architecture);

  const nlohmann::json *find(const std::string &key) const override;
  std::string location(const std::string &key) const override;

  // Reads the scaling of rotary frequencies from its tensor, if there is one.
  void readRopeFactors(Diagnostics &diagnostics);
  // Reports missing required keys, and unknown keys that may change the computation.
  void check(Diagnostics &diagnostics) const;

  // The head width of queries and keys; 0 if the metadata are too damaged to tell.
  int64_t headWidth() const;

private:
  const nlohmann::json *ofArchitecture(const std::string &key) const;
  int64_t count(const std::string &key) const;
  void answer(const std::string &key, nlohmann::json value, const std::string &source);
  void answerFromTensors();
  void answerClasses();
  void answerWindows();
  void answerLatent();
  void answerRope();
  void answerAlibi();
  void answerLayers();
  std::vector<float> readFactors(const GgufModel::Tensor &tensor, Diagnostics &diagnostics) const;
  void readLongFactors(Diagnostics &diagnostics);
  void checkCounts(Diagnostics &diagnostics) const;

  const GgufModel &model;
  const GgufArchitecture &architecture;
  std::map<std::string, nlohmann::json> answers;  // by key of config.json
  std::map<std::string, std::string> sources;     // the key or tensor that each comes from
};

}  // namespace talc
