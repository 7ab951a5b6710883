// SPDX-License-Identifier: Apache-2.0
// Takes the code of an artifact that a device runs best.
#pragma once

#include "runtime/artifact/Artifact.h"

#include <functional>

namespace talc {

struct CodeChoice {
  artifact::CodeHeader header;  // checked
  const char *target;           // that the code was made for, such as x86-64-v3; lives as long as the artifact
  const unsigned char *bytes;   // the code itself
  uint64_t size;
  int file;  // an open file that has the code at fileOffset; -1: only memory has it
  uint64_t fileOffset;
};

// What a device says of code.
struct CodeFamily {
  const char *name;                              // as CodeHeader::family
  std::function<bool(const char *feature)> has;  // as CodeHeader::features
  // Why it does not run code of its family that was made for `target`, and what to do.
  std::function<std::string(const artifact::CodeHeader &code, const char *target)> explainUnsupported;
  talc_status lacking;  // what chooseCode() fails with when there is no code that it runs
};

// The compiler wrote the best code first: the first that the device runs is taken.
Status chooseCode(const Artifact &file, const CodeFamily &family, CodeChoice &choice);

}  // namespace talc
