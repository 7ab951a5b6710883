// SPDX-License-Identifier: Apache-2.0
// Finds an artifact in a file or in memory; it may be embedded in an ELF file.
#include "runtime/artifact/ArtifactBytes.h"

#include "runtime/artifact/StubHash.h"

#include <algorithm>
#include <cerrno>
#include <cinttypes>
#include <cstddef>
#include <cstring>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace talc {

using namespace artifact;

ArtifactBytes::~ArtifactBytes() {
  if (file >= 0)
    close(file);
}

Status ArtifactBytes::noArtifact() const {
  return Status::failure(TALC_ERROR_DAMAGED,
                         "%s: holds no model: it was cut off, or it was not written by talc compile",
                         shownName.c_str());
}

Status ArtifactBytes::openPath(const std::string &path) {
  shownName = path;
  // O_NONBLOCK: opening a named pipe must not wait for a writer.
  file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  return mapFile();
}

Status ArtifactBytes::openDescriptor(int descriptor) {
  shownName = "descriptor " + std::to_string(descriptor);
  file = fcntl(descriptor, F_DUPFD_CLOEXEC, 0);
  return mapFile();
}

Status ArtifactBytes::mapFile() {
  struct stat facts;
  if (file < 0 || fstat(file, &facts) != 0)
    return Status::failure(TALC_ERROR_FILE, "%s: cannot be opened: %s", shownName.c_str(), strerror(errno));
  if (!S_ISREG(facts.st_mode))
    return Status::failure(TALC_ERROR_FILE, "%s: is not a regular file", shownName.c_str());
  if (facts.st_size == 0)
    return noArtifact();
  mapped = Mapping::file(file, 0, static_cast<uint64_t>(facts.st_size));
  if (mapped.empty())
    return Status::failure(TALC_ERROR_FILE, "%s: %" PRIu64 " bytes cannot be mapped: %s", shownName.c_str(),
                           static_cast<uint64_t>(facts.st_size), strerror(errno));
  pagesOfFile = true;
  if (Status status = find(mapped.data(), mapped.size()); status.failed())
    return status;
  offset = static_cast<uint64_t>(begin - mapped.data());
  return {};
}

Status ArtifactBytes::useMemory(const void *content, uint64_t count) {
  shownName = "model in memory";
  if (Status status = find(static_cast<const unsigned char *>(content), count); status.failed())
    return status;
  constexpr uintptr_t alignment = 64;  // the alignment of weights
  if (reinterpret_cast<uintptr_t>(begin) % alignment != 0)
    return Status::failure(TALC_ERROR_ARGUMENT, "%s: begins at %p, expected a multiple of %zu", shownName.c_str(),
                           static_cast<const void *>(begin), static_cast<size_t>(alignment));
  return {};
}

// Whether the system can provide the page of an address, which it cannot where a mapped file has become shorter. A
// system call fails where an access would end this process with a signal.
static bool isReadable(const unsigned char *address) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0)
    return true;
  bool readable = write(ends[1], address, 1) == 1 || errno != EFAULT;
  close(ends[0]);
  close(ends[1]);
  return readable;
}

// The range is loaded with the program or library, however long its file is; its header has the size.
Status ArtifactBytes::useEmbedded(const unsigned char *carried) {
  shownName = thisBinaryName();
  begin = carried;
  bytes = sizeof(Header);
  pagesOfFile = true;
  Header header;
  if (!isReadable(carried))
    return noArtifact();
  memcpy(&header, carried, sizeof(header));
  bytes = header.size;
  if (Status status = checkHeader(); status.failed())
    return status;
  if (!isReadable(carried + bytes - 1))
    return Status::failure(TALC_ERROR_DAMAGED,
                           "%s: the file is shorter than its %" PRIu64 " bytes of model; copy it again",
                           shownName.c_str(), bytes);
  return {};
}

// Finds the loaded segment of an ELF file that begins with the header of an artifact.
static bool findSegment(const unsigned char *content, uint64_t count, uint64_t &at, uint64_t &size) {
  bool isFound = false;
  forEachLoaded(content, count, [&](const Elf64_Phdr &segment, uint64_t) {
    uint64_t rest = count - segment.p_offset;
    if (isFound || segment.p_offset % sectionAlignment != 0 || !beginsWithHeader(content + segment.p_offset, rest))
      return;
    at = segment.p_offset;
    size = std::min<uint64_t>(segment.p_filesz, rest);
    isFound = true;
  });
  return isFound;
}

Status ArtifactBytes::find(const unsigned char *content, uint64_t count) {
  uint64_t at = 0, size = count;
  if (!beginsWithHeader(content, count) && !findSegment(content, count, at, size))
    return noArtifact();
  begin = content + at;
  bytes = size;
  return checkHeader();
}

Status ArtifactBytes::checkHeader() const {
  Header header;
  memcpy(&header, begin, sizeof(header));
  if (memcmp(header.magic, headerMagic, sizeof(headerMagic)) != 0)
    return noArtifact();
  if (header.version != formatVersion)
    return Status::failure(TALC_ERROR_VERSION,
                           "%s: artifact format version %u, but this runtime reads version %u; compile the model again",
                           shownName.c_str(), header.version, formatVersion);
  if (hashBytes(begin, offsetof(Header, hash)) != header.hash || header.size < sizeof(header))
    return Status::failure(TALC_ERROR_DAMAGED,
                           "%s: the artifact is damaged: checksum of the header; copy or compile it again",
                           shownName.c_str());
  if (header.size != bytes)
    return Status::failure(TALC_ERROR_DAMAGED,
                           "%s: the model has %" PRIu64 " bytes, expected %" PRIu64 "; copy it again",
                           shownName.c_str(), bytes, header.size);
  return {};
}

int ArtifactBytes::openFile() const {
  if (file >= 0)
    return fcntl(file, F_DUPFD_CLOEXEC, 0);
  return pagesOfFile ? openThisBinary() : -1;
}

void ArtifactBytes::advise(uint64_t at, uint64_t count, int advice) const {
  uint64_t page = systemPageSize();
  uintptr_t first = reinterpret_cast<uintptr_t>(begin) + at, last = (first + count) & -page;
  first = (first + page - 1) & -page;
  if (pagesOfFile && first < last)
    madvise(reinterpret_cast<void *>(first), last - first, advice);
}

void ArtifactBytes::release(uint64_t at, uint64_t count) const {
  advise(at, count, MADV_DONTNEED);
}

void ArtifactBytes::wantHugePages(uint64_t at, uint64_t count) const {
  advise(at, count, MADV_HUGEPAGE);
}

}  // namespace talc
