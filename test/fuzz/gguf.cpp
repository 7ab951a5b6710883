// SPDX-License-Identifier: Apache-2.0
// The header of a GGUF file, behind magic and version. Sections of data are 64 bytes.
#include "frontends/Diagnostics.h"
#include "frontends/ModelDirectory.h"
#include "frontends/gguf/GgufFile.h"

#include <sys/mman.h>
#include <unistd.h>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
  constexpr size_t dataBytes = 64;
  std::string content("GGUF\3\0\0\0", 8);
  content.append(reinterpret_cast<const char *>(bytes), size).append(dataBytes, '\0');
  int descriptor = memfd_create("model.gguf", MFD_CLOEXEC);
  if (write(descriptor, content.data(), content.size()) != static_cast<ssize_t>(content.size())) {
    close(descriptor);
    return 0;
  }
  talc::OpenFile file(descriptor, content.size());
  talc::Diagnostics diagnostics;
  readGguf(file, "model.gguf", diagnostics);
  return 0;
}
