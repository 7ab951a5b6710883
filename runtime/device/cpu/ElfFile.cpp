// SPDX-License-Identifier: Apache-2.0
// Checks a shared object of generated code. Source: System V ABI (gABI) chapters 4 and 5, and its x86-64 supplement.
//
// The compiler links generated code so that nothing is left to resolve: no undefined symbol, no library, no
// constructor, no thread-local storage, and relocations that only add the load address. That keeps this file short, and
// anything else means the file is not what the compiler wrote.
#include "runtime/device/cpu/ElfFile.h"

#include "runtime/device/cpu/Architecture.h"
#include "runtime/memory/Mapping.h"

namespace talc {

constexpr uint64_t maxSpan = uint64_t(1) << 30;  // address space of code and constants; also makes sums safe
constexpr uint64_t maxSegments = 64;

static uint64_t pageDown(uint64_t address) {
  return address & -systemPageSize();
}
static uint64_t pageUp(uint64_t address) {
  return pageDown(address + systemPageSize() - 1);
}

const char *ElfFile::parse() {
  Elf64_Ehdr header;
  if (const char *error = parseHeader(header))
    return error;
  for (uint64_t i = 0; i < header.e_phnum; ++i) {
    Elf64_Phdr segment;
    memcpy(&segment, bytes + header.e_phoff + i * sizeof(segment), sizeof(segment));
    if (const char *error = parseSegment(segment))
      return error;
  }
  if (loads.empty() || dynamic.p_type != PT_DYNAMIC)
    return "no loadable or no dynamic segment";
  if (const char *error = parseDynamic())
    return error;
  if (const char *error = countSymbols())
    return error;
  if (const char *error = checkSymbols())
    return error;
  return checkRelocations();
}

const char *ElfFile::parseHeader(Elf64_Ehdr &header) const {
  if (size < sizeof(header))
    return "shorter than an ELF header";
  memcpy(&header, bytes, sizeof(header));
  if (memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_ident[EI_CLASS] != ELFCLASS64 ||
      header.e_ident[EI_DATA] != ELFDATA2LSB || header.e_type != ET_DYN)
    return "not a 64-bit little-endian ELF shared object";
  if (header.e_machine != elfMachine)
    return "made for another processor architecture";
  if (header.e_phentsize != sizeof(Elf64_Phdr) || header.e_phnum > maxSegments || header.e_phoff > size ||
      header.e_phnum * sizeof(Elf64_Phdr) > size - header.e_phoff)
    return "program headers outside the file";
  return nullptr;
}

const char *ElfFile::parseSegment(const Elf64_Phdr &segment) {
  switch (segment.p_type) {
  case PT_LOAD:
    return parseLoad(segment);
  case PT_DYNAMIC:
    dynamic = segment;
    return nullptr;
  case PT_GNU_RELRO:
    relro.push_back(segment);
    return nullptr;
  case PT_GNU_STACK:
    return segment.p_flags & PF_X ? "wants an executable stack" : nullptr;
  case PT_NULL:
  case PT_PHDR:
  case PT_NOTE:
  case PT_GNU_EH_FRAME:
  case PT_GNU_PROPERTY:
    return nullptr;
  default:
    return "segment of an unexpected kind";
  }
}

const char *ElfFile::parseLoad(const Elf64_Phdr &segment) {
  if (segment.p_offset > size || segment.p_filesz > size - segment.p_offset)
    return "segment outside the file";
  if (segment.p_vaddr > maxSpan || segment.p_memsz > maxSpan || segment.p_filesz > segment.p_memsz)
    return "segment of an impossible size";
  if ((segment.p_flags & PF_W) && (segment.p_flags & PF_X))
    return "segment both writable and executable";
  if (!(segment.p_flags & PF_R))
    return "segment not readable";
  if (pageDown(segment.p_vaddr) < span)
    return "segments overlap";
  if (segment.p_memsz == 0)
    return nullptr;
  span = pageUp(segment.p_vaddr + segment.p_memsz);
  loads.push_back(segment);
  return nullptr;
}

const unsigned char *ElfFile::at(uint64_t address, uint64_t count) const {
  for (const Elf64_Phdr &segment : loads)
    if (address >= segment.p_vaddr && address - segment.p_vaddr <= segment.p_filesz &&
        count <= segment.p_filesz - (address - segment.p_vaddr))
      return bytes + segment.p_offset + (address - segment.p_vaddr);
  return nullptr;
}

const Elf64_Phdr *ElfFile::findSegment(uint64_t address, uint64_t count) const {
  for (const Elf64_Phdr &segment : loads)
    if (address >= segment.p_vaddr && address - segment.p_vaddr <= segment.p_memsz &&
        count <= segment.p_memsz - (address - segment.p_vaddr))
      return &segment;
  return nullptr;
}

const char *ElfFile::parseDynamic() {
  uint64_t count = dynamic.p_filesz / sizeof(Elf64_Dyn);
  for (uint64_t i = 0; i < count; ++i) {
    Elf64_Dyn entry;
    if (!readAt(dynamic.p_vaddr + i * sizeof(entry), entry))
      return "dynamic table outside the loaded segments";
    if (entry.d_tag == DT_NULL)
      break;
    if (const char *error = parseDynamicEntry(entry))
      return error;
  }
  if (!at(strings.address, strings.bytes))
    return "string table outside the loaded segments";
  if (rela.bytes % sizeof(Elf64_Rela) != 0 || !at(rela.address, rela.bytes))
    return rela.bytes ? "relocations outside the loaded segments" : nullptr;
  return nullptr;
}

const char *ElfFile::parseDynamicEntry(const Elf64_Dyn &entry) {
  uint64_t value = entry.d_un.d_val;
  switch (entry.d_tag) {
  case DT_STRTAB:
    strings.address = value;
    return nullptr;
  case DT_STRSZ:
    strings.bytes = value;
    return nullptr;
  case DT_SYMTAB:
    symbolTable = value;
    return nullptr;
  case DT_HASH:
    hash = value;
    return nullptr;
  case DT_GNU_HASH:
    gnuHash = value;
    return nullptr;
  case DT_RELA:
    rela.address = value;
    return nullptr;
  case DT_RELASZ:
    rela.bytes = value;
    return nullptr;
  case DT_RELAENT:
    return value == sizeof(Elf64_Rela) ? nullptr : "relocations of an unexpected size";
  case DT_SYMENT:
    return value == sizeof(Elf64_Sym) ? nullptr : "symbols of an unexpected size";
  case DT_PLTRELSZ:
    return value == 0 ? nullptr : "calls to other libraries";
  case DT_FLAGS:
    return value & (DF_TEXTREL | DF_STATIC_TLS) ? "relocations in code or thread-local storage" : nullptr;
  case DT_SONAME:
  case DT_RELACOUNT:
  case DT_FLAGS_1:
  case DT_SYMBOLIC:
  case DT_DEBUG:
  case DT_PLTGOT:
  case DT_PLTREL:
  case DT_JMPREL:
    return nullptr;
  default:  // needed libraries, constructors, compressed relocations, symbol versions, ...
    return "dynamic table entry of an unexpected kind";
  }
}

const char *ElfFile::countSymbols() {
  if (hash) {
    uint32_t header[2];  // buckets, chains; there are as many chains as symbols
    if (!readAt(hash, header))
      return "hash table outside the loaded segments";
    symbolCount = header[1];
  } else if (!gnuHash || !countByGnuHash(symbolCount)) {
    return "no usable symbol hash table";
  }
  if (!at(symbolTable, symbolCount * sizeof(Elf64_Sym)))
    return "symbol table outside the loaded segments";
  return nullptr;
}

// The symbol after the end of the chain that begins last.
bool ElfFile::countByGnuHash(uint64_t &count) const {
  struct {
    uint32_t buckets, firstSymbol, filterWords, shift;
  } header;
  if (!readAt(gnuHash, header))
    return false;
  uint64_t buckets = gnuHash + sizeof(header) + uint64_t(header.filterWords) * 8;
  uint64_t chains = buckets + uint64_t(header.buckets) * 4;
  uint64_t last = 0;
  for (uint64_t i = 0; i < header.buckets; ++i) {
    uint32_t first;
    if (!readAt(buckets + i * 4, first))
      return false;
    last = first > last ? first : last;
  }
  count = header.firstSymbol;
  if (last < header.firstSymbol)
    return last == 0;
  for (uint32_t link = 0; !(link & 1); ++last)
    if (!readAt(chains + (last - header.firstSymbol) * 4, link))
      return false;
  count = last;
  return true;
}

const char *ElfFile::checkSymbols() const {
  for (uint64_t i = 1; i < symbolCount; ++i) {
    Elf64_Sym symbol;
    readAt(symbolTable + i * sizeof(symbol), symbol);
    if (symbol.st_shndx == SHN_UNDEF)
      return "undefined symbol";
    if (ELF64_ST_TYPE(symbol.st_info) == STT_TLS || ELF64_ST_TYPE(symbol.st_info) == STT_GNU_IFUNC)
      return "symbol of an unexpected kind";
  }
  return nullptr;
}

std::vector<Elf64_Rela> ElfFile::relocations() const {
  std::vector<Elf64_Rela> result(rela.bytes / sizeof(Elf64_Rela));
  if (!result.empty())
    memcpy(result.data(), at(rela.address, rela.bytes), rela.bytes);
  return result;
}

const char *ElfFile::checkRelocations() const {
  for (const Elf64_Rela &relocation : relocations()) {
    if (ELF64_R_TYPE(relocation.r_info) != relativeRelocation)
      return "relocation of an unexpected kind";
    const Elf64_Phdr *target = findSegment(relocation.r_offset, sizeof(uint64_t));
    if (!target || !(target->p_flags & PF_W))
      return "relocation outside the writable segments";
    if (static_cast<uint64_t>(relocation.r_addend) > span)
      return "relocation to an address outside the image";
  }
  return nullptr;
}

uint64_t ElfFile::findFunction(const char *name) const {
  uint64_t nameBytes = strlen(name) + 1;
  const unsigned char *text = at(strings.address, strings.bytes);
  for (uint64_t i = 1; i < symbolCount; ++i) {
    Elf64_Sym symbol;
    readAt(symbolTable + i * sizeof(symbol), symbol);
    if (symbol.st_name > strings.bytes || nameBytes > strings.bytes - symbol.st_name ||
        memcmp(text + symbol.st_name, name, nameBytes) != 0)
      continue;
    const Elf64_Phdr *segment = findSegment(symbol.st_value, 1);
    return segment && (segment->p_flags & PF_X) ? symbol.st_value : 0;
  }
  return 0;
}

}  // namespace talc
