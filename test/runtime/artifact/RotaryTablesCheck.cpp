// SPDX-License-Identifier: Apache-2.0
// Rotary tables: composed rows are the cosines and sines of their angles, corrections replace values, and a section
// that is cut or damaged anywhere is refused or stays within its memory (run under ASan).
#include "runtime/artifact/RotaryTables.h"
#include "test/runtime/RuntimeChecks.h"

#include <cmath>
#include <cstring>

namespace talc::test {
namespace {

using artifact::RotaryCorrection, artifact::RotaryTable;
using Bytes = std::vector<unsigned char>;

constexpr uint32_t positions = 90, half = 3, stride = 10;
constexpr uint64_t tableBytes = uint64_t(positions) * 2 * half * sizeof(float), firstByte = 64;
constexpr double turns[half] = {1, 0.25, 0.01};

template <typename T> void append(Bytes &bytes, const T &object) {
  const auto *first = reinterpret_cast<const unsigned char *>(&object);
  bytes.insert(bytes.end(), first, first + sizeof(object));
}

void appendAngles(Bytes &bytes, double position) {
  for (double turn : turns)
    append(bytes, std::cos(position * turn));
  for (double turn : turns)
    append(bytes, std::sin(position * turn));
}

Bytes makeSection(const RotaryTable &table) {
  Bytes bytes;
  append(bytes, table);
  for (uint32_t i = 0; i < stride; ++i)
    appendAngles(bytes, i);
  for (uint32_t i = 0; i < positions; i += stride)
    appendAngles(bytes, i);
  append(bytes, RotaryCorrection{4, 77});
  return bytes;
}

// Makes the tables of a section; returns what is wrong with it, or null.
const char *make(const Bytes &section, std::vector<float> &tables) {
  tables.assign((firstByte + tableBytes) / sizeof(float), 0);
  std::vector<double> aligned((section.size() + 7) / 8 + 1);
  memcpy(aligned.data(), section.data(), section.size());
  return makeRotaryTables(reinterpret_cast<const unsigned char *>(aligned.data()), section.size(),
                          reinterpret_cast<unsigned char *>(tables.data()), firstByte + tableBytes);
}

bool checkValues(const RotaryTable &table) {
  std::vector<float> tables;
  bool right = expect(!make(makeSection(table), tables), "a section that is whole");
  const float *values = tables.data() + firstByte / sizeof(float);
  for (uint32_t p = 0; p < positions; ++p)
    for (uint32_t i = 0; i < 2 * half; ++i) {
      double angle = p * turns[i % half], expected = table.amplitude * (i < half ? std::cos(angle) : std::sin(angle));
      bool isCorrection = p == 0 && i == 4;
      float value = values[p * 2 * half + i];
      right &= expect(isCorrection ? value == 77 : std::fabs(value - expected) < 2e-7,
                      "position " + std::to_string(p) + ", value " + std::to_string(i) + ": " + std::to_string(value));
    }
  return right;
}

bool checkCuts(const RotaryTable &table) {
  const Bytes section = makeSection(table);
  std::vector<float> tables;
  bool right = true;
  for (size_t size = 1; size < section.size(); ++size)
    right &= expect(make(Bytes(section.begin(), section.begin() + static_cast<long>(size)), tables),
                    "a section cut at " + std::to_string(size));
  return right;
}

bool refuses(RotaryTable table, const char *part) {
  std::vector<float> tables;
  const char *wrong = make(makeSection(table), tables);
  return expect(wrong && strstr(wrong, part),
                std::string("expected '") + part + "', found " + (wrong ? wrong : "none"));
}

template <typename Change> RotaryTable changed(RotaryTable table, Change change) {
  change(table);
  return table;
}

}  // namespace

bool checkRotaryTables(const Arguments &) {
  const RotaryTable table = {firstByte, positions, half, stride, 1, 1.5};
  auto with = [&](auto change) { return changed(table, change); };
  bool right = checkValues(table) && checkCuts(table);
  right &= refuses(with([](RotaryTable &t) { t.positions = 0; }), "an impossible size");
  right &= refuses(with([](RotaryTable &t) { t.positions = UINT32_MAX; }), "an impossible size");
  right &= refuses(with([](RotaryTable &t) { t.half = UINT32_MAX; }), "an impossible size");
  right &= refuses(with([](RotaryTable &t) { t.stride = 0; }), "an impossible size");
  right &= refuses(with([](RotaryTable &t) { t.stride = positions + 1; }), "an impossible size");
  right &= refuses(with([](RotaryTable &t) { t.offset = 32; }), "outside its memory");
  right &= refuses(with([](RotaryTable &t) { t.offset = 128; }), "outside its memory");
  right &= refuses(with([](RotaryTable &t) { t.offset = uint64_t(-64); }), "outside its memory");
  right &= refuses(with([](RotaryTable &t) { t.positions = positions + 1; }), "outside its memory");
  right &= refuses(with([](RotaryTable &t) { t.correctionCount = UINT32_MAX; }), "without all of its numbers");
  right &= refuses(with([](RotaryTable &t) { t.positions = 1, t.half = 1, t.stride = 1; }), "");
  return right;
}

}  // namespace talc::test
