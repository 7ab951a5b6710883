// SPDX-License-Identifier: Apache-2.0
// Maps generated code from the artifact into memory and finds its step functions; a loader that needs no libdl.
#pragma once

#include "runtime/artifact/CodeChoice.h"
#include "runtime/device/cpu/StepContext.h"
#include "runtime/memory/Mapping.h"

#include <string>

namespace talc {

class ElfFile;

class CodeImage {
public:
  // Empty on success, else what is wrong. No page is ever writable and executable.
  std::string load(const CodeChoice &code);

  // Null for a function that the code does not have.
  artifact::StepFunction encode() const { return encodeFunction; }
  artifact::StepFunction prefill() const { return prefillFunction; }
  artifact::StepFunction decode() const { return decodeFunction; }

private:
  bool mapSegments(const ElfFile &elf, const CodeChoice &code);
  void relocate(const ElfFile &elf);
  bool protectRelocated(const ElfFile &elf);
  std::string findEntries(const ElfFile &elf, const artifact::CodeHeader &header);

  Mapping image;
  artifact::StepFunction encodeFunction = nullptr, prefillFunction = nullptr, decodeFunction = nullptr;
};

}  // namespace talc
