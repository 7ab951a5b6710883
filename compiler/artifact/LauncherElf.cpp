// SPDX-License-Identifier: Apache-2.0
// Moves one section and its segment of an ELF file to the end, and renames a symbol.
#include "compiler/artifact/LauncherElf.h"

#include "runtime/artifact/StubHash.h"

#include <algorithm>
#include <cstring>
#include <elf.h>

namespace talc {

static uint64_t roundUp(uint64_t value, uint64_t unit) {
  return (value + unit - 1) / unit * unit;
}

#define TEXT_OF(name) #name
#define TEXT(name) TEXT_OF(name)

static constexpr char reservedName[] = TEXT(TALC_RESERVED_OPEN);

size_t maxOpenNameLength() {
  return sizeof(reservedName) - 1;
}

namespace {

class StubEditor {
public:
  explicit StubEditor(std::vector<uint8_t> &bytes) : bytes(bytes) {}

  std::string read();
  std::string rename(const std::string &name);
  std::string moveTo(uint64_t artifactBytes, std::vector<uint8_t> &back);

private:
  std::string findPlaceholder();
  bool holds(const Elf64_Shdr &section) const {
    return section.sh_offset <= bytes.size() && section.sh_size <= bytes.size() - section.sh_offset;
  }
  void hashNames(const Elf64_Shdr &table);
  Elf64_Phdr *placeholderSegment();

