// SPDX-License-Identifier: Apache-2.0
// Reads the section as untrusted bytes: every count is checked against the rest of the section before it is used.
#include "runtime/artifact/RotaryTables.h"

#include <cstring>

namespace talc {

using namespace artifact;

namespace {

constexpr uint32_t maxPositions = 1 << 20, maxHalf = 1 << 16;

class SectionReader {
public:
  SectionReader(const unsigned char *bytes, uint64_t size) : bytes(bytes), rest(size) {}

  // The next `count` objects; null: the section is shorter. Sections begin on a page and all objects take a multiple
  // of 8 bytes, so that they are aligned.
  template <typename T> const T *take(uint64_t count) {
    static_assert(sizeof(T) % 8 == 0);
    if (count > rest / sizeof(T))
      return nullptr;
    const auto *result = reinterpret_cast<const T *>(bytes);
    bytes += count * sizeof(T);
    rest -= count * sizeof(T);
    return result;
  }
  bool isAtEnd() const { return rest == 0; }

private:
  const unsigned char *bytes;
  uint64_t rest;
};

const char *makeTable(SectionReader &reader, unsigned char *tables, uint64_t tableBytes) {
  const auto *table = reader.take<RotaryTable>(1);
  if (!table)
    return "a table without its sizes";
  if (table->positions == 0 || table->positions > maxPositions || table->half == 0 || table->half > maxHalf ||
      table->stride == 0 || table->stride > table->positions)
    return "a table of an impossible size";
  const uint64_t width = 2 * uint64_t(table->half), elements = table->positions * width;
  if (table->offset % 64 != 0 || table->offset > tableBytes || elements > (tableBytes - table->offset) / sizeof(float))
    return "a table outside its memory";
  const uint64_t strides = (uint64_t(table->positions) + table->stride - 1) / table->stride;
  const auto *low = reader.take<double>(table->stride * width), *high = reader.take<double>(strides * width);
  const auto *corrections = reader.take<RotaryCorrection>(table->correctionCount);
  if (!low || !high || !corrections)
    return "a table without all of its numbers";
  auto *values = reinterpret_cast<float *>(tables + table->offset);
  for (uint64_t position = 0; position < table->positions; ++position)
    composeRotaryRow(*table, low + position % table->stride * width, high + position / table->stride * width,
                     values + position * width);
  for (uint32_t i = 0; i < table->correctionCount; ++i) {
    if (corrections[i].element >= elements)
      return "a correction outside its table";
    values[corrections[i].element] = corrections[i].value;
  }
  return nullptr;
}

}  // namespace

const char *makeRotaryTables(const unsigned char *section, uint64_t size, unsigned char *tables, uint64_t tableBytes) {
  SectionReader reader(section, size);
  while (!reader.isAtEnd())
    if (const char *wrong = makeTable(reader, tables, tableBytes))
      return wrong;
  return nullptr;
}

}  // namespace talc
