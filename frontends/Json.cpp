// SPDX-License-Identifier: Apache-2.0
// Checks JSON text before it becomes a tree.
#include "frontends/Json.h"

#include "frontends/FileLimits.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

namespace talc {

namespace {

// Text in which strings of the same length stand for the numbers that Python writes and JSON lacks.
struct StandardJson {
  std::string text;
  std::map<size_t, double> numbers;  // by which of the text's strings, keys among them, stands for it
};

// Checks the limits of talc; `problem` says why it stopped.
class JsonCheck : public nlohmann::json_sax<nlohmann::json> {
public:
  explicit JsonCheck(const StandardJson &standard) : text(standard.text), numbers(standard.numbers) {}

  std::string problem;

  bool null() override { return count(); }
  bool boolean(bool) override { return count(); }
  bool number_integer(number_integer_t) override { return count(); }
  bool number_unsigned(number_unsigned_t) override { return count(); }
  bool number_float(number_float_t, const string_t &) override { return count(); }
  bool string(string_t &) override {
    ++strings;
    return count();
  }
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
    if (numbers.count(strings++)) {
      problem = "is not valid JSON: a key is a number";
      return false;
    }
    if (keys.back().insert(name).second)
      return count();
    problem = fmt::format("has the key {} twice in one object", quotedText(name));
    return false;
  }
  bool parse_error(size_t position, const std::string &, const nlohmann::detail::exception &) override {
    problem = jsonErrorText(text, position);
    return false;
  }

private:
  bool enter() {
    if (++depth <= maxJsonDepth)
      return count();
    problem = fmt::format("is nested deeper than {} levels", maxJsonDepth);
    return false;
  }
  bool count() {
    if (++values <= maxJsonValues(text.size()))
      return true;
    problem = fmt::format("has more than {} values", maxJsonValues(text.size()));
    return false;
  }
  bool leave() {
    --depth;
    return true;
  }

  const std::string &text;
  const std::map<size_t, double> &numbers;
  size_t strings = 0;
  uint64_t depth = 0, values = 0;
  std::vector<std::set<std::string>> keys;
};

}  // namespace

static StandardJson makeStandard(std::string_view text) {
  static constexpr std::pair<std::string_view, double> names[] = {
      {"NaN", NAN}, {"-Infinity", -INFINITY}, {"Infinity", INFINITY}};
  StandardJson result{std::string(text), {}};
  size_t strings = 0;
  for (size_t at = 0; at < text.size() && result.numbers.size() <= maxJsonValues(text.size()); ++at) {
    if (text[at] == '"') {
      ++strings;
      for (++at; at < text.size() && text[at] != '"'; ++at)
        at += text[at] == '\\';
      continue;
    }
    for (auto [name, number] : names)
      if (text.substr(at, name.size()) == name) {
        result.text.replace(at, name.size(), '"' + std::string(name.substr(0, name.size() - 2)) + '"');
        result.numbers.emplace(strings++, number);
        at += name.size() - 1;
        break;
      }
  }
  return result;
}

static nlohmann::json parseStandard(const StandardJson &standard) {
  size_t strings = 0;
  auto replace = [&](int, nlohmann::json::parse_event_t event, nlohmann::json &value) {
    using Event = nlohmann::json::parse_event_t;
    if (event == Event::key || (event == Event::value && value.is_string()))
      if (auto number = standard.numbers.find(strings++); number != standard.numbers.end())
        value = number->second;
    return true;
  };
  return nlohmann::json::parse(standard.text, replace, /*allow_exceptions=*/false);
}

std::string jsonErrorText(std::string_view text, size_t position) {
  constexpr size_t shown = 40;
  size_t end = std::min(position, text.size()), begin = end - std::min(end, shown);
  return fmt::format("is not valid JSON: byte {}, the end of {}", position,
                     quotedText(text.substr(begin, end - begin)));
}

static std::string standardProblem(const StandardJson &standard) {
  JsonCheck check(standard);
  return nlohmann::json::sax_parse(standard.text, &check) ? "" : check.problem;
}

std::string jsonProblem(std::string_view text) {
  return standardProblem(makeStandard(text));
}

std::optional<nlohmann::json> parseJson(std::string_view text, const std::string &file, ImportError code,
                                        Diagnostics &diagnostics) {
  StandardJson standard = makeStandard(text);
  std::string problem = standardProblem(standard);
  if (problem.empty())
    return parseStandard(standard);
  diagnostics.error(code, file + ": " + problem);
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
  if (value.is_number_float() && !std::isfinite(value.get<double>()))
    return std::isnan(value.get<double>()) ? "NaN" : value.get<double>() > 0 ? "Infinity" : "-Infinity";
  std::string text = value.dump(-1, ' ', true, nlohmann::json::error_handler_t::replace);
  return text.size() <= 80 ? text : text.substr(0, 77) + "...";
}

}  // namespace talc
