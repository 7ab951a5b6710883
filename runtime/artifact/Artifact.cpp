// SPDX-License-Identifier: Apache-2.0
// Reads an artifact from its end: trailer, section table, sections. Every number is checked before it is used.
#include "runtime/artifact/Artifact.h"

#include "runtime/artifact/OwnFile.h"

#include <cerrno>
#include <cinttypes>
#include <cstring>
#include <fcntl.h>
#include <set>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace talc {

using namespace artifact;

constexpr uint32_t maxSections = 64;

static bool isOf(const Section &section, SectionKind kind) {
  return section.kind == static_cast<uint32_t>(kind);
}

Artifact::~Artifact() {
  if (file >= 0)
    close(file);
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
  }
  return nullptr;
}

Status Artifact::damaged(const char *what) const {
  return Status::failure(TALC_ERROR_DAMAGED, "%s: the artifact is damaged: %s; copy or compile it again",
                         fileName.c_str(), what);
}

Status Artifact::open(const std::string &path, const OpenOptions &wanted) {
  options = wanted;
  Trailer trailer;
  std::vector<Section> table;
  if (Status status = openFile(path); status.failed())
    return status;
  if (Status status = readTrailer(trailer); status.failed())
    return status;
  if (Status status = readTable(trailer, table); status.failed())
    return status;
  if (Status status = checkTable(trailer, table); status.failed())
    return status;
  mapped.reserve(table.size());
  for (const Section &section : table) {
    if (isOf(section, SectionKind::Weights)) {
      weightLayouts.push_back(section);
      continue;
    }
    if (Status status = mapSection(section, mapped.emplace_back()); status.failed())
      return status;
  }
  return {};
}

Status Artifact::openWeights(const char *layout, uint64_t bytes, MappedSection &weights) const {
  Section found = {};
  for (const Section &section : weightLayouts)
    if (strcmp(section.name, layout) == 0)
      found = section;
  if (found.size < bytes)
    return Status::failure(TALC_ERROR_DAMAGED, "%s: the section 'weights' has %" PRIu64 " bytes, expected %" PRIu64,
                           fileName.c_str(), found.size, bytes);
  return found.size > 0 ? mapSection(found, weights) : Status();
}

