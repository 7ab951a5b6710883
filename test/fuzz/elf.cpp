// SPDX-License-Identifier: Apache-2.0
// The code section of a compiled model.
#include "runtime/device/cpu/ElfFile.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
  talc::ElfFile file(bytes, size);
  if (file.parse())
    return 0;
  for (const Elf64_Phdr &segment : file.segments())
    file.at(segment.p_vaddr, segment.p_filesz);
  file.relocations();
  file.findFunction("talc_prefill");
  return 0;
}
