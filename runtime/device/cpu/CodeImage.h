// SPDX-License-Identifier: Apache-2.0
// Maps generated code from the artifact into memory and finds its step functions; a loader that needs no libdl.
#pragma once

#include "runtime/device/cpu/StepContext.h"
#include "runtime/memory/Mapping.h"

#include <string>

namespace talc {

class ElfFile;

class CodeImage {
public:
  // `bytes`: the section's content, which stands at `fileOffset` (a multiple of the page size) of the open file.
  // Empty on success, else what is wrong. No page is ever writable and executable.
  std::string load(const unsigned char *bytes, uint64_t size, int descriptor, uint64_t fileOffset);

  // Null for a function that the code does not have.
  artifact::StepFunction encode() const { return encodeFunction; }
  artifact::StepFunction prefill() const { return prefillFunction; }
  artifact::StepFunction decode() const { return decodeFunction; }

private:
  bool mapSegments(const ElfFile &elf, const unsigned char *bytes, int descriptor, uint64_t fileOffset);
  void relocate(const ElfFile &elf);
  bool protectRelocated(const ElfFile &elf);
  artifact::StepFunction find(const ElfFile &elf, const char *name) const;

  Mapping image;
  artifact::StepFunction encodeFunction = nullptr, prefillFunction = nullptr, decodeFunction = nullptr;
};

}  // namespace talc
