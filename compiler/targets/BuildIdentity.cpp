// SPDX-License-Identifier: Apache-2.0
// Reads the build ids that linkers leave in programs and libraries (ELF note NT_GNU_BUILD_ID). A file without one
// counts by its size and time.
#include "compiler/targets/BuildIdentity.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"

#include <elf.h>
#include <fmt/format.h>
#include <link.h>

namespace talc::targets {

// A note: sizes of its name and content, its type, then both, each padded to 4 bytes.
static std::string buildIdIn(llvm::ArrayRef<uint8_t> notes) {
  auto padded = [](size_t size) { return (size + 3) & ~size_t(3); };
  while (notes.size() >= sizeof(ElfW(Nhdr))) {
    ElfW(Nhdr) head;
    memcpy(&head, notes.data(), sizeof(head));
    notes = notes.drop_front(sizeof(head));
    size_t name = padded(head.n_namesz), content = padded(head.n_descsz);
    if (name + content > notes.size())
      return "";
    if (head.n_type == NT_GNU_BUILD_ID && head.n_namesz == 4 && memcmp(notes.data(), "GNU", 4) == 0)
      return llvm::toHex(notes.slice(name, head.n_descsz));
    notes = notes.drop_front(name + content);
  }
  return "";
}

static std::string identityOf(const dl_phdr_info &object) {
  for (const ElfW(Phdr) & segment : llvm::ArrayRef(object.dlpi_phdr, object.dlpi_phnum))
    if (segment.p_type == PT_NOTE) {
      auto *notes = reinterpret_cast<const uint8_t *>(object.dlpi_addr + segment.p_vaddr);
      if (std::string id = buildIdIn({notes, segment.p_memsz}); !id.empty())
        return id;
    }
  llvm::StringRef name = object.dlpi_name;
  llvm::sys::fs::file_status status;
  if (llvm::sys::fs::status(name.empty() ? "/proc/self/exe" : name, status))
    return name.str();
  return fmt::format("{} {} {}", name.str(), status.getSize(),
                     status.getLastModificationTime().time_since_epoch().count());
}

std::string buildIdentity() {
  std::string result;
  dl_iterate_phdr(
      [](dl_phdr_info *object, size_t, void *result) {
        *static_cast<std::string *>(result) += identityOf(*object) + ";";
        return 0;
      },
      &result);
  return result;
}

}  // namespace talc::targets
