// SPDX-License-Identifier: Apache-2.0
// Damaged and hostile artifacts: opening them fails with a text, or works; it never crashes. Run under ASan and UBSan.
#include "runtime/talc.h"
#include "test/runtime/FakeArtifact.h"
#include "test/runtime/RuntimeChecks.h"

#include <cstring>

namespace talc::test {
namespace {

struct Opened {
  talc_status status;
  std::string text;
};

// Opens `bytes` as an artifact; one that opens also tokenizes, but its code is not run: that cannot be made safe.
Opened open(const std::string &path, const Bytes &bytes) {
  talc_error error = {};
  talc_model *model = nullptr;
  if (!writeBytes(path, bytes))
    return {TALC_ERROR_OUTPUT, "cannot write " + path};
  talc_status status = talc_model_open(path.c_str(), nullptr, &model, &error);
  if (status == TALC_OK) {
    int32_t ids[64] = {}, count = 0;
    size_t size = 0;
    char text[4096];
    talc_tokenize(model, "Aé<0x41></s> b", 16, ids, 64, &count, nullptr);
    talc_detokenize(model, ids, std::min(count, 64), text, sizeof(text), &size, nullptr);
    talc_model_info info = {};
    talc_model_get_info(model, &info, nullptr);
    for (int32_t i = 0; i < info.label_count; ++i)
      size += strlen(info.labels[i]);
  }
  talc_model_close(model);
  return {status, error.text};
}

bool expectRefused(const Opened &opened, const std::string &what) {
  bool refused = opened.status == TALC_ERROR_FILE || opened.status == TALC_ERROR_DAMAGED ||
                 opened.status == TALC_ERROR_VERSION || opened.status == TALC_ERROR_CPU;
  return expect(refused && opened.text.compare(0, 9, "error[T04") == 0,
                what + ": status " + std::to_string(opened.status) + " " + opened.text);
}

bool checkCuts(const Bytes &artifact, const std::string &path) {
  bool good = true;
  size_t step = artifact.size() / 100 + 1;
  for (size_t size = 0; size<artifact.size(); size += artifact.size() - size> 64 ? step : 1)
    good &=
        expectRefused(open(path, Bytes(artifact.begin(), artifact.begin() + size)), "cut to " + std::to_string(size));
  Bytes longer = artifact;
  longer.push_back(0);
  return good & expectRefused(open(path, longer), "one byte more");
}

bool checkFlip(Bytes &artifact, size_t at, const std::string &path) {
  artifact[at] ^= 0x10;
  bool good = expectRefused(open(path, artifact), "flipped byte " + std::to_string(at));
  artifact[at] ^= 0x10;
  return good;
}

// A small generator: the same cases in every run.
struct Cases {
  uint64_t state = 88172645463325252ull;
  uint64_t below(uint64_t limit) {
    state ^= state << 13, state ^= state >> 7, state ^= state << 17;
    return state % limit;
  }
};

// Changes some bytes of a section, near its start more often: that is where headers are.
void mutate(Bytes &bytes, Cases &cases) {
  static const unsigned char values[] = {0, 1, 0x7f, 0x80, 0xff};
  for (uint64_t n = 1 + cases.below(4); n > 0 && !bytes.empty(); --n) {
    uint64_t reach = cases.below(2) ? bytes.size() : std::min<uint64_t>(bytes.size(), 1024);
    uint64_t at = cases.below(reach);
    bytes[at] = cases.below(2) ? values[cases.below(sizeof(values))] : static_cast<unsigned char>(cases.below(256));
  }
  if (cases.below(20) == 0)
    bytes.resize(cases.below(bytes.size() + 1));
}

}  // namespace

bool checkDamage(const Arguments &arguments) {
  Bytes artifact = readBytes(arguments.at(0));
  const std::string &path = arguments.at(1);
  artifact::Header header;
  memcpy(&header, artifact.data(), sizeof(header));
  std::vector<artifact::Section> table(header.sectionCount);
  const size_t tableBytes = table.size() * sizeof(table[0]), tableOffset = artifact.size() - tableBytes - 8;
  memcpy(table.data(), artifact.data() + tableOffset, tableBytes);
  bool good = expect(open(path, artifact).status == TALC_OK, "the undamaged artifact") && checkCuts(artifact, path);
  for (const artifact::Section &section : table)
    for (uint64_t place : {uint64_t(0), section.size / 3, section.size / 2, section.size - 1})
      good &= checkFlip(artifact, section.offset + place, path);
  for (size_t at = 0; at < sizeof(header); ++at)
    good &= checkFlip(artifact, at, path);
  for (size_t at = tableOffset; at < artifact.size(); ++at)
    good &= checkFlip(artifact, at, path);
  return good;
}

bool checkHostile(const Arguments &arguments) {
  FakeOptions options, classifier;
  options.code = classifier.code = TALC_FAKE_CODE;
  classifier.kind = artifact::ModelKind::Encoder;
  classifier.result = artifact::OutputKind::Classes;
  classifier.classes = {"good", "bad"};
  const std::string &path = arguments.at(0);
  const int rounds = std::stoi(arguments.at(1));
  const std::vector<FakeSection> models[] = {makeSections(options), makeSections(classifier)};
  Cases cases;
  int opened = 0;
  for (int round = 0; round < rounds; ++round) {
    std::vector<FakeSection> changed = models[round % 2];
    mutate(changed[cases.below(changed.size())].bytes, cases);
    Opened result = open(path, assemble(changed));
    opened += result.status == TALC_OK;
    if (result.status != TALC_OK && !expectRefused(result, "round " + std::to_string(round)))
      return false;
  }
  return expect(opened > 0 && opened < rounds, "hostile artifacts both refused and accepted");
}

}  // namespace talc::test
