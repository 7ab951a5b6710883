// SPDX-License-Identifier: Apache-2.0
// Reads fields of untrusted JSON objects: every access checks the type and reports where it was wrong.
#pragma once

#include "frontends/tokenizer/CompileContext.h"

#include <nlohmann/json.hpp>
#include <optional>
#include <string>

namespace talc::frontend {

using Json = nlohmann::json;

class JsonFields {
public:
  // `value` must outlive the fields. Reports an error if it is not an object.
  JsonFields(const Json &value, std::string path, CompileErrors &errors);

  // Returns null if the field is absent or JSON's null.
  const Json *find(const char *name) const;
  std::string path(const char *name) const { return location + "." + name; }

  // Required without a default.
  std::string text(const char *name) const;
  std::optional<std::string> optionalText(const char *name) const;
  bool flag(const char *name, bool fallback) const;
  uint32_t number(const char *name, uint32_t fallback) const;
  // Return null after an error if the field is absent or of another type.
  const Json *array(const char *name) const;
  const Json *object(const char *name) const;

private:
  const Json &value;
  std::string location;
  CompileErrors &errors;

  void wrong(const char *name, const char *expected, const Json *found) const;
};

// The value of a file that may be hostile; nothing and an error if it is not JSON.
std::optional<Json> parseJson(std::string_view text, CompileErrors &errors);

// A token id, or nothing and an error.
std::optional<uint32_t> readTokenId(const Json &value, const std::string &path, CompileErrors &errors);

// Whether a token is longer than what is looked up in texts, which is reported.
bool isTooLong(const std::string &token, const std::string &path, CompileErrors &errors);

// "an array", "a string", ... for messages.
std::string describe(const Json &value);

}  // namespace talc::frontend
