// SPDX-License-Identifier: Apache-2.0
// Parses a choice of formats and matches names.
#include "dialects/talc/formats/FormatChoice.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

#include <fmt/format.h>

namespace talc {

constexpr llvm::StringLiteral fileFormat = "checkpoint";

// The parts between * must occur one after the other, the first at the beginning and the last at the end.
bool FormatRule::fits(std::string_view name) const {
  llvm::StringRef rest = name;
  llvm::SmallVector<llvm::StringRef> parts;
  llvm::StringRef(pattern).split(parts, '*');
  if (parts.size() == 1)
    return rest == pattern;
  if (!rest.consume_front(parts.front()) || !rest.consume_back(parts.back()))
    return false;
  for (llvm::StringRef part : llvm::ArrayRef(parts).drop_front().drop_back()) {
    size_t at = rest.find(part);
    if (at == llvm::StringRef::npos)
      return false;
    rest = rest.drop_front(at + part.size());
  }
  return true;
}

FormatChoice FormatChoice::uniform(const StorageFormat &format) {
  FormatChoice choice;
  choice.text = format.name;
  choice.usual = &format;
  return choice;
}

const FormatRule *FormatChoice::findRule(std::string_view name) const {
  for (const FormatRule &rule : llvm::reverse(rules))
    if (rule.fits(name))
      return &rule;
  return nullptr;
}

FormatRef FormatChoice::of(std::string_view name) const {
  const FormatRule *rule = findRule(name);
  return rule ? rule->format : usual;
}

// 4.5bit; 0 for any other text.
static double parseSize(llvm::StringRef text) {
  double bits = 0;
  bool isNumber = text.consume_back("bit") && !text.empty() && text.find_first_not_of("0123456789.") == text.npos &&
                  !text.getAsDouble(bits);
  return isNumber && bits <= 32 ? bits : 0;
}

std::string_view chosenName(std::string_view symbol) {
  llvm::StringRef name = symbol;
  name.consume_back(".stored");
  name.consume_back(".weight");
  return name;
}

llvm::ArrayRef<FormatRef> sizeFormats() {
  static const std::vector<FormatRef> formats = [] {
    std::vector<FormatRef> list;
    llvm::copy_if(storageFormats(), std::back_inserter(list),
                  [](FormatRef format) { return format->listed && format->forSizes; });
    return list;
  }();
  return formats;
}

static std::string formatError(llvm::StringRef name) {
  return fmt::format("'{}' is not a storage format, expected {}, or one of llama.cpp's mixes: {}", name.str(),
                     formatAlternatives(fileFormat), fmt::join(formatMixNames(), ", "));
}

// The first part of a choice, for all weights. Returns an error, or an empty text.
static std::string parseUsual(llvm::StringRef text, FormatChoice &choice) {
  std::string name = text.lower();
  choice.mix = findFormatMix(name);
  choice.usual = choice.mix ? nullptr : findStorageFormat(name);
  choice.bits = parseSize(name);
  bool isKnown = choice.mix || choice.usual || choice.bits > 0 || name == fileFormat;
  return isKnown ? "" : formatError(text);
}

// PATTERN=FORMAT
static std::string parseRule(llvm::StringRef text, FormatChoice &choice) {
  auto [pattern, format] = text.split('=');
  pattern = pattern.trim();
  std::string name = format.trim().lower();
  choice.rules.push_back({pattern.str(), findStorageFormat(name)});
  if (!choice.rules.back().format && name != fileFormat)
    return formatError(format.trim());
  return pattern.empty() ? fmt::format("'{}' lacks the name of a weight before '='", text.str()) : "";
}

std::optional<FormatChoice> parseFormatChoice(std::string_view text, std::string &error) {
  FormatChoice choice;
  choice.text = text;
  llvm::SmallVector<llvm::StringRef> parts;
  llvm::StringRef(text).split(parts, ';');
  for (const llvm::StringRef &part : parts) {
    if (part.contains('='))
      error = parseRule(part, choice);
    else if (&part == parts.begin())
      error = parseUsual(part.trim(), choice);
    else
      error = fmt::format("'{}' follows another rule, expected NAME=FORMAT", part.trim().str());
    if (!error.empty())
      return std::nullopt;
  }
  return choice;
}

const StorageFormat &formatForRows(const StorageFormat &wanted, int64_t values) {
  if (values % wanted.blockValues == 0)
    return wanted;
  const StorageFormat *found = nullptr;
  auto larger = [](const StorageFormat &a, const StorageFormat &b) {
    return a.blockBytes * b.blockValues > b.blockBytes * a.blockValues;
  };
  for (const StorageFormat *format : storageFormats())
    if (!format->assemble && values % format->blockValues == 0 && larger(*format, wanted) &&
        (!found || larger(*found, *format)))
      found = format;
  return *found;  // f32 at the latest
}

}  // namespace talc
