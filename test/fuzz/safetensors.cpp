// SPDX-License-Identifier: Apache-2.0
// A safetensors file.
#include "frontends/Diagnostics.h"
#include "frontends/ModelDirectory.h"
#include "frontends/huggingface/SafetensorsFile.h"

#include <sys/mman.h>
#include <unistd.h>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
  int descriptor = memfd_create("model.safetensors", MFD_CLOEXEC);
  if (write(descriptor, bytes, size) != static_cast<ssize_t>(size)) {
    close(descriptor);
    return 0;
  }
  talc::OpenFile file(descriptor, size);
  talc::Diagnostics diagnostics;
  readSafetensors(file, "model.safetensors", diagnostics);
  return 0;
}