  std::vector<uint8_t> &bytes;
  Elf64_Ehdr head = {};
  std::vector<Elf64_Shdr> sections;
  std::vector<Elf64_Phdr> segments;
  size_t placeholder = 0;  // index of the section
};

template <typename T> bool readTable(const std::vector<uint8_t> &bytes, uint64_t at, std::vector<T> &table) {
  if (at > bytes.size() || table.size() * sizeof(T) > bytes.size() - at)
    return false;
  if (!table.empty())
    memcpy(table.data(), bytes.data() + at, table.size() * sizeof(T));
  return true;
}

std::string StubEditor::read() {
  if (bytes.size() < sizeof(head) || memcmp(bytes.data(), ELFMAG, SELFMAG) != 0)
    return "is not an ELF file";
  memcpy(&head, bytes.data(), sizeof(head));
  sections.resize(head.e_shnum);
  segments.resize(head.e_phnum);
  bool isValid = head.e_ident[EI_CLASS] == ELFCLASS64 && readTable(bytes, head.e_shoff, sections) &&
                 readTable(bytes, head.e_phoff, segments);
  for (const Elf64_Shdr &section : sections)
    isValid = isValid && (section.sh_type == SHT_NOBITS || holds(section));
  return isValid ? findPlaceholder() : "is damaged";
}

std::string StubEditor::findPlaceholder() {
  for (placeholder = 0; placeholder < sections.size(); ++placeholder) {
    const Elf64_Shdr &section = sections[placeholder];
    if (section.sh_type == SHT_PROGBITS && section.sh_size >= sizeof(artifact::reservedMagic) &&
        memcmp(bytes.data() + section.sh_offset, artifact::reservedMagic, sizeof(artifact::reservedMagic)) == 0)
      break;
  }
  if (placeholder == sections.size())
    return "has no placeholder for a model";
  for (const Elf64_Shdr &section : sections)
    if ((section.sh_flags & SHF_ALLOC) && section.sh_addr > sections[placeholder].sh_addr && head.e_type != ET_REL)
      return "has its placeholder for a model before other segments";
  return "";
}

// ---- The name

uint32_t hashName(const char *name) {
  uint32_t hash = 0;
  for (; *name; ++name) {
    hash = (hash << 4) + static_cast<unsigned char>(*name);
    hash ^= (hash & 0xf0000000) >> 24;
    hash &= 0x0fffffff;
  }
  return hash;
}

// Fills a hash table of symbols again; its size depends on their number alone.
void StubEditor::hashNames(const Elf64_Shdr &table) {
  const Elf64_Shdr &symbols = sections[table.sh_link], &names = sections[symbols.sh_link];
  std::vector<uint32_t> words(table.sh_size / sizeof(uint32_t));
  memcpy(words.data(), bytes.data() + table.sh_offset, words.size() * sizeof(uint32_t));
  const uint32_t buckets = words[0], count = words[1];
  uint32_t *bucket = &words[2], *chain = bucket + buckets;
  std::fill(words.begin() + 2, words.end(), 0);
  for (uint32_t i = 1; i < count; ++i) {
    Elf64_Sym symbol;
    memcpy(&symbol, bytes.data() + symbols.sh_offset + i * sizeof(symbol), sizeof(symbol));
    uint32_t &first = bucket[hashName(reinterpret_cast<char *>(&bytes[names.sh_offset + symbol.st_name])) % buckets];
    chain[i] = first;
    first = i;
  }
  memcpy(bytes.data() + table.sh_offset, words.data(), words.size() * sizeof(uint32_t));
}

std::string StubEditor::rename(const std::string &name) {
  const std::string reserved = reservedName;
  if (name.size() > reserved.size())
    return "has no room for the name of a function";
  bool isRenamed = false;
  for (const Elf64_Shdr &section : sections) {
    if (section.sh_type != SHT_STRTAB)
      continue;
    auto begin = bytes.begin() + section.sh_offset, end = begin + section.sh_size;
    for (auto at = begin; (at = std::search(at, end, reserved.begin(), reserved.end())) != end; isRenamed = true)
      std::fill(std::copy(name.begin(), name.end(), at), at + reserved.size(), 0);
  }
  for (const Elf64_Shdr &section : sections)
    if (section.sh_type == SHT_HASH)
      hashNames(section);
    else if (section.sh_type == SHT_GNU_HASH)
      isRenamed = false;  // the order of symbols depends on their names
  return isRenamed ? "" : "has no placeholder for the name of a function";
}

// ---- The placeholder

Elf64_Phdr *StubEditor::placeholderSegment() {
  for (Elf64_Phdr &segment : segments)
    if (segment.p_type == PT_LOAD && segment.p_vaddr == sections[placeholder].sh_addr)
      return &segment;
  return nullptr;
}

std::string StubEditor::moveTo(uint64_t artifactBytes, std::vector<uint8_t> &back) {
  Elf64_Phdr *segment = placeholderSegment();
  if (!segment && head.e_type != ET_REL)
    return "has no segment for a model";
  const uint64_t sectionBytes = sections.size() * sizeof(Elf64_Shdr);
  if (head.e_shoff + sectionBytes == bytes.size())
    bytes.resize(head.e_shoff);
  Elf64_Shdr &section = sections[placeholder];
  // The offset in the file and the address agree modulo the alignment, which huge pages need to be their size.
  constexpr uint64_t hugePage = 2 << 20;
  uint64_t alignment = std::max(segment ? segment->p_align : 0, artifact::sectionAlignment);
  if (segment && artifactBytes >= 2 * hugePage)
    alignment = std::max(alignment, hugePage);
  section.sh_offset = bytes.size() + (section.sh_addr - bytes.size()) % alignment;
  section.sh_size = artifactBytes;
  if (segment) {
    segment->p_align = alignment;
    segment->p_offset = section.sh_offset;
    segment->p_filesz = segment->p_memsz = artifactBytes;
    memcpy(bytes.data() + head.e_phoff, segments.data(), segments.size() * sizeof(Elf64_Phdr));
  }
  uint64_t end = section.sh_offset + artifactBytes;
  head.e_shoff = roundUp(end, alignof(Elf64_Shdr));
  memcpy(bytes.data(), &head, sizeof(head));
  bytes.resize(section.sh_offset);
  back.resize(head.e_shoff - end + sectionBytes);
  memcpy(back.data() + back.size() - sectionBytes, sections.data(), sectionBytes);
  return section.sh_offset % artifact::sectionAlignment == 0 ? "" : "has a placeholder that does not begin on a page";
}

}  // namespace

std::string embedArtifact(std::vector<uint8_t> stub, uint64_t artifactBytes, const std::string &openName,
                          LauncherElf &file) {
  file.front = std::move(stub);
  StubEditor editor(file.front);
  std::string problem = editor.read();
  if (problem.empty() && !openName.empty())
    problem = editor.rename(openName);
  if (problem.empty())
    problem = editor.moveTo(artifactBytes, file.back);
  file.hash = artifact::hashStub(file.front.data(), file.front.size());
  return problem;
}

}  // namespace talc
