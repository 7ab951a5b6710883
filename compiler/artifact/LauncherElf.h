// SPDX-License-Identifier: Apache-2.0
// Puts an artifact into a stub: an ELF file with a place for it (runtime/stub).
//
//   stub                             product
//   ELF header, program headers         the same
//   what is loaded                      the same, but for the name of the function that opens the model
//   .talc: a page, its own segment      moved behind the rest, as large as the artifact
//   section headers                     behind the artifact
//
// The artifact is a section and, but for objects, a loaded segment like others, so that whatever reads and rewrites ELF
// files (strip, objcopy, linkers) keeps it, and the system maps it with the rest.
//
// Plain C++, for the tests of the runtime.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace talc {

struct LauncherElf {
  std::vector<uint8_t> front;  // what comes before the artifact, which begins at its end, on a page
  std::vector<uint8_t> back;   // what comes behind it
  uint64_t hash = 0;           // for the artifact's header
};

// Letters that the name of a function that opens a model can have.
size_t maxOpenNameLength();

// `stub`: the file's bytes. `openName`: of the function that opens the model; empty: it has none. Returns what is
// wrong, or nothing.
std::string embedArtifact(std::vector<uint8_t> stub, uint64_t artifactBytes, const std::string &openName,
                          LauncherElf &file);

}  // namespace talc
