// SPDX-License-Identifier: Apache-2.0
// Maps generated code from the artifact into memory and finds its step functions; a loader that needs no libdl.
#pragma once

#include "runtime/artifact/CodeChoice.h"
#include "runtime/device/cpu/StepContext.h"
#include "runtime/memory/Mapping.h"

#include <string>
#include <vector>

namespace talc {

class ElfFile;

class CodeImage {
public:
  // Empty on success, else what is wrong. No page is ever writable and executable.
  std::string load(const CodeChoice &code);

  // Of the entries in their order in the CodeHeader.
  const std::vector<artifact::StepFunction> &functions() const { return entryFunctions; }

private:
  bool mapSegments(const ElfFile &elf, const CodeChoice &code);
  void relocate(const ElfFile &elf);
  bool protectRelocated(const ElfFile &elf);
  std::string findEntries(const ElfFile &elf, const artifact::CodeHeader &header);

  Mapping image;
  std::vector<artifact::StepFunction> entryFunctions;
};

}  // namespace talc
