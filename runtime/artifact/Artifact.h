// SPDX-License-Identifier: Apache-2.0
// Checks the structure and checksums of an artifact, and finds its sections.
#pragma once

#include "runtime/artifact/ArtifactBytes.h"
#include "runtime/artifact/ArtifactFormat.h"

#include <vector>

namespace talc {

struct OpenOptions {
  bool checkWeights = true;  // compare their checksum, unless it is known that the file passed
  bool copyWeights = false;  // into huge pages, instead of reading them where they are
};

class Artifact {
public:
  struct LocatedSection {
    artifact::Section header;
    const unsigned char *bytes = nullptr;
    Mapping copy;  // what holds the bytes if they were copied
  };

  // What the artifact is read from; one of its functions is called before open().
  ArtifactBytes source;

  // On success every section lies inside the artifact, none overlap, kinds that may occur once do, and checksums match;
  // but weights are not looked at yet.
  Status open(const OpenOptions &options);

  // Finds the weights of a layout, at least so many bytes, and copies them if the options say so.
  Status openWeights(const char *layout, uint64_t bytes, LocatedSection &weights) const;

  // The artifact as messages call it.
  const std::string &name() const { return source.name(); }
  // Another number for every other content but weights, of which every checksum is a part.
  uint64_t fingerprint() const { return tableHash; }
  // In their order, but for weights.
  const std::vector<LocatedSection> &sections() const { return located; }
  // The first section of a kind, or null.
  const LocatedSection *find(artifact::SectionKind kind) const;

private:
  Status readTable(std::vector<artifact::Section> &table);
  Status checkTable(const std::vector<artifact::Section> &table) const;
  Status locate(const artifact::Section &section, LocatedSection &result) const;
  void willRead(const artifact::Section &section) const;
  Status checkWeights(const artifact::Section &section, const unsigned char *weights) const;
  Status checkStub(int file) const;
  Status compareHash(const artifact::Section &section, const unsigned char *bytes) const;
  Status damaged(const char *what) const;

  OpenOptions options;
  uint64_t tableOffset = 0, tableHash = 0;
  std::vector<artifact::Section> weightLayouts;
  std::vector<LocatedSection> located;
};

const char *sectionName(uint32_t kind);

}  // namespace talc