Status Artifact::openFile(const std::string &path) {
  OwnFile own = path.empty() ? findOwnFile() : OwnFile{path, path};
  fileName = own.name.empty() ? "this program" : own.name;
  // O_NONBLOCK: opening a named pipe must not wait for a writer.
  file = ::open(own.path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  struct stat facts;
  if (file < 0 || fstat(file, &facts) != 0)
    return Status::failure(TALC_ERROR_FILE, "%s: cannot be opened: %s", fileName.c_str(), strerror(errno));
  if (!S_ISREG(facts.st_mode))
    return Status::failure(TALC_ERROR_FILE, "%s: is not a regular file", fileName.c_str());
  fileSize = static_cast<uint64_t>(facts.st_size);
  return {};
}

Status Artifact::readAt(uint64_t offset, void *target, uint64_t size) const {
  auto *bytes = static_cast<unsigned char *>(target);
  while (size > 0) {
    ssize_t count = pread(file, bytes, size, static_cast<off_t>(offset));
    if (count < 0 && errno == EINTR)
      continue;
    if (count <= 0)
      return Status::failure(TALC_ERROR_FILE, "%s: cannot be read at byte %" PRIu64 ": %s", fileName.c_str(), offset,
                             count < 0 ? strerror(errno) : "the file became shorter");
    bytes += count;
    offset += count;
    size -= count;
  }
  return {};
}

Status Artifact::readTrailer(Trailer &trailer) const {
  auto noArtifact = [&] {
    return Status::failure(TALC_ERROR_DAMAGED,
                           "%s: no model at the end of the file: it was cut off, or it was not written by talc compile",
                           fileName.c_str());
  };
  if (fileSize < sizeof(Trailer))
    return noArtifact();
  if (Status status = readAt(fileSize - sizeof(Trailer), &trailer, sizeof(Trailer)); status.failed())
    return status;
  if (memcmp(trailer.magic, trailerMagic, sizeof(trailerMagic)) != 0)
    return noArtifact();
  if (trailer.version != formatVersion)
    return Status::failure(TALC_ERROR_VERSION,
                           "%s: artifact format version %u, but this runtime reads version %u; compile the model again",
                           fileName.c_str(), trailer.version, formatVersion);
  if (trailer.fileSize != fileSize)
    return Status::failure(TALC_ERROR_DAMAGED,
                           "%s: the file has %" PRIu64 " bytes, expected %" PRIu64 "; copy it again", fileName.c_str(),
                           fileSize, trailer.fileSize);
  return {};
}

Status Artifact::readTable(const Trailer &trailer, std::vector<Section> &table) const {
  if (trailer.sectionCount == 0 || trailer.sectionCount > maxSections)
    return damaged("impossible number of sections");
  uint64_t tableBytes = trailer.sectionCount * sizeof(Section);
  if (fileSize < sizeof(Trailer) + tableBytes || trailer.tableOffset != fileSize - sizeof(Trailer) - tableBytes)
    return damaged("the section table is not where it should be");
  table.resize(trailer.sectionCount);
  if (Status status = readAt(trailer.tableOffset, table.data(), tableBytes); status.failed())
    return status;
  if (hashBytes(reinterpret_cast<const unsigned char *>(table.data()), tableBytes) != trailer.tableHash)
    return damaged("checksum of the section table");
  return {};
}

Status Artifact::checkTable(const Trailer &trailer, const std::vector<Section> &table) const {
  uint64_t end = 0;
  std::set<std::pair<uint32_t, std::string>> seen;
  for (const Section &section : table) {
    if (!sectionName(section.kind) || section.reserved != 0)
      return damaged("section of unknown kind");
    if (!memchr(section.name, 0, nameBytes))
      return damaged("section whose name has no end");
    if (section.offset % sectionAlignment != 0)
      return damaged("section not aligned");
    if (section.offset < end || section.offset > trailer.tableOffset ||
        section.size > trailer.tableOffset - section.offset)
      return damaged("section outside the file or over another one");
    end = section.offset + section.size;
    // Of weights there is one for each layout, of code any number.
    std::string name = isOf(section, SectionKind::Weights) ? section.name : "";
    if (!isOf(section, SectionKind::Code) && !seen.insert({section.kind, name}).second)
      return damaged("section of a kind that may occur once only");
  }
  return {};
}

Status Artifact::mapSection(const Section &section, MappedSection &result) const {
  result.header = section;
  bool weights = isOf(section, SectionKind::Weights), copies = weights && options.copyWeights;
  if (section.size > 0) {
    result.bytes = (copies ? Mapping::copy : Mapping::file)(file, section.offset, section.size);
    if (result.bytes.empty())
      return Status::failure(TALC_ERROR_FILE, "%s: the section '%s' (%" PRIu64 " bytes) cannot be %s: %s",
                             fileName.c_str(), sectionName(section.kind), section.size, copies ? "copied" : "mapped",
                             strerror(errno));
  }
  if (!weights || options.checkWeights) {
    if (section.size > 0 && !copies)
      madvise(result.bytes.data(), section.size, MADV_WILLNEED);
    if (hashBytes(result.bytes.data(), section.size) != section.hash)
      return damaged((std::string("checksum of the section '") + sectionName(section.kind) + "'").c_str());
  }
  return {};
}

const Artifact::MappedSection *Artifact::find(SectionKind kind) const {
  for (const MappedSection &section : mapped)
    if (section.header.kind == static_cast<uint32_t>(kind))
      return &section;
  return nullptr;
}

}  // namespace talc
