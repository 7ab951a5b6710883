// SPDX-License-Identifier: Apache-2.0
// Checks JSON text before it becomes a tree.
#include "frontends/Json.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace talc {

namespace {

// Checks the limits of talc; `problem` says why it stopped.
class JsonCheck : public nlohmann::json_sax<nlohmann::json> {
public:
  explicit JsonCheck(std::string_view text) : text(text) {}

  std::string problem;

  bool null() override { return true; }
  bool boolean(bool) override { return true; }
  bool number_integer(number_integer_t) override { return true; }
  bool number_unsigned(number_unsigned_t) override { return true; }
  bool number_float(number_float_t, const string_t &) override { return true; }
  bool string(string_t &) override { return true; }
  bool binary(binary_t &) override { return true; }
  bool start_object(size_t) override {
    keys.emplace_back();
    return enter();
  }
  bool end_object() override {
    keys.pop_back();
    return leave();
  }
  bool start_array(size_t) override { return enter(); }
  bool end_array() override { return leave(); }
  bool key(string_t &name) override {
    if (keys.back().insert(name).second)
      return true;
    problem = fmt::format("has the key {} twice in one object", quotedText(name));
    return false;
  }
  bool parse_error(size_t position, const std::string &, const nlohmann::detail::exception &) override {
    problem = jsonErrorText(text, position);
    return false;
  }

private:
  bool enter() {
    if (++depth <= maxDepth)
      return true;
    problem = fmt::format("is nested deeper than {} levels", maxDepth);
    return false;
  }
  bool leave() {
    --depth;
    return true;
  }

  static constexpr int maxDepth = 64;
  std::string_view text;
  int depth = 0;
  std::vector<std::set<std::string>> keys;
};

}  // namespace

std::string jsonErrorText(std::string_view text, size_t position) {
  constexpr size_t shown = 40;
  size_t end = std::min(position, text.size()), begin = end - std::min(end, shown);
  std::string_view culprit = text.substr(end - std::min<size_t>(end, 1));
  bool number = culprit.substr(0, 3) == "NaN" || culprit.substr(0, 8) == "Infinity";
  return fmt::format("is not valid JSON: byte {}, the end of {}{}", position,
                     quotedText(text.substr(begin, end - begin)), number ? "; JSON has no NaN and no Infinity" : "");
}

std::optional<nlohmann::json> parseJson(std::string_view text, const std::string &file, ImportError code,
                                        Diagnostics &diagnostics) {
  JsonCheck check(text);
  if (nlohmann::json::sax_parse(text, &check))
    return nlohmann::json::parse(text, nullptr, /*allow_exceptions=*/false);
  diagnostics.error(code, file + ": " + check.problem);
  return std::nullopt;
}

std::optional<nlohmann::json> parseJsonObject(std::string_view text, const std::string &file, ImportError code,
                                              Diagnostics &diagnostics) {
  auto value = parseJson(text, file, code, diagnostics);
  if (!value || value->is_object())
    return value;
  diagnostics.error(code, fmt::format("{}: holds {}, expected a JSON object", file, value->type_name()));
  return std::nullopt;
}

std::string jsonText(const nlohmann::json &value) {
  std::string text = value.dump(-1, ' ', true, nlohmann::json::error_handler_t::replace);
  return text.size() <= 80 ? text : text.substr(0, 77) + "...";
}

}  // namespace talc
