// SPDX-License-Identifier: Apache-2.0
// PATH: which code and which weights of an artifact are taken, and heads of code that cannot be.
#include "runtime/talc.h"
#include "test/runtime/FakeArtifact.h"
#include "test/runtime/RuntimeChecks.h"

#include <cstring>
#include <functional>

namespace talc::test {
namespace {

using artifact::CodeHeader, artifact::SectionKind;

FakeOptions options() {
  FakeOptions options;
  options.code = TALC_FAKE_CODE;
  options.targets = {"any"};
  return options;
}

// The sections of a kind, of which there may be several.
std::vector<FakeSection *> findSections(std::vector<FakeSection> &sections, SectionKind kind) {
  std::vector<FakeSection *> matches;
  for (FakeSection &section : sections)
    if (section.kind == kind)
      matches.push_back(&section);
  return matches;
}

// Opens an artifact: its target, or the text of the error.
std::string open(const std::string &path, const std::vector<FakeSection> &sections) {
  talc_error error = {};
  talc_model *model = nullptr;
  talc_model_info info = {};
  writeBytes(path, assemble(sections));
  if (talc_model_open(path.c_str(), nullptr, &model, &error) == TALC_OK)
    talc_model_get_info(model, &info, nullptr);
  std::string result = info.target ? info.target : error.text;
  talc_model_close(model);
  return result;
}

bool opensAs(const std::string &path, const std::vector<FakeSection> &sections, const std::string &part) {
  std::string result = open(path, sections);
  return expect(result.find(part) != std::string::npos, "expected '" + part + "', found '" + result + "'");
}

bool checkHead(const std::string &path, const std::function<void(CodeHeader &)> &change, const char *part) {
  std::vector<FakeSection> sections = makeSections(options());
  Bytes &bytes = findSections(sections, SectionKind::Code).front()->bytes;
  CodeHeader header;
  memcpy(&header, bytes.data(), sizeof(header));
  change(header);
  memcpy(bytes.data(), &header, sizeof(header));
  return opensAs(path, sections, part);
}

bool checkHeads(const std::string &path) {
  const char *damaged = "the code for any: has a damaged head";
  bool good = checkHead(
      path, [](CodeHeader &) {}, "any");
  good &= checkHead(
      path, [](CodeHeader &h) { h.featureCount = artifact::maxFeatures + 1; }, damaged);
  good &= checkHead(
      path, [](CodeHeader &h) { h.entryCount = artifact::maxEntries + 1; }, damaged);
  good &= checkHead(
      path, [](CodeHeader &h) { memset(h.family, 'x', sizeof(h.family)); }, damaged);
  good &= checkHead(
      path, [](CodeHeader &h) { memset(h.layout, 'x', sizeof(h.layout)); }, damaged);
  good &= checkHead(
      path, [](CodeHeader &h) { memset(h.entries[1].symbol, 'x', sizeof(h.entries[1].symbol)); }, damaged);
  good &= checkHead(
      path,
      [](CodeHeader &h) {
        h.featureCount = 1;
        memset(h.features[0], 'x', sizeof(h.features[0]));
      },
      damaged);
  good &= checkHead(
      path, [](CodeHeader &h) { h.entries[1].symbol[0] = 'x'; }, "lacks its function xalc_prefill");
  good &= checkHead(
      path, [](CodeHeader &h) { h.entryCount = 2; }, "lacks an entry of the model");
  good &= checkHead(
      path, [](CodeHeader &h) { strcpy(h.entries[0].name, "other"); }, "any");  // a decoder has none
  std::vector<FakeSection> sections = makeSections(options());
  findSections(sections, SectionKind::Code).front()->bytes.resize(100);
  return good && opensAs(path, sections, damaged);
}

// Code reads the weights of its own layout; what others need is not even looked at.
bool checkLayouts(const std::string &path) {
  std::vector<FakeSection> sections = makeSections(options());
  sections.insert(sections.begin() + 2, {SectionKind::Weights, "tiles", Bytes(5, 1)});
  bool good = opensAs(path, sections, "any");
  std::vector<FakeSection> twice = sections;
  twice.push_back({SectionKind::Weights, "tiles", Bytes(5, 1)});
  good &= opensAs(path, twice, "section of a kind that may occur once only");
  *findSections(sections, SectionKind::Code).front() = makeCode(options(), "any", "tiles");
  good &= opensAs(path, sections, "the section 'weights' has 5 bytes, expected");
  *findSections(sections, SectionKind::Code).front() = makeCode(options(), "any", "none");
  return good & opensAs(path, sections, "the section 'weights' has 0 bytes, expected");
}

// The first in the file that the machine runs.
bool checkOrder(const std::string &path) {
  FakeOptions several = options();
  several.targets = {"other", "future", "any", "x86-64-v2"};
  bool good = opensAs(path, makeSections(several), "any");
  several.targets = {"x86-64-v2", "any"};
  good &= opensAs(path, makeSections(several), "x86-64-v2");
  several.targets = {};
  return good & opensAs(path, makeSections(several), "the artifact has no code");
}

}  // namespace

bool checkCode(const Arguments &arguments) {
  const std::string &path = arguments.at(0);
  bool heads = checkHeads(path), layouts = checkLayouts(path), order = checkOrder(path);
  return heads && layouts && order;
}

}  // namespace talc::test
