// SPDX-License-Identifier: Apache-2.0
// Opens an artifact file, checks its structure and checksums, and maps its sections.
#pragma once

#include "runtime/Status.h"
#include "runtime/artifact/ArtifactFormat.h"
#include "runtime/memory/Mapping.h"

#include <string>
#include <vector>

namespace talc {

struct OpenOptions {
  bool checkWeights = true;  // compare their checksum
  bool copyWeights = false;  // into huge pages, instead of mapping them
};

class Artifact {
public:
  struct MappedSection {
    artifact::Section header;
    Mapping bytes;  // empty for a section of size 0
  };

  Artifact() = default;
  Artifact(const Artifact &) = delete;
  Artifact &operator=(const Artifact &) = delete;
  ~Artifact();

  // `path` empty: the file that this code was loaded from. On success every section lies inside the file, none
  // overlap, kinds that may occur once do, and checksums match; but weights are not looked at yet.
  Status open(const std::string &path, const OpenOptions &options);

  // Maps the weights of a layout, at least so many bytes, as the options say.
  Status openWeights(const char *layout, uint64_t bytes, MappedSection &weights) const;

  // The file as messages call it.
  const std::string &name() const { return fileName; }
  int descriptor() const { return file; }
  // In the order of the file, but for weights.
  const std::vector<MappedSection> &sections() const { return mapped; }
  // The first section of a kind, or null.
  const MappedSection *find(artifact::SectionKind kind) const;

private:
  Status openFile(const std::string &path);
  Status readTrailer(artifact::Trailer &trailer) const;
  Status readTable(const artifact::Trailer &trailer, std::vector<artifact::Section> &table) const;
  Status checkTable(const artifact::Trailer &trailer, const std::vector<artifact::Section> &table) const;
  Status mapSection(const artifact::Section &section, MappedSection &result) const;
  Status readAt(uint64_t offset, void *target, uint64_t size) const;
  Status damaged(const char *what) const;

  std::string fileName;
  OpenOptions options;
  int file = -1;
  uint64_t fileSize = 0;
  std::vector<artifact::Section> weightLayouts;
  std::vector<MappedSection> mapped;
};

const char *sectionName(uint32_t kind);

}  // namespace talc
