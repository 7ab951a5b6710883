// SPDX-License-Identifier: Apache-2.0
// A parser of JSON (RFC 8259) that keeps some strings of the outermost object. Lines are untrusted.
#include "runtime/program/input/Inputs.h"

#include <cctype>
#include <cstdint>
#include <cstring>

namespace talc::program {

namespace {

// Every function returns false where the text is not JSON; `at` is then where it is not.
class Parser {
public:
  // `choose`: see readJsonStrings.
  Parser(std::string_view line, const JsonStringChoice &choose) : line(line), choose(choose) {}

  bool parse();
  size_t position() const { return at; }

private:
  bool parseObject();
  bool parseMember();
  bool parseString(std::string &text);
  bool parseEscape(std::string &text);
  bool parseCode(uint32_t &code);
  bool skipValue(int depth);
  bool skipList(char end, int depth);
  bool skipWord();

  void skipSpace() {
    while (at < line.size() && strchr(" \t\r\n", line[at]))
      ++at;
  }
  bool take(char c) {
    skipSpace();
    bool isNext = at < line.size() && line[at] == c;
    at += isNext;
    return isNext;
  }
  char next() {
    skipSpace();
    return at < line.size() ? line[at] : '\0';
  }

  std::string_view line;
  const JsonStringChoice &choose;
  size_t at = 0;
};

}  // namespace

bool Parser::parse() {
  std::string unused;
  std::string *target = next() == '"' ? choose(nullptr) : nullptr;
  if (next() == '"' && !parseString(target ? *target : unused))
    return false;
  if (next() == '{' && !parseObject())
    return false;
  skipSpace();
  return at == line.size() && at > 0;
}

bool Parser::parseObject() {
  take('{');
  if (take('}'))
    return true;
  do
    if (!parseMember())
      return false;
  while (take(','));
  return take('}');
}

bool Parser::parseMember() {
  std::string key;
  if (next() != '"' || !parseString(key) || !take(':'))
    return false;
  constexpr int maxDepth = 64;
  std::string *target = next() == '"' ? choose(&key) : nullptr;
  if (!target)
    return skipValue(maxDepth);
  target->clear();
  return parseString(*target);
}

bool Parser::parseCode(uint32_t &code) {
  code = 0;
  for (int i = 0; i < 4; ++i, ++at) {
    const char *digits = "0123456789abcdef";
    const char *digit = at < line.size() && line[at] != '\0' ? strchr(digits, line[at] | 0x20) : nullptr;
    if (!digit)
      return false;
    code = 16 * code + static_cast<uint32_t>(digit - digits);
  }
  return true;
}

static void appendUtf8(std::string &text, uint32_t code) {
  auto add = [&](uint32_t byte) { text += static_cast<char>(byte); };
  if (code < 0x80)
    return add(code);
  if (code < 0x800) {
    add(0xC0 | code >> 6);
  } else if (code < 0x10000) {
    add(0xE0 | code >> 12);
    add(0x80 | (code >> 6 & 0x3F));
  } else {
    add(0xF0 | code >> 18);
    add(0x80 | (code >> 12 & 0x3F));
    add(0x80 | (code >> 6 & 0x3F));
  }
  add(0x80 | (code & 0x3F));
}

// Two escapes of surrogates are one character; one alone is none.
bool Parser::parseEscape(std::string &text) {
  static const char names[] = "\"\\/bfnrt", values[] = "\"\\/\b\f\n\r\t";
  const char *name = at < line.size() && line[at] != '\0' ? strchr(names, line[at]) : nullptr;
  if (name) {
    text += values[name - names];
    ++at;
    return true;
  }
  uint32_t code = 0, low = 0;
  if (at == line.size() || line[at++] != 'u' || !parseCode(code) || (code >= 0xDC00 && code < 0xE000))
    return false;
  if (code >= 0xD800 && code < 0xDC00) {
    if (line.substr(at, 2) != "\\u" || (at += 2, !parseCode(low)) || low < 0xDC00 || low > 0xDFFF)
      return false;
    code = 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00);
  }
  appendUtf8(text, code);
  return true;
}

bool Parser::parseString(std::string &text) {
  ++at;
  while (at < line.size() && line[at] != '"') {
    char c = line[at];
    if (static_cast<unsigned char>(c) < 0x20)
      return false;
    ++at;
    if (c != '\\')
      text += c;
    else if (!parseEscape(text))
      return false;
  }
  return at < line.size() && line[at++] == '"';
}

// A number, true, false or null; its spelling does not matter.
bool Parser::skipWord() {
  size_t begin = at;
  while (at < line.size() && (isalnum(static_cast<unsigned char>(line[at])) || strchr("+-.", line[at])) &&
         line[at] != '\0')
    ++at;
  return at > begin;
}

bool Parser::skipList(char end, int depth) {
  ++at;
  if (take(end))
    return true;
  std::string key;
  do
    if ((end == '}' && (next() != '"' || !parseString(key) || !take(':'))) || !skipValue(depth))
      return false;
  while (take(','));
  return take(end);
}

bool Parser::skipValue(int depth) {
  std::string unused;
  char first = next();
  if (first == '"')
    return parseString(unused);
  if (first == '{' || first == '[')
    return depth > 0 && skipList(first == '{' ? '}' : ']', depth - 1);
  return skipWord();
}

bool readJsonStrings(std::string_view json, const JsonStringChoice &choose, size_t &position) {
  Parser parser(json, choose);
  bool isJson = parser.parse();
  position = parser.position();
  return isJson;
}

Status readJsonLine(std::string_view line, const std::string &place, JsonLine &result) {
  bool hasText = false;
  auto choose = [&](const std::string *key) -> std::string * {
    if (key && *key == "pair")
      return &result.pair.emplace();
    if (key && *key != "text" && *key != "prompt" && *key != "input")
      return nullptr;
    hasText = true;
    return &result.text;
  };
  size_t position = 0;
  if (!readJsonStrings(line, choose, position))
    return Status::failure(TALC_ERROR_TEXT, "%s: is not JSON at byte %zu; expected a string or {\"text\": \"...\"}",
                           place.c_str(), position);
  if (!hasText)
    return Status::failure(TALC_ERROR_TEXT, "%s: has no text; expected a string or {\"text\": \"...\"}", place.c_str());
  return {};
}

bool isJsonLinesName(std::string_view path) {
  for (std::string_view end : {".jsonl", ".ndjson"})
    if (path.size() > end.size() && path.substr(path.size() - end.size()) == end)
      return true;
  return false;
}

}  // namespace talc::program
