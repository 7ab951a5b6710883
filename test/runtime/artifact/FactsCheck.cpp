// SPDX-License-Identifier: Apache-2.0
// PATH: facts and labels that contradict each other, or that later arithmetic could not bear, are refused by name.
#include "test/runtime/FakeArtifact.h"
#include "test/runtime/RuntimeChecks.h"

#include <cmath>
#include <cstring>
#include <functional>

namespace talc::test {
namespace {

using artifact::ModelInfo, artifact::ModelKind, artifact::OutputKind, artifact::SectionKind;

FakeOptions classifier() {
  FakeOptions options;
  options.code = TALC_FAKE_CODE;
  options.kind = ModelKind::Encoder;
  options.result = OutputKind::TokenClasses;
  options.classes = {"a", "b", "c"};
  return options;
}

Bytes &sectionBytes(std::vector<FakeSection> &sections, SectionKind kind) {
  for (FakeSection &section : sections)
    if (section.kind == kind)
      return section.bytes;
  return sections.front().bytes;
}

bool isRefused(const std::string &path, const std::vector<FakeSection> &sections, const char *part) {
  talc_error error = {};
  talc_model *model = nullptr;
  writeBytes(path, assemble(sections));
  talc_status status = talc_model_open(path.c_str(), nullptr, &model, &error);
  talc_model_close(model);
  return part ? fails(status, TALC_ERROR_DAMAGED, error, part) : expect(status == TALC_OK, error.text);
}

// A change of the facts, which is refused as an impossible `fact`; null: it is accepted.
struct FactCase {
  std::function<void(ModelInfo &)> change;
  const char *fact;
};

bool checkFact(const std::string &path, const FactCase &test) {
  std::vector<FakeSection> sections = makeSections(classifier());
  Bytes &bytes = sectionBytes(sections, SectionKind::ModelInfo);
  ModelInfo info;
  memcpy(&info, bytes.data(), sizeof(info));
  test.change(info);
  memcpy(bytes.data(), &info, sizeof(info));
  return isRefused(path, sections, test.fact);
}

bool checkFacts(const std::string &path, const std::vector<FactCase> &cases) {
  bool good = true;
  for (const FactCase &test : cases)
    good &= checkFact(path, test);
  return good;
}

// Behind classes and 260 logits.
std::function<void(ModelInfo &)> setParts(const std::vector<artifact::OutputInfo> &parts) {
  return [parts](ModelInfo &info) {
    info.outputs[1] = {1, info.vocabularySize};
    std::copy(parts.begin(), parts.end(), info.outputs + 2);
  };
}

bool checkInterface(const std::string &path) {
  const uint32_t tooMany = 1u << 31;
  const std::vector<FactCase> cases = {
      {[](ModelInfo &) {}, nullptr},
      {[](ModelInfo &i) { i.kind = 0; }, "impossible kind of model"},
      {[](ModelInfo &i) { i.kind = 5; }, "impossible kind of model"},
      {[](ModelInfo &i) { i.kind = 1; }, "impossible result of a decoder"},
      {[](ModelInfo &i) { i.kind = 3, i.sourceVocabularySize = 5; }, "impossible result of a decoder"},
      {[](ModelInfo &i) {
         i.outputs[0] = {0, 0};
       },
       "impossible result"},
      {[](ModelInfo &i) { i.outputs[0].kind = 5; }, "impossible result"},
      {[](ModelInfo &i) { i.outputs[0].width = 0; }, "impossible result"},
      {[=](ModelInfo &i) {
         i.outputs[1] = {2, tooMany};
       },
       "impossible result"},
      {[](ModelInfo &i) {
         i.outputs[1] = {0, 8};
       },
       "impossible result"},
      {[](ModelInfo &i) {
         i.outputs[1] = {1, 8};
       },
       "impossible number of logits"},
      {setParts({{5, 202}, {6, 10}, {6, 50}}), nullptr},
      {setParts({{5, 202}, {6, 10}, {6, 51}}), "impossible part of logits"},
      {setParts({{5, 202}, {6, 60}}), "impossible part of logits"},
      {setParts({{5, 260}}), "impossible part of logits"},
      {setParts({{6, 200}, {6, 60}}), "impossible part of logits"},
      {setParts({{5, 202}, {5, 202}, {6, 60}}), "impossible part of logits"},
      {setParts({{5, 201}, {6, 60}, {0, 0}, {6, 60}}), "impossible part of logits"},
      {setParts({{5, 1}, {6, 260}}), "impossible part of logits"},
      {setParts({{5, 202}, {6, 10}, {2, 8}}), "impossible part of logits"},
      {setParts({{5, 202}, {6, 0}, {6, 60}}), "impossible result"},
      {setParts({{5, tooMany}, {6, tooMany}}), "impossible result"},
      {setParts({{5, 252}, {6, 5}, {6, 5}, {6, 0}}), "impossible result"},
      {setParts({{2, 8}, {2, 8}}), "impossible result"},
      {setParts({{7, 8}}), "impossible result"},
      {[](ModelInfo &i) { i.sourceVocabularySize = 8; }, "impossible vocabulary size of sources"},
      {[=](ModelInfo &i) { i.tokenTypes = tooMany; }, "impossible number of token types"},
      {[](ModelInfo &i) { i.usesPrefix = 2; }, "impossible use of prefixes"},
      {[](ModelInfo &i) { i.vocabularySize = 0; }, "impossible vocabulary size"},
      {[=](ModelInfo &i) { i.maxSequence = tooMany; }, "impossible maximum sequence"},
      {[](ModelInfo &i) { i.longestSequence = i.maxSequence - 1; }, "impossible longest sequence"},
      {[=](ModelInfo &i) { i.longestSequence = tooMany; }, "impossible longest sequence"},
      {[](ModelInfo &i) { i.window = 3; }, "impossible ring of the KV cache"},
      {[](ModelInfo &i) { i.sinkTokens = 3; }, "impossible ring of the KV cache"},
      {[](ModelInfo &i) { i.window = 3, i.stepTokens = 4, i.ringTokens = 5; }, "impossible ring of the KV cache"},
      {[](ModelInfo &i) { i.segment = i.maxSequence + 1; }, "impossible segment"},
      {[=](ModelInfo &i) { i.sourceBytesPerToken = tooMany; }, "impossible number of KV cache bytes per token"},
  };
  return checkFacts(path, cases);
}

bool checkGeneration(const std::string &path) {
  const std::vector<FactCase> cases = {
      {[](ModelInfo &i) { i.generation.maskToken = 260; }, "impossible special token"},
      {[](ModelInfo &i) { i.generation.classPlace = 3; }, "impossible token of classes"},
      {[](ModelInfo &i) { i.generation.classToken = 260; }, "impossible special token"},
      {[](ModelInfo &i) { i.generation.startToken = -2; }, "impossible special token"},
      {[](ModelInfo &i) { i.generation.forcedBegin = 260; }, "impossible special token"},
      {[](ModelInfo &i) { i.generation.forcedEnd = 260; }, "impossible special token"},
      {[](ModelInfo &i) { i.generation.suppressed.count = 17; }, "impossible number of suppressed tokens"},
      {[](ModelInfo &i) { i.generation.suppressed.count = -1; }, "impossible number of suppressed tokens"},
      {[](ModelInfo &i) { i.generation.suppressed.count = 1, i.generation.suppressed.ids[0] = 260; },
       "impossible suppressed token"},
      {[](ModelInfo &i) { i.generation.beginSuppressed.count = 17; }, "impossible number of suppressed tokens"},
      {[](ModelInfo &i) { i.generation.beginSuppressed.count = 1, i.generation.beginSuppressed.ids[0] = -1; },
       "impossible suppressed token"},
      {[](ModelInfo &i) { i.generation.beams = 0; }, "impossible number of beams"},
      {[](ModelInfo &i) { i.generation.beams = 1025; }, "impossible number of beams"},
      {[](ModelInfo &i) { i.generation.forbidden.count = 65; }, "impossible forbidden group"},
      {[](ModelInfo &i) {
         i.generation.forbidden.count = 3, i.generation.forbidden.ids[0] = 2, i.generation.forbidden.ids[2] = -1;
       },
       "impossible forbidden group"},
      {[](ModelInfo &i) { i.generation.newTokens = -1; }, "impossible number of new tokens"},
      {[](ModelInfo &i) { i.generation.minNewTokens = -1; }, "impossible number of new tokens"},
      {[](ModelInfo &i) { i.generation.maxLength = -1; }, "impossible length of texts"},
      {[](ModelInfo &i) { i.generation.minLength = -1; }, "impossible length of texts"},
      {[](ModelInfo &i) { i.generation.noRepeatNgram = -1; }, "impossible length of n-grams"},
      {[](ModelInfo &i) { i.generation.lengthPenalty = NAN; }, "impossible length penalty"},
      {[](ModelInfo &i) { i.generation.renormalize = 2; }, "impossible renormalization"},
      {[](ModelInfo &i) { i.generation.earlyStopping = 3; }, "impossible early stopping"},
      {[](ModelInfo &i) { i.pooling = 8; }, "impossible pooling"},
      {[](ModelInfo &i) { i.generation.classScores = 3; }, "impossible scores of classes"},
  };
  return checkFacts(path, cases);
}

bool checkLabels(const std::string &path) {
  auto check = [&](const std::string &text, const char *part) {
    std::vector<FakeSection> sections = makeSections(classifier());
    sectionBytes(sections, SectionKind::Labels).assign(text.begin(), text.end());
    return isRefused(path, sections, part);
  };
  using namespace std::string_literals;
  bool good = check("x\0\0yz\0"s, nullptr) && check("x\0y\0z"s, "labels': the last text has no end");
  good &= check("x\0y\0"s, "labels': the model has another number") && check("x\0y\0z\0z\0"s, "another number");
  good &= check("", "no end") && check("x\0\xff\0z\0"s, "labels': a text is not valid UTF-8");
  FakeOptions options = classifier();  // labels of a model without classes
  options.result = OutputKind::Hidden;
  good &= isRefused(path, makeSections(options), "labels': the model has another number of classes");
  std::vector<FakeSection> twice = makeSections(classifier());
  twice.push_back({SectionKind::Labels, "", sectionBytes(twice, SectionKind::Labels)});
  return good && isRefused(path, twice, "section of a kind that may occur once only");
}

}  // namespace

bool checkFacts(const Arguments &arguments) {
  return checkInterface(arguments.at(0)) && checkGeneration(arguments.at(0)) && checkLabels(arguments.at(0));
}

}  // namespace talc::test
