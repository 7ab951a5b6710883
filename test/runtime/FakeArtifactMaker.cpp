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

// "v2,v4"; "any" is code for any processor.
static std::vector<artifact::CpuLevel> parseLevels(const std::string &text) {
  std::vector<artifact::CpuLevel> levels;
  for (char c : text)
    if (c >= '2' && c <= '4')
      levels.push_back(static_cast<artifact::CpuLevel>(c - '0'));
  if (text == "any")
    levels.push_back(artifact::CpuLevel::Any);
  return levels;
}

static bool parse(const std::string &argument, FakeOptions &options) {
  std::string value;
  if (takeValue(argument, "--carrier", options.carrier) || takeValue(argument, "--code", options.code) ||
      takeValue(argument, "--cycle", options.cycle))
    return true;
  if (takeValue(argument, "--cpu", value))
    options.levels = parseLevels(value);
  else if (takeValue(argument, "--vocabulary", value))
    options.vocabulary = atoi(value.c_str());
  else if (takeValue(argument, "--max-seq", value))
    options.maxSequence = atoi(value.c_str());
  else if (takeValue(argument, "--nan-from", value))
    options.nanFrom = atoi(value.c_str());
  else if (takeValue(argument, "--temperature", value))
    options.temperature = strtof(value.c_str(), nullptr);
  else if (argument == "--library")
    options.carrier = TALC_LIBRARY;
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
  options.carrier = TALC_LAUNCHER;
  options.code = TALC_FAKE_CODE;
  for (int i = 2; i < count; ++i)
    if (!parse(arguments[i], options)) {
      fprintf(stderr, "unknown option %s\n", arguments[i]);
      return 2;
    }
  if (count < 2)
    return 2;
  test::Bytes carrier = options.carrier.empty() ? test::Bytes() : test::readBytes(options.carrier);
  bool written = test::writeBytes(arguments[1], test::assemble(carrier, test::makeSections(options)));
  return written && chmod(arguments[1], 0755) == 0 ? 0 : 1;
}
