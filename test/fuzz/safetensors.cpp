// SPDX-License-Identifier: Apache-2.0
// The header of a safetensors file, behind its length.
#include "frontends/Diagnostics.h"
#include "frontends/ModelDirectory.h"
#include "frontends/huggingface/SafetensorsFile.h"

#include <sys/mman.h>
#include <unistd.h>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
  constexpr size_t dataBytes = 64;
  uint64_t length = size;
  std::string content(reinterpret_cast<const char *>(&length), sizeof(length));
  content.append(reinterpret_cast<const char *>(bytes), size).append(dataBytes, '\0');
  int descriptor = memfd_create("model.safetensors", MFD_CLOEXEC);
  if (write(descriptor, content.data(), content.size()) != static_cast<ssize_t>(content.size())) {
    close(descriptor);
    return 0;
  }
  talc::OpenFile file(descriptor, content.size());
  talc::Diagnostics diagnostics;
  readSafetensors(file, "model.safetensors", diagnostics);
  return 0;
}
