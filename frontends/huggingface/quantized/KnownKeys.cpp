// SPDX-License-Identifier: Apache-2.0
// Checks keys and the types of their values.
#include "frontends/huggingface/quantized/KnownKeys.h"

#include "frontends/Json.h"
#include "frontends/ModelConfig.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringRef.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace talc {

static bool isTexts(const nlohmann::json &value) {
  return value.is_array() && llvm::all_of(value, [](const nlohmann::json &text) { return text.is_string(); });
}

// The name of the expected type if a value is of another one; empty if it is right.
static std::string_view expectedType(const nlohmann::json &value, KnownValues values) {
  switch (values) {
  case KnownValues::Flag:
    return value.is_boolean() ? "" : "true or false";
  case KnownValues::Number:
    return value.is_number() ? "" : "a number";
  case KnownValues::NumberOrFlag:
    return value.is_number() || value.is_boolean() ? "" : "a number, true or false";
  case KnownValues::Text:
    return value.is_string() ? "" : "a string";
  case KnownValues::TextOrFlag:
    return value.is_string() || value.is_boolean() ? "" : "a string, true or false";
  case KnownValues::Texts:
    return isTexts(value) ? "" : "a list of strings";
  case KnownValues::Object:
    return value.is_object() ? "" : "an object";
  case KnownValues::Any:
    break;
  }
  return "";
}

void checkKnownKeys(const nlohmann::json &object, const ModelConfig &config, std::initializer_list<KnownKey> list,
                    UnknownKeys unknown, Diagnostics &diagnostics) {
  for (auto &[key, value] : object.items()) {
    const std::string &name = key;
    const KnownKey *entry = llvm::find_if(list, [&](const KnownKey &candidate) { return candidate.name == name; });
    if (entry == list.end() && unknown == UnknownKeys::Refused)
      config.unsupported(key, "is not known to talc");
    else if (entry == list.end())
      diagnostics.warning(fmt::format("quantization_config: key {} is not known to talc, which reads the weights "
                                      "without it",
                                      quotedText(key)));
    else if (std::string_view expected = expectedType(value, entry->values); !value.is_null() && !expected.empty())
      config.mistyped(key, std::string(expected));
  }
}

void checkName(const ModelConfig &config, const char *key, std::initializer_list<std::string_view> names) {
  if (!config.has(key) || !config.isText(key))
    return;
  std::string name = config.text(key, "");
  if (llvm::none_of(names, [&](llvm::StringRef candidate) { return candidate.equals_insensitive(name); }))
    config.unsupported(key, fmt::format("is {}, expected {}", quotedText(name), fmt::join(names, ", ")));
}

}  // namespace talc
