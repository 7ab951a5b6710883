// SPDX-License-Identifier: Apache-2.0
// A dot belongs to the word that it stands in or before, so that an opcode with its modifiers is one word.
#include "test/ptx/Tokens.h"

#include "test/ptx/Fault.h"

#include <cctype>
#include <cstdlib>
#include <cstring>

namespace talc::ptx {

namespace {

bool continuesWord(char c) {
  return isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '$' || c == '.' || c == '%' || c == ':';
}

class Tokenizer {
public:
  explicit Tokenizer(std::string_view text) : text(text) {}

  std::vector<Token> run() {
    while (skipSpace(), at < text.size())
      tokens.push_back(next());
    tokens.push_back({Token::Kind::End, {}, line});
    return std::move(tokens);
  }

private:
  bool begins(std::string_view what) const { return text.substr(at, what.size()) == what; }

  void skipSpace() {
    while (at < text.size()) {
      if (begins("//"))
        at = std::min(text.find('\n', at), text.size());
      else if (begins("/*"))
        skipComment();
      else if (isspace(static_cast<unsigned char>(text[at])) || text[at] == 0)
        line += text[at++] == '\n';
      else
        return;
    }
  }

  void skipComment() {
    size_t end = std::min(text.find("*/", at), text.size());
    for (; at < end; ++at)
      line += text[at] == '\n';
    at = std::min(at + 2, text.size());
  }

  Token next() {
    size_t begin = at;
    char c = text[at];
    bool number = isdigit(static_cast<unsigned char>(c)), word = !number && c != ':' && continuesWord(c);
    if (c == '"') {
      at = std::min(text.find('"', at + 1), text.size() - 1) + 1;
      return {Token::Kind::String, text.substr(begin, at - begin), line};
    }
    ++at;
    if (number)
      while (at < text.size() && isalnum(static_cast<unsigned char>(text[at])))
        ++at;
    // Colons are part of modifiers (.L2::128B), but not of labels (done:).
    if (word)
      while (at < text.size() && continuesWord(text[at]) && (text[at] != ':' || begins("::") || text[at - 1] == ':'))
        ++at;
    return {number ? Token::Kind::Number
            : word ? Token::Kind::Word
                   : Token::Kind::Sign,
            text.substr(begin, at - begin), line};
  }

  std::string_view text;
  size_t at = 0;
  int line = 1;
  std::vector<Token> tokens;
};

}  // namespace

std::vector<Token> tokenize(std::string_view text) {
  return Tokenizer(text).run();
}

uint64_t numberBits(const Token &token) {
  std::string digits(token.text);
  int base = 10;
  if (digits.size() > 1 && digits[0] == '0' && strchr("xXfFdD", digits[1])) {
    digits.erase(0, 2);
    base = 16;
  } else if (digits.size() > 1 && digits[0] == '0') {
    base = 8;
  }
  if (!digits.empty() && base != 16 && digits.back() == 'U')
    digits.pop_back();
  char *end = nullptr;
  uint64_t bits = strtoull(digits.c_str(), &end, base);
  if (digits.empty() || *end)
    throw SyntaxFault(token.line, std::string(token.text), "no number");
  return bits;
}

}  // namespace talc::ptx
