// SPDX-License-Identifier: Apache-2.0
// Embeds an artifact in a launcher stub: an ELF file with a placeholder for it (runtime/stub).
//
//   launcher stub                       result
//   ELF header, program headers         the same
//   loaded segments                     the same, but for the name of the function that opens the model
//   .talc: a page, its own segment      moved to the end, as large as the artifact
//   section headers                     after the artifact
//
// The artifact is a section and, except in objects, a loaded segment. Therefore tools that rewrite ELF files (strip,
// objcopy, linkers) keep it, and the system maps it with the other segments.
//
// Plain C++ without LLVM, so that the tests of the runtime can use it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace talc {

struct LauncherElf {
  std::vector<uint8_t> front;  // the bytes before the artifact, up to a page boundary
  std::vector<uint8_t> back;   // the bytes after it
  uint64_t hash = 0;           // for the artifact's header
};

// The length limit for the name of the function that opens a model.
size_t maxOpenNameLength();

// `stub`: the bytes of the launcher stub. `openName`: the function that opens the model; empty for a program. Returns
// what is wrong, or nothing.
std::string embedArtifact(std::vector<uint8_t> stub, uint64_t artifactBytes, const std::string &openName,
                          LauncherElf &file);

}  // namespace talc
