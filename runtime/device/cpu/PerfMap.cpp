// SPDX-License-Identifier: Apache-2.0
// Reads the symbol table as untrusted bytes. The file lies where everybody can write, so that it is not opened through a
// link, and only if it belongs to this user.
#include "runtime/device/cpu/PerfMap.h"

#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <elf.h>
#include <fcntl.h>
#include <string>
#include <sys/stat.h>
#include <unistd.h>

namespace talc {

namespace {

class SymbolReader {
public:
  SymbolReader(const unsigned char *bytes, uint64_t size) : bytes(bytes), size(size) {}

  // Lists the functions of all symbol tables.
  std::string list(uint64_t base) const {
    std::string lines;
    Elf64_Ehdr header;
    if (!read(0, header) || header.e_shentsize != sizeof(Elf64_Shdr))
      return lines;
    for (uint64_t i = 0; i < header.e_shnum; ++i) {
      Elf64_Shdr table, names;
      if (read(header.e_shoff + i * sizeof(table), table) && table.sh_type == SHT_SYMTAB &&
          table.sh_link < header.e_shnum && read(header.e_shoff + table.sh_link * sizeof(names), names))
        listTable(table, names, base, lines);
    }
    return lines;
  }

private:
  template <typename T> bool read(uint64_t offset, T &value) const {
    if (offset > size || sizeof(T) > size - offset)
      return false;
    memcpy(&value, bytes + offset, sizeof(T));
    return true;
  }

  void listTable(const Elf64_Shdr &table, const Elf64_Shdr &names, uint64_t base, std::string &lines) const {
    Elf64_Sym symbol;
    for (uint64_t at = 0; at + sizeof(symbol) <= table.sh_size && read(table.sh_offset + at, symbol);
         at += sizeof(symbol)) {
      const std::string name = readName(names, symbol.st_name);
      if (ELF64_ST_TYPE(symbol.st_info) != STT_FUNC || symbol.st_size == 0 || name.empty())
        continue;
      char numbers[48];
      snprintf(numbers, sizeof(numbers), "%" PRIx64 " %" PRIx64 " talc::", base + symbol.st_value, symbol.st_size);
      lines += numbers + name + "\n";
    }
  }

  // A name of printable characters; else nothing.
  std::string readName(const Elf64_Shdr &names, uint64_t offset) const {
    constexpr size_t maxLength = 256;
    std::string name;
    char c = 0;
    while (name.size() < maxLength && offset < names.sh_size && read(names.sh_offset + offset++, c) && c)
      name += c;
    for (char each : name)
      if (each <= ' ' || each > '~')
        return "";
    return c ? "" : name;
  }

  const unsigned char *bytes;
  const uint64_t size;
};

void append(const std::string &lines) {
  const std::string path = "/tmp/perf-" + std::to_string(getpid()) + ".map";
  int file = open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0600);
  if (file < 0)
    return;
  struct stat status;
  bool isOwn = fstat(file, &status) == 0 && S_ISREG(status.st_mode) && status.st_uid == geteuid();
  for (size_t done = 0; isOwn && done < lines.size();) {
    ssize_t count = write(file, lines.data() + done, lines.size() - done);
    if (count <= 0)
      break;
    done += static_cast<size_t>(count);
  }
  close(file);
}

}  // namespace

void writePerfMap(const unsigned char *elf, uint64_t size, const unsigned char *image) {
  const char *wanted = secure_getenv("TALC_PERF");
  if (wanted && strcmp(wanted, "1") == 0)
    append(SymbolReader(elf, size).list(reinterpret_cast<uint64_t>(image)));
}

}  // namespace talc
