// SPDX-License-Identifier: Apache-2.0
// fake-artifact-maker OUT [option...]: writes an executable artifact for tests; FakeOptions explains the options.
#include "test/runtime/FakeArtifact.h"

#include <cstdio>
#include <cstdlib>
#include <sys/stat.h>

using namespace talc;
using talc::test::FakeOptions;

static bool takeValue(const std::string &argument, const char *name, std::string &value) {
  std::string prefix = std::string(name) + "=";
  if (argument.compare(0, prefix.size(), prefix) != 0)
    return false;
  value = argument.substr(prefix.size());
  return true;
}

static std::vector<std::string> splitAtCommas(const std::string &text) {
  std::vector<std::string> parts(1);
  for (char c : text)
    if (c == ',')
      parts.emplace_back();
    else
      parts.back() += c;
  return parts;
}

static std::vector<int32_t> parseNumbers(const std::string &text) {
  std::vector<int32_t> numbers;
  for (const std::string &number : splitAtCommas(text))
    numbers.push_back(atoi(number.c_str()));
  return numbers;
}

// Options with a number as their value.
static bool parseNumber(const std::string &argument, FakeOptions &options) {
  const std::pair<const char *, int32_t *> numbers[] = {{"--vocabulary", &options.vocabulary},
                                                        {"--source-vocabulary", &options.sourceVocabulary},
                                                        {"--max-seq", &options.maxSequence},
                                                        {"--longest", &options.longestSequence},
                                                        {"--nan-from", &options.nanFrom},
                                                        {"--hidden", &options.hidden},
                                                        {"--types", &options.tokenTypes},
                                                        {"--start", &options.startToken},
                                                        {"--forced-begin", &options.forcedBegin},
                                                        {"--forced-end", &options.forcedEnd},
                                                        {"--mask", &options.maskToken},
                                                        {"--new-tokens", &options.newTokens},
                                                        {"--beams", &options.beams},
                                                        {"--max-length", &options.maxLength},
                                                        {"--min-length", &options.minLength},
                                                        {"--min-new-tokens", &options.minNewTokens}};
  std::string value;
  for (auto [name, target] : numbers)
    if (takeValue(argument, name, value)) {
      *target = atoi(value.c_str());
      return true;
    }
  return false;
}

// Options that tell what the model is.
static bool parseInterface(const std::string &argument, FakeOptions &options) {
  std::string value;
  if (takeValue(argument, "--kind", value)) {
    options.kind = value == "encoder"           ? artifact::ModelKind::Encoder
                   : value == "encoder-decoder" ? artifact::ModelKind::EncoderDecoder
                                                : artifact::ModelKind::Decoder;
  } else if (takeValue(argument, "--result", value)) {
    options.result = value == "hidden"          ? artifact::OutputKind::Hidden
                     : value == "classes"       ? artifact::OutputKind::Classes
                     : value == "token-classes" ? artifact::OutputKind::TokenClasses
                                                : artifact::OutputKind::Logits;
  } else if (takeValue(argument, "--labels", value)) {
    options.classes = splitAtCommas(value);
  } else if (takeValue(argument, "--suppress", value)) {
    options.suppressed = parseNumbers(value);
  } else if (takeValue(argument, "--begin-suppress", value)) {
    options.beginSuppressed = parseNumbers(value);
  } else if (takeValue(argument, "--forbidden", value)) {
    options.forbidden = parseNumbers(value);
  } else if (takeValue(argument, "--pooling", value)) {
    options.pooling = value == "mean" ? artifact::Pooling::Mean : artifact::Pooling::First;
  } else if (takeValue(argument, "--scores", value)) {
    options.scores = value == "sigmoid" ? artifact::ClassScores::Sigmoid : artifact::ClassScores::Values;
  } else if (argument == "--prefix") {
    options.prefix = true;
  } else {
    return false;
  }
  return true;
}

static bool parse(const std::string &argument, FakeOptions &options) {
  std::string value;
  if (takeValue(argument, "--stub", options.stub) || takeValue(argument, "--code", options.code) ||
      takeValue(argument, "--cycle", options.cycle) || takeValue(argument, "--open", options.openName) ||
      parseNumber(argument, options) || parseInterface(argument, options))
    return true;
  if (takeValue(argument, "--targets", value))
    options.targets = splitAtCommas(value);
  else if (takeValue(argument, "--temperature", value))
    options.temperature = strtof(value.c_str(), nullptr);
  else if (argument == "--library")
    options.stub = TALC_LIBRARY, options.openName = "fake_open";
  else if (argument == "--dynamic")
    options.stub = TALC_LAUNCHER_DYNAMIC;
  else if (argument == "--no-tokenizer")
    options.tokenizer = false;
  else if (argument == "--ends")
    options.ends = true;
  else
    return false;
  return true;
}

int main(int count, char **arguments) {
  FakeOptions options;
  options.stub = TALC_LAUNCHER;
  options.code = TALC_FAKE_CODE;
  for (int i = 2; i < count; ++i)
    if (!parse(arguments[i], options)) {
      fprintf(stderr, "unknown option %s\n", arguments[i]);
      return 2;
    }
  if (count < 2)
    return 2;
  test::Bytes bytes = test::assemble(test::makeSections(options));
  if (!options.stub.empty())
    bytes = test::embedIn(test::readBytes(options.stub), options.openName, bytes);
  bool written = !bytes.empty() && test::writeBytes(arguments[1], bytes);
  return written && chmod(arguments[1], 0755) == 0 ? 0 : 1;
}
