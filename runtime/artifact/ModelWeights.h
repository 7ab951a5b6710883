// SPDX-License-Identifier: Apache-2.0
// The weights that a model reads: first those of a Weights section, where they are, then rotary tables in memory of
// their own.
#pragma once

#include "runtime/artifact/Artifact.h"

namespace talc {

class ModelWeights {
public:
  // Finds the weights of a layout, and makes the tables.
  Status open(const Artifact &file, const char *layout, const artifact::ModelInfo &facts);

  const unsigned char *stored() const { return section.bytes; }
  const unsigned char *tables() const { return rotary.data(); }
  uint64_t size() const { return storedBytes + tableBytes; }

  // `count` bytes that follow each other in memory.
  struct Run {
    const unsigned char *bytes;
    uint64_t count;
  };
  // Returns at most `limit` bytes from an offset on.
  Run read(uint64_t offset, uint64_t limit) const;

private:
  Status makeTables(const Artifact &file);

  Artifact::LocatedSection section;
  uint64_t storedBytes = 0, tableBytes = 0;
  Mapping rotary;
};

}  // namespace talc
