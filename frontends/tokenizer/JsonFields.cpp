// SPDX-License-Identifier: Apache-2.0
// Checked access to JSON objects.
#include "frontends/tokenizer/JsonFields.h"

#include "frontends/FileLimits.h"

namespace talc::frontend {

namespace {

constexpr uint32_t maxTokenId = (1u << 24) - 1;
constexpr size_t maxFileSize = size_t(256) << 20;

struct JsonSize {
  uint64_t depth = 0, values = 0;
};

// Looks at brackets and separators outside of strings only; the parser checks the rest.
JsonSize measureJson(std::string_view json) {
  JsonSize size;
  uint64_t depth = 0;
  bool inString = false;
  for (size_t i = 0; i < json.size(); ++i) {
    char c = json[i];
    if (inString) {
      if (c == '\\')
        ++i;
      if (c == '"')
        inString = false;
    } else if (c == '"') {
      inString = true;
    } else if (c == '{' || c == '[') {
      size.depth = std::max(size.depth, ++depth);
      ++size.values;
    } else if ((c == '}' || c == ']') && depth > 0) {
      --depth;
    } else if (c == ',' || c == ':') {
      ++size.values;
    }
  }
  return size;
}

}  // namespace

std::string describe(const Json &value) {
  if (value.is_object())
    return "an object";
  if (value.is_array())
    return "an array";
  if (value.is_string())
    return "a string";
  return value.is_number() ? "the number " + value.dump() : value.dump();
}

JsonFields::JsonFields(const Json &value, std::string path, CompileErrors &errors)
    : value(value), location(std::move(path)), errors(errors) {
  if (!value.is_object())
    errors.fail(TokenizerError::WrongField, location, "expected an object, found " + describe(value));
}

const Json *JsonFields::find(const char *name) const {
  if (!value.is_object())
    return nullptr;
  auto at = value.find(name);
  return at == value.end() || at->is_null() ? nullptr : &*at;
}

void JsonFields::wrong(const char *name, const char *expected, const Json *found) const {
  errors.fail(TokenizerError::WrongField, path(name),
              std::string("expected ") + expected + ", found " + (found ? describe(*found) : "nothing"));
}

std::string JsonFields::text(const char *name) const {
  const Json *field = find(name);
  if (field && field->is_string())
    return field->get_ref<const std::string &>();
  wrong(name, "a string", field);
  return {};
}

std::optional<std::string> JsonFields::optionalText(const char *name) const {
  if (!find(name))
    return std::nullopt;
  return text(name);
}

bool JsonFields::flag(const char *name, bool fallback) const {
  const Json *field = find(name);
  if (!field)
    return fallback;
  if (field->is_boolean())
    return field->get<bool>();
  wrong(name, "true or false", field);
  return fallback;
}

uint32_t JsonFields::number(const char *name, uint32_t fallback) const {
  const Json *field = find(name);
  if (!field)
    return fallback;
  if (field->is_number_unsigned() && field->get<uint64_t>() < tokenizer::none)
    return field->get<uint32_t>();
  wrong(name, "an integer from 0 to 4294967294", field);
  return fallback;
}

const Json *JsonFields::array(const char *name) const {
  const Json *field = find(name);
  if (field && field->is_array())
    return field;
  wrong(name, "an array", field);
  return nullptr;
}

const Json *JsonFields::object(const char *name) const {
  const Json *field = find(name);
  if (field && field->is_object())
    return field;
  wrong(name, "an object", field);
  return nullptr;
}

std::optional<Json> parseJson(std::string_view text, CompileErrors &errors) {
  if (text.size() > maxFileSize)
    errors.fail(TokenizerError::TooLarge, "", "the file is larger than 256 MiB");
  JsonSize size = errors.failed() ? JsonSize() : measureJson(text);
  if (size.depth > maxJsonDepth)
    errors.fail(TokenizerError::NotJson, "", "the JSON is nested deeper than " + std::to_string(maxJsonDepth));
  if (size.values > maxJsonValues(text.size()))
    errors.fail(TokenizerError::TooLarge, "",
                "the JSON has more than " + std::to_string(maxJsonValues(text.size())) + " values");
  if (errors.failed())
    return std::nullopt;
  Json json = Json::parse(text, nullptr, false);
  if (!json.is_discarded())
    return json;
  errors.fail(TokenizerError::NotJson, "", "the file is not JSON; is the download complete?");
  return std::nullopt;
}

std::optional<uint32_t> readTokenId(const Json &value, const std::string &path, CompileErrors &errors) {
  if (value.is_number_unsigned() && value.get<uint64_t>() <= maxTokenId)
    return value.get<uint32_t>();
  errors.fail(TokenizerError::WrongField, path,
              "expected a token id from 0 to " + std::to_string(maxTokenId) + ", found " + describe(value));
  return std::nullopt;
}

bool isTooLong(const std::string &token, const std::string &path, CompileErrors &errors) {
  if (token.size() > tokenizer::maxTokenBytes)
    errors.fail(TokenizerError::TooLarge, path, "longer than " + std::to_string(tokenizer::maxTokenBytes) + " bytes");
  return token.size() > tokenizer::maxTokenBytes;
}

}  // namespace talc::frontend
