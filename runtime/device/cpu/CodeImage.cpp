// SPDX-License-Identifier: Apache-2.0
// Loads a checked ELF file: reserves its address range, maps segments over it, and adds the load address where asked.
#include "runtime/device/cpu/CodeImage.h"

#include "runtime/device/cpu/ElfFile.h"
#include "runtime/device/cpu/PerfMap.h"

#include <cerrno>
#include <cstring>
#include <sys/mman.h>

namespace talc {

static int protection(const Elf64_Phdr &segment) {
  return PROT_READ | (segment.p_flags & PF_W ? PROT_WRITE : 0) | (segment.p_flags & PF_X ? PROT_EXEC : 0);
}

std::string CodeImage::load(const CodeChoice &code) {
  ElfFile elf(code.bytes, code.size);
  if (const char *error = elf.parse())
    return error;
  image = Mapping::reserve(elf.addressSpan());
  if (image.empty() || !mapSegments(elf, code))
    return std::string("cannot be mapped as executable: ") + strerror(errno);
  relocate(elf);
  if (!protectRelocated(elf))
    return std::string("cannot be protected: ") + strerror(errno);
  writePerfMap(code.bytes, code.size, image.data());
  return findEntries(elf, code.header);
}

// A segment is mapped if its offsets in the file and in memory agree modulo the system's page size. Otherwise it is
// copied, as where pages are larger than those of the artifact.
bool CodeImage::mapSegments(const ElfFile &elf, const CodeChoice &code) {
  const uint64_t page = systemPageSize();
  for (const Elf64_Phdr &segment : elf.segments()) {
    uint64_t shift = segment.p_vaddr % page, begin = segment.p_vaddr - shift;
    uint64_t memory = shift + segment.p_memsz, fileBytes = shift + segment.p_filesz;
    unsigned char *target = image.data() + begin;
    bool agrees = (code.fileOffset + segment.p_offset) % page == shift;
    bool mappable = code.file >= 0 && agrees && segment.p_filesz == segment.p_memsz;
    if (mappable) {
      auto offset = static_cast<off_t>(code.fileOffset + segment.p_offset - shift);
      if (mmap(target, fileBytes, protection(segment), MAP_PRIVATE | MAP_FIXED, code.file, offset) == MAP_FAILED)
        return false;
      continue;
    }
    constexpr int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED;
    if (mmap(target, memory, PROT_READ | PROT_WRITE, flags, -1, 0) == MAP_FAILED)
      return false;
    memcpy(target + shift, code.bytes + segment.p_offset, segment.p_filesz);
    __builtin___clear_cache(reinterpret_cast<char *>(target), reinterpret_cast<char *>(target + memory));
    if (mprotect(target, memory, protection(segment)) != 0)
      return false;
  }
  return true;
}

// ElfFile has checked that targets are writable.
void CodeImage::relocate(const ElfFile &elf) {
  for (const Elf64_Rela &relocation : elf.relocations()) {
    uint64_t value = reinterpret_cast<uint64_t>(image.data()) + relocation.r_addend;
    memcpy(image.data() + relocation.r_offset, &value, sizeof(value));
  }
}

bool CodeImage::protectRelocated(const ElfFile &elf) {
  for (const Elf64_Phdr &range : elf.readOnlyAfterRelocation()) {
    const Elf64_Phdr *segment = elf.findSegment(range.p_vaddr, range.p_filesz);
    if (!segment || (segment->p_flags & PF_X))
      continue;
    uint64_t page = systemPageSize();
    uint64_t begin = range.p_vaddr & -page, end = (range.p_vaddr + range.p_filesz) & -page;
    if (begin < end && mprotect(image.data() + begin, end - begin, PROT_READ) != 0)
      return false;
  }
  return true;
}

std::string CodeImage::findEntries(const ElfFile &elf, const artifact::CodeHeader &header) {
  for (uint32_t i = 0; i < header.entryCount; ++i) {
    const artifact::CodeEntry &entry = header.entries[i];
    uint64_t address = elf.findFunction(entry.symbol);
    if (!address)
      return std::string("lacks its function ") + entry.symbol;
    entryFunctions.push_back(reinterpret_cast<artifact::StepFunction>(image.data() + address));
  }
  return "";
}

}  // namespace talc
