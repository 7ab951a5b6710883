// SPDX-License-Identifier: Apache-2.0
// Maps generated code from the artifact into memory and finds its entries, without libdl.
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
  // Returns what is wrong, or an empty text. No page is ever both writable and executable.
  std::string load(const CodeChoice &code);

  // The functions of the entries, in the order of CodeHeader::entries.
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
