// SPDX-License-Identifier: Apache-2.0
// Reads the section table and finds the sections. Every number is checked before it is used.
#include "runtime/artifact/Artifact.h"

#include "runtime/artifact/ChecksumRecord.h"
#include "runtime/artifact/StubHash.h"

#include <cerrno>
#include <cinttypes>
#include <cstring>
#include <set>
#include <sys/mman.h>

namespace talc {

using namespace artifact;

constexpr uint32_t maxSections = 64;

static bool hasKind(const Section &section, SectionKind kind) {
  return section.kind == static_cast<uint32_t>(kind);
}

const char *sectionName(uint32_t kind) {
  switch (static_cast<SectionKind>(kind)) {
  case SectionKind::Manifest:
    return "manifest";
  case SectionKind::ModelInfo:
    return "model info";
  case SectionKind::Code:
    return "code";
  case SectionKind::Weights:
    return "weights";
  case SectionKind::Tokenizer:
    return "tokenizer";
  case SectionKind::Labels:
    return "labels";
  case SectionKind::KvCache:
    return "KV cache";
  case SectionKind::RotaryTables:
    return "rotary tables";
  case SectionKind::Embedding:
    return "embedding";
  case SectionKind::StopTexts:
    return "stop texts";
  case SectionKind::Training:
    return "training";
  case SectionKind::Files:
    return "files";
  }
  return nullptr;
}

Status Artifact::damaged(const char *what) const {
  return Status::failure(TALC_ERROR_DAMAGED, "%s: the artifact is damaged: %s; copy or compile it again",
                         name().c_str(), what);
}

Status Artifact::open(const OpenOptions &wanted) {
  options = wanted;
  std::vector<Section> table;
  if (Status status = readTable(table); status.failed())
    return status;
  if (Status status = checkTable(table); status.failed())
    return status;
  located.reserve(table.size());
  for (const Section &section : table) {
    if (hasKind(section, SectionKind::Weights)) {
      weightLayouts.push_back(section);
      continue;
    }
    if (Status status = locate(section, located.emplace_back()); status.failed())
      return status;
  }
  return {};
}

Status Artifact::openWeights(const char *layout, uint64_t bytes, LocatedSection &weights) const {
  Section found = {};
  for (const Section &section : weightLayouts)
    if (strcmp(section.name, layout) == 0)
      found = section;
  if (found.size < bytes)
    return Status::failure(TALC_ERROR_DAMAGED, "%s: the section 'weights' has %" PRIu64 " bytes, expected %" PRIu64,
                           name().c_str(), found.size, bytes);
  return found.size > 0 ? locate(found, weights) : Status();
}

Status Artifact::readTable(std::vector<Section> &table) {
  Header header;
  memcpy(&header, source.data(), sizeof(header));
  if (header.sectionCount == 0 || header.sectionCount > maxSections)
    return damaged("impossible number of sections");
  uint64_t tableBytes = header.sectionCount * sizeof(Section), endBytes = tableBytes + sizeof(tableHash);
  if (source.size() < sizeof(header) + endBytes)
    return damaged("no room for the section table");
  tableOffset = source.size() - endBytes;
  const unsigned char *bytes = source.data() + tableOffset;
  table.resize(header.sectionCount);
  memcpy(table.data(), bytes, tableBytes);
  memcpy(&tableHash, bytes + tableBytes, sizeof(tableHash));
  if (hashBytes(bytes, tableBytes) != tableHash)
    return damaged("checksum of the section table");
  return {};
}

Status Artifact::checkTable(const std::vector<Section> &table) const {
  uint64_t end = sizeof(Header);
  std::set<std::pair<uint32_t, std::string>> kinds;
  for (const Section &section : table) {
    if (!sectionName(section.kind) || section.reserved != 0)
      return damaged("section of unknown kind");
    if (!memchr(section.name, 0, nameBytes))
      return damaged("section whose name has no end");
    if (section.offset % sectionAlignment != 0)
      return damaged("section not aligned");
    if (section.offset < end || section.offset > tableOffset || section.size > tableOffset - section.offset)
      return damaged("section outside the artifact or over another one");
    end = section.offset + section.size;
    // Weights occur once for each layout, code any number of times.
    std::string name = hasKind(section, SectionKind::Weights) ? section.name : "";
    if (!hasKind(section, SectionKind::Code) && !kinds.insert({section.kind, name}).second)
      return damaged("section of a kind that may occur once only");
  }
  return {};
}

Status Artifact::locate(const Section &section, LocatedSection &result) const {
  result.header = section;
  result.bytes = source.data() + section.offset;
  bool weights = hasKind(section, SectionKind::Weights), copies = weights && options.copyWeights && section.size > 0;
  if (section.size > 0 && (copies || !weights))
    willRead(section);
  if (weights && !copies)
    source.wantHugePages(section.offset, section.size);
  if (copies) {
    result.copy = Mapping::copy(result.bytes, section.size);
    if (result.copy.empty())
      return Status::failure(TALC_ERROR_MEMORY, "%s: no memory for a copy of the weights: %" PRIu64 " bytes: %s",
                             name().c_str(), section.size, strerror(errno));
    result.bytes = result.copy.data();
    source.release(section.offset, section.size);
  }
  return weights ? checkWeights(section, result.bytes) : compareHash(section, result.bytes);
}

void Artifact::willRead(const Section &section) const {
  madvise(const_cast<unsigned char *>(source.data()) + section.offset, section.size, MADV_WILLNEED);
}

// Weights are large: they are compared once for each file, not each time that it is opened.
Status Artifact::checkWeights(const Section &section, const unsigned char *weights) const {
  if (!options.checkWeights)
    return {};
  int file = source.openFile();
  ChecksumRecord note(file, section.offset, section.size, section.hash);
  if (note.exists())
    return {};
  if (Status status = checkStub(file); status.failed())
    return status;
  if (!options.copyWeights)
    willRead(section);
  Status status = compareHash(section, weights);
  if (!status.failed())
    note.write();
  return status;
}

// The stub is read from the file: in memory a debugger may have changed it.
Status Artifact::checkStub(int file) const {
  Header header;
  struct stat facts;
  memcpy(&header, source.data(), sizeof(header));
  if (header.stubHash == 0 || file < 0 || fstat(file, &facts) != 0)
    return {};
  Mapping whole = Mapping::file(file, 0, static_cast<uint64_t>(facts.st_size));
  bool alone = whole.empty() || beginsWithHeader(whole.data(), whole.size());
  return alone || hashStub(whole.data(), whole.size()) == header.stubHash ? Status()
                                                                          : damaged("checksum of the runtime");
}

Status Artifact::compareHash(const Section &section, const unsigned char *bytes) const {
  if (hashBytes(bytes, section.size) == section.hash)
    return {};
  return damaged((std::string("checksum of the section '") + sectionName(section.kind) + "'").c_str());
}

const Artifact::LocatedSection *Artifact::find(SectionKind kind) const {
  for (const LocatedSection &section : located)
    if (section.header.kind == static_cast<uint32_t>(kind))
      return &section;
  return nullptr;
}

}  // namespace talc
