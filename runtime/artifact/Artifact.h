// SPDX-License-Identifier: Apache-2.0
// Checks the structure and checksums of an artifact, and finds its sections.
#pragma once

#include "runtime/artifact/ArtifactBytes.h"
#include "runtime/artifact/ArtifactFormat.h"

#include <vector>

namespace talc {

struct OpenOptions {
  bool checkWeights = true;  // unless it is known that the file passed
  bool copyWeights = false;  // into huge pages, instead of reading them in place
};

class Artifact {
public:
  struct LocatedSection {
    artifact::Section header;
    const unsigned char *bytes = nullptr;
    Mapping copy;  // holds the bytes if they were copied
  };

  // The bytes of the artifact; one of its functions is called before open().
  ArtifactBytes source;

  // On success every section lies inside the artifact, sections do not overlap, kinds that may occur once do, and
  // checksums match, except for weights, which are not read yet.
  Status open(const OpenOptions &options);

  // Finds the weights of a layout, at least `bytes` of them, and copies them if the options say so.
  Status openWeights(const char *layout, uint64_t bytes, LocatedSection &weights) const;

  // The name of the artifact in messages.
  const std::string &name() const { return source.name(); }
  // A number that differs for any other content except weights; every checksum is a part of it.
  uint64_t fingerprint() const { return tableHash; }
  // The checksum of the stored weights, in the first of their layouts; 0: there are none.
  uint64_t weightsHash() const { return weightLayouts.empty() ? 0 : weightLayouts.front().hash; }
  // All sections except weights, in order.
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
