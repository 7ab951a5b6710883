// SPDX-License-Identifier: Apache-2.0
// The code of a compiled model: a correct ELF file with changed bytes.
#include "runtime/device/cpu/ElfFile.h"
#include "test/fuzz/Patches.h"

#include <fstream>
#include <iterator>

static std::vector<uint8_t> readCode() {
  std::ifstream file(TALC_FAKE_CODE, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
  static const std::vector<uint8_t> correct = readCode();
  std::vector<uint64_t> code = talc::fuzz::patched(correct, bytes, size);
  talc::ElfFile file(reinterpret_cast<const unsigned char *>(code.data()), correct.size());
  if (file.parse())
    return 0;
  for (const Elf64_Phdr &segment : file.segments())
    file.at(segment.p_vaddr, segment.p_filesz);
  file.relocations();
  file.findFunction("talc_prefill");
  return 0;
}
