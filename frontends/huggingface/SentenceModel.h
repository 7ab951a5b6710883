// SPDX-License-Identifier: Apache-2.0
// Reads what sentence-transformers stores beside a model: how a text becomes one vector, and how a pair becomes a
// score.
#pragma once

#include "frontends/ModelAttributes.h"
#include "frontends/WeightSource.h"
#include "runtime/artifact/GenerationSettings.h"

#include <nlohmann/json_fwd.hpp>

#include <functional>
#include <memory>

namespace talc {

class ModelDirectory;
class Diagnostics;

// A module after pooling. Weights are those of a dense layer [outputs, inputs], or the scale of a norm.
struct SentenceLayer {
  std::string kind;  // dense, norm or normalize
  int64_t inputs, outputs;
  std::string activation = "none", residual = "none";  // residual: none, input or projection
  std::optional<WeightOrigin> weight = {}, bias = {}, projection = {};
};

struct SentenceModel {
  bool hasModules = false;                 // there is a modules.json
  std::vector<std::string> poolings = {};  // cls, mean, max, mean_sqrt_len_tokens, weightedmean, lasttoken; or none
  bool excludesPrompt = false;
  std::vector<SentenceLayer> layers = {};
  int64_t width = 0;  // of hidden states, as the module that pools says; 0: it does not

  int64_t maxTokens = 0;  // texts are cut to so many; 0: they are not
  bool cutsBegin = false;
  std::vector<std::pair<std::string, std::string>> prompts = {};  // name and text
  int64_t defaultPrompt = -1;
};

// Opens the weights of a module in a folder of the directory; null after an error.
using WeightOpener = std::function<std::unique_ptr<WeightSource>(const ModelDirectory &folder)>;

// The plain name of the folder with the model itself: config.json, weights and tokenizer, as modules.json says. Empty:
// the directory has these files. (SentenceModules.cpp)
std::string transformerFolder(const ModelDirectory &directory);

// modules.json and the configurations of its modules. Modules and options that talc cannot compute are refused. Without
// the file the pooling is mean, as sentence-transformers assumes for such a model. (SentenceModules.cpp)
SentenceModel readSentenceModules(const ModelDirectory &directory, const WeightOpener &open, Diagnostics &diagnostics);

// Prompts, and lengths of texts, which the folder of the Transformer says. A text can have at most `positions` tokens.
// Only models of sentence-transformers cut texts: cross-encoders, and those whose files say so. (SentenceTexts.cpp)
void readSentenceTexts(const ModelDirectory &directory, const ModelDirectory &transformer, int64_t positions,
                       bool isCrossEncoder, SentenceModel &model, Diagnostics &diagnostics);

// What the logits of a cross-encoder become, from the three places where its activation may stand; nothing for another
// model. (CrossEncoder.cpp)
std::optional<artifact::ClassScores>
readCrossEncoderScores(const ModelDirectory &directory, const nlohmann::json &modelConfig, Diagnostics &diagnostics);

// The value of talc.pooling. A model without hidden states has none of its own, but may have prompts and a length;
// without these the result is null. (SentenceAttribute.cpp)
mlir::Attribute poolingAttribute(const SentenceModel &model, bool hasHidden, mlir::MLIRContext &context);

}  // namespace talc
