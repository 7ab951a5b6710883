// SPDX-License-Identifier: Apache-2.0
// Reads and checks the values of a configuration.
#include "frontends/ModelConfig.h"

#include "frontends/Json.h"
#include "runtime/artifact/GenerationSettings.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace talc {

using nlohmann::json;

//===--- errors -------------------------------------------------------------------------------------------------===//

void ModelConfig::wrong(ImportError code, const std::string &key, const json &found,
                        const std::string &expected) const {
  diagnostics.error(code,
                    fmt::format("{} is {}, expected {}", source.location(prefix + key), jsonText(found), expected));
}

void ModelConfig::unsupported(const std::string &key, const std::string &reason) const {
  diagnostics.error(ImportError::ConfigUnsupported, source.location(prefix + key) + ": " + reason);
}

void ModelConfig::invalid(const std::string &key, const std::string &reason) const {
  diagnostics.error(ImportError::ConfigValue, source.location(prefix + key) + ": " + reason);
}

void ModelConfig::mistyped(const std::string &key, const std::string &expected) const {
  wrong(ImportError::ConfigType, key, *find(key.c_str()), expected);
}

void ModelConfig::refuseFlag(const char *key, const std::string &reason) const {
  if (flag(key, false))
    unsupported(key, "is true; " + reason);
}

// Whether a class, without its head, is that of a model_type: "XLMRoberta" is "xlm-roberta".
static bool isClass(llvm::StringRef name, llvm::StringRef modelType) {
  auto letters = [](llvm::StringRef text) {
    std::string result;
    std::copy_if(text.begin(), text.end(), std::back_inserter(result), llvm::isAlnum);
    return result;
  };
  return llvm::StringRef(letters(name)).equals_insensitive(letters(modelType));
}

size_t ModelConfig::head(std::initializer_list<std::string_view> heads) const {
  std::vector<std::string> architectures = texts("architectures");
  if (architectures.empty())
    return 0;
  const std::string &name = architectures.front(), type = text("model_type", "");
  auto isKnown = [&](llvm::StringRef rest) {
    llvm::StringRef other = otherClass;
    return isClass(rest, type) ||
           (!other.empty() && llvm::any_of(heads, [&](llvm::StringRef head) { return other == (rest + head).str(); }));
  };
  for (const std::string_view &head : heads)
    if (llvm::StringRef rest = name; rest.consume_back(head) && isKnown(rest))
      return &head - heads.begin();
  unsupported("architectures", fmt::format("is {}, expected the name of the model_type {}, then {}", quotedText(name),
                                           quotedText(type), fmt::join(heads, " or ")));
  return 0;
}

void ModelConfig::refuseOthers(std::initializer_list<std::string_view> keys) const {
  if (object)
    for (const auto &[key, value] : object->items())
      if (std::find(keys.begin(), keys.end(), key) == keys.end())
        unsupported(key, fmt::format("is unknown; talc knows {}", fmt::join(keys, ", ")));
}

void ModelConfig::requireDivides(const char *headsKey, int64_t heads, const char *widthKey, int64_t width) const {
  if (width % heads != 0)
    invalid(headsKey, fmt::format("{} heads do not divide {} = {}", heads, widthKey, width));
}

bool ModelConfig::failed() const {
  return diagnostics.failed();
}

//===--- values -------------------------------------------------------------------------------------------------===//

const json *ModelConfig::find(const char *key) const {
  lookedUp.insert(key);
  return peek(key);
}

const json *ModelConfig::peek(const char *key) const {
  if (!object)
    return source.find(key);
  auto it = object->find(key);
  return it == object->end() ? nullptr : &*it;
}

void ModelConfig::passOver(const char *key, int64_t value) const {
  const json *given = peek(key);
  if (given && *given == value)
    lookedUp.insert(key);
}

void ModelConfig::passOverFlag(const char *key, bool value) const {
  const json *given = peek(key);
  if (given && *given == value)
    lookedUp.insert(key);
}

void ModelConfig::passOver(const char *key, const char *other) const {
  const json *given = peek(key), *same = peek(other);
  if (given && same && *given == *same)
    lookedUp.insert(key);
}

bool ModelConfig::isNull(const char *key) const {
  const json *value = find(key);
  return value && value->is_null();
}

bool ModelConfig::isText(const char *key) const {
  const json *value = find(key);
  return value && value->is_string();
}

bool ModelConfig::isFlag(const char *key) const {
  const json *value = find(key);
  return value && value->is_boolean();
}

bool ModelConfig::has(const char *key) const {
  const json *value = find(key);
  return value && !value->is_null();
}

bool ModelConfig::isNone(const char *key) const {
  const json *value = find(key);
  return value && *value == -1;
}

