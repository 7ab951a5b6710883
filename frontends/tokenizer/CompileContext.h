// SPDX-License-Identifier: Apache-2.0
// The context of the tokenizer compiler: the section under construction, Unicode properties, and the error.
#pragma once

#include "frontends/Diagnostics.h"
#include "frontends/tokenizer/SectionBuilder.h"
#include "frontends/tokenizer/unicode/UnicodeProperties.h"
#include "frontends/tokenizer/unicode/Utf8Text.h"

#include <algorithm>
#include <string>
#include <vector>

namespace talc::frontend {

// Codes of user errors in tokenizer files.
enum class TokenizerError {
  Unreadable = 311,     // the file cannot be read
  NotJson = 312,        // no JSON, or nested too deeply
  WrongField = 313,     // a field is missing or has the wrong type
  Unsupported = 314,    // a component or value that talc does not know
  Vocabulary = 315,     // ids or tokens contradict each other
  Merge = 316,          // a merge names a token outside of the vocabulary
  Pattern = 317,        // a regular expression that talc does not support
  TooLarge = 318,       // a limit of talc
  Charsmap = 319,       // damaged normalization rules
  SentencePiece = 320,  // a damaged SentencePiece model
};

class CompileErrors {
public:
  CompileErrors(std::string file, std::string &message) : file(std::move(file)), message(message) {}

  bool failed() const { return hasFailed; }

  // Errors name this file from now on.
  void speakOf(std::string otherFile) { file = std::move(otherFile); }

  // Translates a JSON path to the name of the part in the original files, if these are not a tokenizer.json.
  using PlaceName = std::string (*)(const std::string &path);
  void callPlaces(PlaceName name) { placeName = name; }

  // Keeps the first error only. `where` is a JSON path in the description, or empty.
  void fail(TokenizerError code, const std::string &where, const std::string &what) {
    failWith("error[T0" + std::to_string(static_cast<int>(code)) + "]: " + file + ": " +
             (where.empty() ? "" : shortened(placeName ? placeName(where) : where, 120) + ": ") + shortened(what, 500));
  }

  // Adds the line "warning: <file>: <text>", once.
  void warn(const std::string &text) {
    std::string line = printableLine("warning: " + file + ": " + shortened(text, 300));
    if (std::find(warningLines.begin(), warningLines.end(), line) == warningLines.end())
      warningLines.push_back(std::move(line));
  }
  const std::vector<std::string> &warnings() const { return warningLines; }

  // Fails with a finished line.
  void failWith(const std::string &line) {
    if (hasFailed)
      return;
    hasFailed = true;
    message = printableLine(line);
  }

private:
  std::string file;
  std::string &message;
  PlaceName placeName = nullptr;
  bool hasFailed = false;
  std::vector<std::string> warningLines;
};

struct CompileContext {
  SectionBuilder section;
  UnicodeProperties unicode;
  CompileErrors errors;
  size_t patternBytes = 0;  // of all patterns so far

  // The operations of a stage work on every text.
  static constexpr size_t maxOperations = 256;
  void append(std::vector<tokenizer::Op> &stage, tokenizer::Op op, const char *what) {
    if (stage.size() < maxOperations)
      stage.push_back(op);
    else
      errors.fail(TokenizerError::TooLarge, "", "has more than " + std::to_string(maxOperations) + " " + what);
  }

  CompileContext(std::string file, std::string &message) : errors(std::move(file), message) {}
};

}  // namespace talc::frontend
