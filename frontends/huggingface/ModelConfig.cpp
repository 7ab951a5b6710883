// SPDX-License-Identifier: Apache-2.0
// Reads and checks the values of config.json.
#include "frontends/huggingface/ModelConfig.h"

#include "frontends/huggingface/Json.h"

#include "llvm/ADT/StringRef.h"

#include <fmt/format.h>

#include <cmath>

namespace talc {

using nlohmann::json;

//===--- errors -------------------------------------------------------------------------------------------------===//

void ModelConfig::wrong(ImportError code, const std::string &key, const json &found,
                        const std::string &expected) const {
  diagnostics.error(code,
                    fmt::format("{}: key '{}{}' is {}, expected {}", file, prefix, key, jsonText(found), expected));
}

void ModelConfig::unsupported(const std::string &key, const std::string &reason) const {
  diagnostics.error(ImportError::ConfigUnsupported, fmt::format("{}: key '{}{}': {}", file, prefix, key, reason));
}

void ModelConfig::invalid(const std::string &key, const std::string &reason) const {
  diagnostics.error(ImportError::ConfigValue, fmt::format("{}: key '{}{}': {}", file, prefix, key, reason));
}

void ModelConfig::refuseFlag(const char *key, const std::string &reason) const {
  if (flag(key, false))
    unsupported(key, "is true; " + reason);
}

void ModelConfig::requireHead(std::initializer_list<std::string_view> heads) const {
  std::vector<std::string> architectures = texts("architectures");
  if (architectures.empty())
    return;
  for (std::string_view head : heads)
    if (llvm::StringRef(architectures.front()).ends_with(head))
      return;
  unsupported("architectures", fmt::format("is {}, expected a name that ends in {}", quotedText(architectures.front()),
                                           fmt::join(heads, " or ")));
}

bool ModelConfig::failed() const {
  return diagnostics.failed();
}

//===--- values -------------------------------------------------------------------------------------------------===//

const json *ModelConfig::find(const char *key) const {
  auto found = object.find(key);
  return found == object.end() ? nullptr : &*found;
}

bool ModelConfig::isNull(const char *key) const {
  const json *value = find(key);
  return value && value->is_null();
}

bool ModelConfig::has(const char *key) const {
  const json *value = find(key);
  return value && !value->is_null();
}

int64_t ModelConfig::integer(const char *key, int64_t fallback, Range range) const {
  const json *value = find(key);
  if (!value)
    return fallback;
  std::string expected = fmt::format("an integer from {} to {}", range.least, range.most);
  if (!value->is_number_integer())
    wrong(ImportError::ConfigType, key, *value, expected);
  else if (value->is_number_unsigned() && value->get<uint64_t>() > INT64_MAX)
    wrong(ImportError::ConfigValue, key, *value, expected);
  else if (value->get<int64_t>() < range.least || value->get<int64_t>() > range.most)
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
  return integer(key, range.least, range);
}

double ModelConfig::number(const char *key, double fallback, double least, double most) const {
  const json *value = find(key);
  if (!value)
    return fallback;
  std::string expected = fmt::format("a number from {} to {}", least, most);
  if (!value->is_number())
    wrong(ImportError::ConfigType, key, *value, expected);
  else if (double found = value->get<double>(); !(found >= least && found <= most))
    wrong(ImportError::ConfigValue, key, *value, expected);
  else
    return found;
  return fallback;
}

double ModelConfig::positive(const char *key, double fallback) const {
  constexpr double least = 1e-30, most = 1e30;
  return number(key, fallback, least, most);
}

bool ModelConfig::flag(const char *key, bool fallback) const {
  const json *value = find(key);
  if (!value)
    return fallback;
  if (value->is_boolean())
    return value->get<bool>();
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

std::vector<std::string> ModelConfig::texts(const char *key) const {
  std::vector<std::string> result;
  if (!has(key))
    return result;
  const json &list = *find(key);
  for (const json &value : list) {
    if (!list.is_array() || !value.is_string())
      break;
    result.push_back(value.get<std::string>());
  }
  if (!list.is_array() || result.size() != list.size())
    wrong(ImportError::ConfigType, key, list, "a list of strings");
  return result;
}

std::vector<int64_t> ModelConfig::tokens(const char *key, const std::vector<int64_t> &fallback) const {
  const json *value = find(key);
  if (!value)
    return fallback;
  if (value->is_null())
    return {};
  std::vector<int64_t> result;
  for (const json &token : value->is_array() ? *value : json::array({*value})) {
    if (!token.is_number_unsigned() || token.get<uint64_t>() > INT32_MAX) {
      wrong(ImportError::ConfigType, key, *value, "a token id, a list of token ids, or null");
      return fallback;
    }
    result.push_back(token.get<int64_t>());
  }
  return result;
}

Activation ModelConfig::activation(const char *key, const std::string &fallback) const {
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
  std::string name = text(key, fallback), known;
  for (auto [candidate, kind] : names) {
    if (candidate == name)
      return kind;
    known += (known.empty() ? "" : ", ") + std::string(candidate);
  }
  unsupported(key, fmt::format("is {}, expected one of {}", quotedText(name), known));
  return Activation::Relu;
}

}  // namespace talc
