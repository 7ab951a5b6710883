// SPDX-License-Identifier: Apache-2.0
// CONTRACT between compiler and runtime: the hash of a stub, the program or library around an artifact.
//
// It covers the bytes that the system loads and nobody writes to: code and constants. strip and objcopy leave them as
// they are. It does not cover headers, which they change, and the artifact, which has hashes of its own.
#pragma once

#include "runtime/artifact/ArtifactFormat.h"

#include <algorithm>
#include <cstring>
#include <elf.h>

namespace talc::artifact {

inline bool beginsWithHeader(const unsigned char *bytes, uint64_t size) {
  return size >= sizeof(Header) && memcmp(bytes, headerMagic, sizeof(headerMagic)) == 0;
}

// Calls `visit(segment, headersEnd)` for every loaded segment that lies inside an ELF file, and never for other files.
template <typename Visit> void forEachLoaded(const unsigned char *file, uint64_t size, Visit visit) {
  Elf64_Ehdr head;
  if (size < sizeof(head) || memcmp(file, ELFMAG, SELFMAG) != 0)
    return;
  memcpy(&head, file, sizeof(head));
  uint64_t tableBytes = uint64_t(head.e_phnum) * sizeof(Elf64_Phdr);
  if (head.e_ident[EI_CLASS] != ELFCLASS64 || (tableBytes > 0 && head.e_phentsize != sizeof(Elf64_Phdr)) ||
      head.e_phoff > size || tableBytes > size - head.e_phoff)
    return;
  for (uint64_t at = head.e_phoff; at < head.e_phoff + tableBytes; at += sizeof(Elf64_Phdr)) {
    Elf64_Phdr segment;
    memcpy(&segment, file + at, sizeof(segment));
    if (segment.p_type == PT_LOAD && segment.p_offset <= size)
      visit(segment, head.e_phoff + tableBytes);
  }
}

// Returns 0 for an object file, which is linked into something else, and for files that are not ELF.
inline uint64_t hashStub(const unsigned char *file, uint64_t size) {
  uint64_t hash = 0;
  forEachLoaded(file, size, [&](const Elf64_Phdr &segment, uint64_t headersEnd) {
    uint64_t begin = std::max(segment.p_offset, headersEnd), rest = size - segment.p_offset;
    if ((segment.p_flags & PF_W) || segment.p_filesz > rest || begin >= segment.p_offset + segment.p_filesz ||
        beginsWithHeader(file + segment.p_offset, rest))
      return;
    uint64_t both[] = {hash, hashBytes(file + begin, segment.p_offset + segment.p_filesz - begin)};
    hash = hashBytes(reinterpret_cast<const unsigned char *>(both), sizeof(both));
  });
  return hash;
}

}  // namespace talc::artifact
