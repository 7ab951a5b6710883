// SPDX-License-Identifier: Apache-2.0
// Chooses the code of an artifact that a device runs best.
#pragma once

#include "runtime/artifact/Artifact.h"

#include <functional>

namespace talc {

struct CodeChoice {
  artifact::CodeHeader header;  // checked
  const char *target;           // of the code, such as x86-64-v3; lives as long as the artifact
  const unsigned char *bytes;   // the code itself
  uint64_t size;
  int file;  // an open file that has the code at fileOffset; -1: only memory has it
  uint64_t fileOffset;
};

// The code that a device can run.
struct CodeFamily {
  const char *name;                              // CodeHeader::family
  std::function<bool(const char *feature)> has;  // whether there is a feature of CodeHeader::features
  // Says why the device does not run code of its family for `target`, and what to do.
  std::function<std::string(const artifact::CodeHeader &code, const char *target)> explainUnsupported;
  talc_status lacking;  // the error of chooseCode() when no code runs
};

// The compiler writes the best code first: the first that the device runs is taken.
Status chooseCode(const Artifact &file, const CodeFamily &family, CodeChoice &choice);

}  // namespace talc
