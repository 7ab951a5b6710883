// SPDX-License-Identifier: Apache-2.0
// Reads the few parts of an ELF64 shared object that loading generated code needs, and refuses everything else.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <elf.h>
#include <vector>

namespace talc {

// Offsets and counts are checked: `at` gives null instead of a pointer outside the file, and what parse() accepted may
// be used without further checks. The bytes must outlive this object.
class ElfFile {
public:
  ElfFile(const unsigned char *bytes, uint64_t size) : bytes(bytes), size(size) {}

  // Returns null, or what is wrong.
  const char *parse();

  // Segments in ascending order on distinct pages; memory size is at least file size, and none is both writable and
  // executable.
  const std::vector<Elf64_Phdr> &segments() const { return loads; }
  const std::vector<Elf64_Phdr> &readOnlyAfterRelocation() const { return relro; }
  uint64_t addressSpan() const { return span; }  // whole pages from address 0
  std::vector<Elf64_Rela> relocations() const;
  // The bytes that are loaded at `address`; null unless all `count` bytes come from the file part of one segment.
  const unsigned char *at(uint64_t address, uint64_t count) const;
  // The segment whose memory contains the range, or null.
  const Elf64_Phdr *findSegment(uint64_t address, uint64_t count) const;
  // Address of a defined function, or 0.
  uint64_t findFunction(const char *name) const;

private:
  struct Table {
    uint64_t address = 0, bytes = 0;
  };

  template <typename T> bool readAt(uint64_t address, T &value) const {
    const unsigned char *source = at(address, sizeof(T));
    if (source)
      memcpy(&value, source, sizeof(T));
    return source != nullptr;
  }
  const char *parseHeader(Elf64_Ehdr &header) const;
  const char *parseSegment(const Elf64_Phdr &segment);
  const char *parseLoad(const Elf64_Phdr &segment);
  const char *parseDynamic();
  const char *parseDynamicEntry(const Elf64_Dyn &entry);
  const char *countSymbols();
  bool countByGnuHash(uint64_t &count) const;
  const char *checkRelocations() const;
  const char *checkSymbols() const;

  const unsigned char *bytes;
  uint64_t size;
  uint64_t span = 0;
  std::vector<Elf64_Phdr> loads, relro;
  Elf64_Phdr dynamic = {};
  Table strings, rela;
  uint64_t symbolTable = 0, symbolCount = 0, hash = 0, gnuHash = 0;
};

}  // namespace talc
