// SPDX-License-Identifier: Apache-2.0
// Typed access to a model's configuration. An absent key takes the default of the model's class in transformers.
//
// A wrong value is reported as an error with its key, the value and the expectation. Then the default is returned, so
// that a family can read its whole configuration and call failed() once.
#pragma once

#include "frontends/ConfigSource.h"
#include "frontends/Layers.h"

#include <array>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace talc {

class Diagnostics;
enum class ImportError;

// The keys of a family's rotary embedding, and their default values.
struct RopeKeys {
  double theta = 10000;
  double share = 1;       // of a head's features that are rotated
  bool hasShare = false;  // the family reads another share from the key; others do only where positions are scaled
  const char *thetaKey = "rope_theta", *shareKey = "partial_rotary_factor";
  int64_t original = 0;                         // the original context length; 0: max_position_embeddings
  bool ownScaling = false;                      // rope_scaling is for layers of another type
  bool isByType = true;                         // rope_parameters may have an object for each type of layer
  std::array<std::string_view, 2> others = {};  // keys beside the usual ones, which the family reads itself
};

class ModelConfig {
public:
  struct Range {
    int64_t minimum, maximum;
  };
  // Bounds that keep every product of sizes below 2^63.
  static constexpr Range layerCount{1, 4096}, headCount{1, 65536}, size{1, 1 << 24}, positionCount{1, INT32_MAX};

  // Keeps references to both.
  ModelConfig(const ConfigSource &source, Diagnostics &diagnostics) : source(source), diagnostics(diagnostics) {}

  int64_t integer(const char *key, int64_t fallback, Range range) const;
  // Like integer, for keys that may be null.
  std::optional<int64_t> integerOrNull(const char *key, std::optional<int64_t> fallback, Range range) const;
  // A finite number > 0.
  double positive(const char *key, double fallback) const;
  // A finite number from `least` to `most`.
  double number(const char *key, double fallback, double minimum, double maximum) const;
  // Null means false if that is the default, as in Python.
  bool flag(const char *key, bool fallback) const;
  std::string text(const char *key, const std::string &fallback) const;
  std::vector<std::string> texts(const char *key) const;
  // A list of pairs of a list of strings and how often it repeats: [[["a", "b"], 2]] yields a, b, a, b.
  std::vector<std::string> repeatedTexts(const char *key) const;
  std::vector<double> numbers(const char *key) const;
  std::vector<bool> flags(const char *key) const;
  // Longformer's windows: an even number, or one for each layer. A token sees those at a smaller distance than what
  // this returns.
  std::vector<int64_t> windows(const char *key, int64_t fallback, int64_t layers) const;
  // Tokens of a text whose blocks BigBird's attention lets see each other, all of them; none: texts of any length.
  std::optional<int64_t> denseBlockTokens() const;
  // A token id, a list of them, or null (an empty list). `fallback` if absent. -1 stands for none.
  std::vector<int64_t> tokens(const char *key, const std::vector<int64_t> &fallback) const;
  // A list of lists of token ids; empty if absent or null.
  std::vector<std::vector<int64_t>> tokenLists(const char *key) const;
  // The token that begins the text of an encoder-decoder, and the first one that ends a text.
  int64_t startToken(int64_t fallback) const;
  int64_t endToken(int64_t fallback) const;
  Activation activation(const char *key, const std::string &fallback) const;
  // The activation function of this name, which is the value of `key`.
  Activation activationNamed(const char *key, const std::string &name) const;
  // The rotary position embedding of heads of width `headWidth` in layers of type `layerType` ("full_attention" or
  // "sliding_attention"), from rope_parameters (transformers 5) or rope_theta and rope_scaling (transformers 4).
  Rope rope(int64_t headWidth, const std::string &layerType, const RopeKeys &keys) const;

  // The configuration in the object that a key holds; none if it is absent, null, or no object, which is reported.
  std::optional<ModelConfig> inner(const std::string &key) const;

  bool isNull(const char *key) const;
  bool isText(const char *key) const;
  bool isFlag(const char *key) const;
  bool has(const char *key) const;     // and is not null
  bool isNone(const char *key) const;  // -1, as programs other than transformers write it
  // Marks keys as read that the family has, but that change nothing beside the values of others.
  void passOver(std::initializer_list<const char *> keys) const { lookedUp.insert(keys.begin(), keys.end()); }
  // Marks a key of other families as read if it says what this one computes anyway.
  void passOver(const char *key, int64_t value) const;
  void passOverFlag(const char *key, bool value) const;
  // Marks a key as read whose value is that of another key.
  void passOver(const char *key, const char *other) const;
  // The keys that have been looked up.
  const std::set<std::string> &readKeys() const { return lookedUp; }
  // Reports all keys except these, in a configuration in which every key changes the computation.
  void refuseOthers(std::initializer_list<std::string_view> keys) const;
  // Reports that talc cannot compute what a key asks for, or that its value contradicts others.
  void unsupported(const std::string &key, const std::string &reason) const;
  void invalid(const std::string &key, const std::string &reason) const;
  // Reports that the value of a key, which is there, is of another type.
  void mistyped(const std::string &key, const std::string &expected) const;
  // The index of the model's head in `heads`, by architectures[0], which is the name of the model_type and then that of
  // the head: "LlamaForCausalLM"; 0 if the configuration names none. Reports other names.
  size_t head(std::initializer_list<std::string_view> heads) const;
  // The names of the classes: id2label, or as many as num_labels says.
  std::vector<std::string> labels() const;
  // A name in architectures that does not begin with that of the model_type.
  void knowClass(std::string_view name) { otherClass = name; }
  // Reports a key that is true, which talc does not support.
  void refuseFlag(const char *key, const std::string &reason) const;
  // Reports a head count that does not divide the width.
  void requireDivides(const char *headsKey, int64_t heads, const char *widthKey, int64_t width) const;
  bool failed() const;

private:
  const nlohmann::json *find(const char *key) const;  // which marks the key as read
  const nlohmann::json *peek(const char *key) const;
  void wrong(ImportError code, const std::string &key, const nlohmann::json &found, const std::string &expected) const;
  std::optional<ModelConfig> ropeParameters(const std::string &layerType, const RopeKeys &keys) const;
  void refuseOtherRopeKeys(const RopeKeys &keys) const;
  void readScaling(Rope &rope, const ModelConfig &parameters, const RopeKeys &keys) const;
  double scalingFactor(const ModelConfig &parameters) const;
  int64_t originalPositions(const ModelConfig &parameters, int64_t fallback) const;
  Llama3Scaling llama3Scaling(const ModelConfig &parameters, int64_t original) const;
  YarnScaling yarnScaling(const ModelConfig &parameters, int64_t original) const;
  LongScaling longScaling(const ModelConfig &parameters, int64_t original, int64_t rotary) const;

  const ConfigSource &source;
  const nlohmann::json *object = nullptr;  // the object with the keys; null: the source itself
  std::string prefix;                      // of keys in that object: its name and a dot
  std::string_view otherClass;
  mutable std::set<std::string> lookedUp;
  Diagnostics &diagnostics;
};

}  // namespace talc
