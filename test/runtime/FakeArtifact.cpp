// SPDX-License-Identifier: Apache-2.0
// Builds the sections that FakeCode.cpp works with and lays them out as the compiler does.
#include "test/runtime/FakeArtifact.h"

#include "compiler/artifact/LauncherElf.h"
#include "test/runtime/FakeGpuCode.h"

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <cstring>

namespace talc::test {

using namespace artifact;

Bytes readBytes(const std::string &path) {
  Bytes result;
  FILE *file = fopen(path.c_str(), "rb");
  if (!file)
    return result;
  unsigned char buffer[65536];
  for (size_t count; (count = fread(buffer, 1, sizeof(buffer), file)) > 0;)
    result.insert(result.end(), buffer, buffer + count);
  fclose(file);
  return result;
}

bool writeBytes(const std::string &path, const Bytes &bytes) {
  FILE *file = fopen(path.c_str(), "wb");
  if (!file)
    return false;
  bool complete = bytes.empty() || fwrite(bytes.data(), 1, bytes.size(), file) == bytes.size();
  return fclose(file) == 0 && complete;
}

template <typename T> static void append(Bytes &bytes, const T *values, size_t count) {
  auto *begin = reinterpret_cast<const unsigned char *>(values);
  bytes.insert(bytes.end(), begin, begin + count * sizeof(T));
}

constexpr uint64_t stateGroup = 16;

// Cells of a state: one for each token.
static int32_t stateCells(const FakeOptions &options) {
  return static_cast<int32_t>((options.maxSequence + stateGroup - 1) / stateGroup * stateGroup);
}

static bool hasSources(const FakeOptions &options) {
  return options.kind == artifact::ModelKind::EncoderDecoder;
}

static uint64_t kvBytes(const FakeOptions &options) {
  return stateCells(options) * sizeof(int32_t) * (hasSources(options) ? 2 : 1);
}

static int32_t firstWidth(const FakeOptions &options) {
  if (options.result == OutputKind::Logits)
    return options.vocabulary;
  return options.classes.empty() ? 8 : static_cast<int32_t>(options.classes.size());
}

static Bytes makeWeights(const FakeOptions &options) {
  int32_t header[6] = {options.vocabulary,  static_cast<int32_t>(kvBytes(options)),
                       options.nanFrom,     hasSources(options) ? stateCells(options) : 0,
                       firstWidth(options), options.hidden};
  std::vector<int32_t> next(options.vocabulary);
  for (int32_t id = 0; id < options.vocabulary; ++id)
    next[id] = (id + 1) % options.vocabulary;
  for (size_t i = 0; i < options.cycle.size(); ++i) {
    bool last = i + 1 == options.cycle.size();
    auto at = [&](size_t k) { return static_cast<unsigned char>(options.cycle[k]); };
    next[at(i)] = !last ? at(i + 1) : options.ends ? endToken : at(0);
  }
  Bytes bytes;
  append(bytes, header, 6);
  append(bytes, next.data(), next.size());
  return bytes;
}

static void fillInterface(const FakeOptions &options, ModelInfo &info) {
  info.kind = static_cast<uint32_t>(options.kind);
  info.outputs[0] = {static_cast<uint32_t>(options.result), static_cast<uint32_t>(firstWidth(options))};
  if (options.hidden > 0)
    info.outputs[1] = {static_cast<uint32_t>(OutputKind::Hidden), static_cast<uint32_t>(options.hidden)};
  info.vocabularySize = options.vocabulary;
  info.sourceVocabularySize = hasSources(options) ? options.sourceVocabulary : 0;
  info.tokenTypes = options.tokenTypes;
  info.usesPrefix = options.prefix;
  info.pooling = static_cast<uint32_t>(options.pooling);
}

template <int32_t most> static void fill(artifact::TokenList<most> &list, const std::vector<int32_t> &ids) {
  list.count = static_cast<int32_t>(ids.size());
  std::copy(ids.begin(), ids.end(), list.ids);
}

static artifact::StoredSettings makeSettings(const FakeOptions &options) {
  auto settings = artifact::neutralSettings<artifact::StoredForm>();
  settings.startToken = options.startToken;
  settings.forcedBegin = options.forcedBegin;
  settings.forcedEnd = options.forcedEnd;
  settings.maskToken = options.maskToken;
  fill(settings.suppressed, options.suppressed);
  fill(settings.forbidden, options.forbidden);
  fill(settings.beginSuppressed, options.beginSuppressed);
  if (options.vocabulary > endToken)
    fill(settings.end, {endToken});
  settings.newTokens = options.newTokens;
  settings.maxLength = options.maxLength;
  settings.minNewTokens = options.minNewTokens;
  settings.minLength = options.minLength;
  settings.beams = options.beams;
  settings.sample = options.temperature > 0;
  settings.temperature = options.temperature;
  settings.classScores = static_cast<int32_t>(options.scores);
  settings.classPlace = static_cast<int32_t>(options.classPlace);
  settings.classToken = options.classToken;
  return settings;
}

static Bytes makeInfo(const FakeOptions &options, uint64_t weightBytes) {
  ModelInfo info = {};
  fillInterface(options, info);
  info.maxSequence = options.maxSequence;
  info.longestSequence = std::max(options.maxSequence, options.longestSequence);
  info.weightBytes = weightBytes;
  info.kvBytesPerSlot = kvBytes(options);
  info.kvBytesPerToken = sizeof(int32_t);
  info.sourceBytesPerToken = hasSources(options) ? sizeof(int32_t) : 0;
  info.kvTokenGroup = stateGroup;
  info.arenaBytesPerToken = sizeof(uint64_t);
  info.arenaBytesFixed = 64;
  info.arenaBytesPerThread = 64;
  info.generation = makeSettings(options);
  strcpy(info.name, "fake");
  Bytes bytes;
  append(bytes, &info, 1);
  return bytes;
}

// The cells of the tokens, then those of the source.
static Bytes makeKvCacheSection(const FakeOptions &options) {
  const uint64_t cell = sizeof(int32_t);
  const KvRun runs[] = {{0, stateGroup * cell, 0, 0}, {stateCells(options) * cell, stateGroup * cell, 1, 0}};
  Bytes bytes;
  append(bytes, runs, hasSources(options) ? 2 : 1);
  return bytes;
}

static Bytes makeLabels(const FakeOptions &options) {
  Bytes bytes;
  for (const std::string &label : options.classes)
    append(bytes, label.c_str(), label.size() + 1);
  return bytes;
}

FakeSection makeCode(const FakeOptions &options, const std::string &target, const std::string &layout) {
  CodeHeader header = {};
  const bool gpu = target == "nvptx";
  strcpy(header.family, target == "other" || gpu ? target.c_str() : "x86-64");
  strcpy(header.layout, layout.c_str());
  auto need = [&](const char *feature) { strcpy(header.features[header.featureCount++], feature); };
  char level = target.back();
  if (level >= '2' && level <= '4')
    need("sse4.2");
  if (level == '3' || level == '4')
    need("avx2");
  if (level == '4')
    need("avx512f");
  if (gpu)
    need("sm_80");
  if (target == "future")
    need("avx9000");
  for (const char *name : {"encode", "prefill", "decode"}) {
    CodeEntry &entry = header.entries[header.entryCount++];
    strcpy(entry.name, name);
    strcpy(entry.symbol, (std::string("talc_") + name).c_str());
  }
  Bytes bytes, code = gpu ? makeGpuCode(makeGpuTables()) : readBytes(options.code);
  append(bytes, &header, 1);
  bytes.resize(codeOffset);
  bytes.insert(bytes.end(), code.begin(), code.end());
  return {SectionKind::Code, target, bytes};
}

std::vector<FakeSection> makeSections(const FakeOptions &options) {
  const char manifest[] = "{\"name\":\"fake\"}";
  Bytes weights = makeWeights(options), text;
  append(text, manifest, strlen(manifest));
  std::vector<FakeSection> sections = {
      {SectionKind::Manifest, "", text},
      {SectionKind::ModelInfo, "", makeInfo(options, weights.size())},
      {SectionKind::KvCache, "", makeKvCacheSection(options)},
      {SectionKind::Weights, "fake", weights},
  };
  for (const std::string &target : options.targets)
    sections.push_back(makeCode(options, target));
  if (!options.classes.empty())
    sections.push_back({SectionKind::Labels, "", makeLabels(options)});
  if (options.tokenizer)
    sections.push_back({SectionKind::Tokenizer, "", makeByteTokenizer()});
  return sections;
}

static void seal(Header &header, Bytes &bytes) {
  header.hash = hashBytes(reinterpret_cast<const unsigned char *>(&header), offsetof(Header, hash));
  memcpy(bytes.data(), &header, sizeof(header));
}

static void setHeader(Bytes &bytes, uint64_t size, size_t sections) {
  Header header = {};
  memcpy(header.magic, headerMagic, sizeof(headerMagic));
  header.version = formatVersion;
  header.sectionCount = static_cast<uint32_t>(sections);
  header.size = size;
  seal(header, bytes);
}

Bytes assemble(const std::vector<FakeSection> &sections) {
  Bytes file(sizeof(Header));
  std::vector<Section> table;
  for (const FakeSection &section : sections) {
    file.resize((file.size() + sectionAlignment - 1) / sectionAlignment * sectionAlignment);
    table.push_back({static_cast<uint32_t>(section.kind),
                     0,
                     file.size(),
                     section.bytes.size(),
                     hashBytes(section.bytes.data(), section.bytes.size()),
                     {}});
    strncpy(table.back().name, section.name.c_str(), nameBytes);
    file.insert(file.end(), section.bytes.begin(), section.bytes.end());
  }
  uint64_t tableBytes = table.size() * sizeof(Section);
  uint64_t hash = hashBytes(reinterpret_cast<const unsigned char *>(table.data()), tableBytes);
  append(file, table.data(), table.size());
  append(file, &hash, 1);
  setHeader(file, file.size(), table.size());
  return file;
}

Bytes embedIn(const Bytes &stub, const std::string &openName, Bytes artifact) {
  LauncherElf file;
  if (std::string problem = embedArtifact(stub, artifact.size(), openName, file); !problem.empty()) {
    fprintf(stderr, "stub: %s\n", problem.c_str());
    return {};
  }
  Header header;
  memcpy(&header, artifact.data(), sizeof(header));
  header.stubHash = file.hash;
  seal(header, artifact);
  file.front.insert(file.front.end(), artifact.begin(), artifact.end());
  file.front.insert(file.front.end(), file.back.begin(), file.back.end());
  return file.front;
}

}  // namespace talc::test