int64_t ModelConfig::integer(const char *key, int64_t fallback, Range range) const {
  const json *value = find(key);
  if (!value)
    return fallback;
  std::string expected = fmt::format("an integer from {} to {}", range.minimum, range.maximum);
  if (!value->is_number_integer())
    wrong(ImportError::ConfigType, key, *value, expected);
  else if (value->is_number_unsigned() && value->get<uint64_t>() > INT64_MAX)
    wrong(ImportError::ConfigValue, key, *value, expected);
  else if (value->get<int64_t>() < range.minimum || value->get<int64_t>() > range.maximum)
    wrong(ImportError::ConfigValue, key, *value, expected);
  else
    return value->get<int64_t>();
  return fallback;
}

std::optional<int64_t> ModelConfig::integerOrNull(const char *key, std::optional<int64_t> fallback, Range range) const {
  const json *value = find(key);
  if (!value)
    return fallback;
  if (value->is_null())
    return std::nullopt;
  return integer(key, range.minimum, range);
}

double ModelConfig::number(const char *key, double fallback, double minimum, double maximum) const {
  const json *value = find(key);
  if (!value)
    return fallback;
  std::string expected = fmt::format("a number from {} to {}", minimum, maximum);
  if (!value->is_number())
    wrong(ImportError::ConfigType, key, *value, expected);
  else if (double number = value->get<double>(); !(number >= minimum && number <= maximum))
    wrong(ImportError::ConfigValue, key, *value, expected);
  else
    return number;
  return fallback;
}

double ModelConfig::positive(const char *key, double fallback) const {
  constexpr double minimum = 1e-30, maximum = 1e30;
  return number(key, fallback, minimum, maximum);
}

bool ModelConfig::flag(const char *key, bool fallback) const {
  const json *value = find(key);
  if (!value)
    return fallback;
  if (value->is_boolean())
    return value->get<bool>();
  if (value->is_null() && !fallback)
    return false;
  wrong(ImportError::ConfigType, key, *value, "true or false");
  return fallback;
}

std::string ModelConfig::text(const char *key, const std::string &fallback) const {
  const json *value = find(key);
  if (!value)
    return fallback;
  if (value->is_string())
    return value->get<std::string>();
  wrong(ImportError::ConfigType, key, *value, "a string");
  return fallback;
}

// The values of a list, of which each has to be of the kind that `is` tells; nothing if one is not.
template <typename T> static std::optional<std::vector<T>> readList(const json &list, bool (json::*is)() const) {
  std::vector<T> result;
  if (!list.is_array())
    return std::nullopt;
  for (const json &value : list) {
    if (!(value.*is)())
      return std::nullopt;
    result.push_back(value.get<T>());
  }
  return result;
}

std::vector<std::string> ModelConfig::texts(const char *key) const {
  if (!has(key))
    return {};
  auto list = readList<std::string>(*find(key), &json::is_string);
  if (!list)
    wrong(ImportError::ConfigType, key, *find(key), "a list of strings");
  return list.value_or(std::vector<std::string>());
}

std::vector<std::string> ModelConfig::repeatedTexts(const char *key) const {
  std::vector<std::string> result;
  const json *list = find(key);
  bool correct = !list || list->is_array();
  for (size_t i = 0; correct && list && i < list->size(); ++i) {
    const json &pair = (*list)[i];
    auto texts = pair.is_array() && pair.size() == 2 ? readList<std::string>(pair[0], &json::is_string) : std::nullopt;
    correct = texts && pair[1].is_number_unsigned() && pair[1].get<uint64_t>() <= layerCount.maximum &&
              result.size() + texts->size() * pair[1].get<uint64_t>() <= layerCount.maximum;
    for (uint64_t times = 0; correct && times < pair[1].get<uint64_t>(); ++times)
      result.insert(result.end(), texts->begin(), texts->end());
  }
  if (!correct)
    wrong(ImportError::ConfigType, key, *list, "a list of pairs of a list of strings and a number of repetitions");
  return result;
}

std::vector<double> ModelConfig::numbers(const char *key) const {
  if (!has(key))
    return {};
  auto list = readList<double>(*find(key), &json::is_number);
  if (!list)
    wrong(ImportError::ConfigType, key, *find(key), "a list of numbers");
  return list.value_or(std::vector<double>());
}

std::vector<bool> ModelConfig::flags(const char *key) const {
  if (!has(key))
    return {};
  auto list = readList<bool>(*find(key), &json::is_boolean);
  if (!list)
    wrong(ImportError::ConfigType, key, *find(key), "a list of true and false");
  return list.value_or(std::vector<bool>());
}

// Five blocks around and at the ends of a text, and random ones on both sides.
std::optional<int64_t> ModelConfig::denseBlockTokens() const {
  const int64_t block = integer("block_size", 64, positionCount);
  const int64_t random = integer("num_random_blocks", 3, {0, layerCount.maximum});
  const std::string type = text("attention_type", "block_sparse");
  if (type == "block_sparse")
    return (5 + 2 * random) * block;
  if (type != "original_full")
    unsupported("attention_type", "is neither block_sparse nor original_full");
  return std::nullopt;
}

std::vector<int64_t> ModelConfig::windows(const char *key, int64_t fallback, int64_t layers) const {
  constexpr Range range{2, positionCount.maximum};
  const json *value = find(key);
  std::vector<double> sizes(layers, static_cast<double>(fallback));
  if (value && value->is_array())
    sizes = numbers(key);
  else if (value)
    sizes.assign(layers, static_cast<double>(integer(key, fallback, range)));
  std::vector<int64_t> result;
  for (double size : sizes)
    if (size < 2 || size > static_cast<double>(range.maximum) || std::fmod(size, 2) != 0)
      invalid(key, "has an entry that is not an even number of tokens");
    else
      result.push_back(static_cast<int64_t>(size) / 2 + 1);
  if (static_cast<int64_t>(sizes.size()) != layers)
    invalid(key, fmt::format("has {} entries for {} layers", sizes.size(), layers));
  return result;
}

// The token ids of `value`, one or a list; nothing if it is something else.
static std::optional<std::vector<int64_t>> readTokens(const json &value) {
  std::vector<int64_t> result;
  for (const json &token : value.is_array() ? value : json::array({value})) {
    if (!token.is_number_unsigned() || token.get<uint64_t>() > INT32_MAX)
      return std::nullopt;
    result.push_back(token.get<int64_t>());
  }
  return result;
}

std::vector<int64_t> ModelConfig::tokens(const char *key, const std::vector<int64_t> &fallback) const {
  const json *value = find(key);
  if (!value || value->is_null())
    return value ? std::vector<int64_t>() : fallback;
  json given = value->is_array() ? *value : json::array({*value});
  given.erase(std::remove(given.begin(), given.end(), -1), given.end());
  if (auto result = readTokens(given))
    return *result;
  wrong(ImportError::ConfigType, key, *value, "a token id, a list of token ids, or null");
  return fallback;
}

static int64_t firstOr(const std::vector<int64_t> &tokens, int64_t fallback) {
  return tokens.empty() ? fallback : tokens.front();
}

int64_t ModelConfig::startToken(int64_t fallback) const {
  return firstOr(tokens(artifact::settings::startToken.key, {fallback}), fallback);
}

int64_t ModelConfig::endToken(int64_t fallback) const {
  return firstOr(tokens(artifact::settings::end.key, {fallback}), fallback);
}

std::vector<std::vector<int64_t>> ModelConfig::tokenLists(const char *key) const {
  std::vector<std::vector<int64_t>> result;
  if (!has(key))
    return result;
  const json &lists = *find(key);
  bool correct = lists.is_array();
  for (size_t i = 0; correct && i < lists.size(); ++i) {
    auto list = lists[i].is_array() ? readTokens(lists[i]) : std::nullopt;
    correct = list.has_value();
    result.push_back(list.value_or(std::vector<int64_t>()));
  }
  if (!correct)
    wrong(ImportError::ConfigType, key, lists, "a list of lists of token ids");
  return result;
}

std::vector<std::string> ModelConfig::labels() const {
  constexpr Range labelCount{1, 1 << 16};
  const char *key = "id2label";
  std::vector<std::string> result;
  const json *names = has(key) ? find(key) : nullptr;
  if (names && !names->is_object())
    wrong(ImportError::ConfigType, key, *names, "an object from numbers to names");
  int64_t named = names ? static_cast<int64_t>(names->size()) : 2;
  int64_t count = integer("num_labels", named, labelCount);
  if (names && count != named)
    invalid("num_labels", fmt::format("is {}, but 'id2label' names {} classes", count, named));
  for (int64_t i = 0; i < count && !failed(); ++i) {
    std::string number = std::to_string(i), name = "LABEL_" + number;
    if (names && (!names->contains(number) || !names->at(number).is_string()))
      invalid(key, fmt::format("has no name for class {}", number));
    else if (names)
      name = names->at(number).get<std::string>();
    if (name.find('\0') != std::string::npos)
      invalid(key, fmt::format("has a NUL in the name of class {}", number));
    result.push_back(name);
  }
  return result;
}

Activation ModelConfig::activation(const char *key, const std::string &fallback) const {
  return activationNamed(key, text(key, fallback));
}

Activation ModelConfig::activationNamed(const char *key, const std::string &name) const {
  static constexpr std::pair<std::string_view, Activation> names[] = {
      {"relu", Activation::Relu},
      {"gelu", Activation::Gelu},
      {"gelu_python", Activation::Gelu},
      {"gelu_new", Activation::GeluTanh},
      {"gelu_pytorch_tanh", Activation::GeluTanh},
      {"gelu_accurate", Activation::GeluTanh},
      {"gelu_fast", Activation::GeluTanh},
      {"silu", Activation::Silu},
      {"swish", Activation::Silu},
      {"tanh", Activation::Tanh},
      {"sigmoid", Activation::Sigmoid},
      {"quick_gelu", Activation::QuickGelu},
      {"relu2", Activation::ReluSquared},
  };
  std::string headNames;
  for (auto [candidate, kind] : names) {
    if (candidate == name)
      return kind;
    headNames += (headNames.empty() ? "" : ", ") + std::string(candidate);
  }
  unsupported(key, fmt::format("is {}, expected one of {}", quotedText(name), headNames));
  return Activation::Relu;
}

}  // namespace talc
