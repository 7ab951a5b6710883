// SPDX-License-Identifier: Apache-2.0
// The JSON of a configuration.
#include "frontends/Json.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
  talc::Diagnostics diagnostics;
  std::string_view text(reinterpret_cast<const char *>(bytes), size);
  if (auto value = talc::parseJson(text, "config.json", talc::ImportError::GenerationConfig, diagnostics))
    talc::jsonText(*value);
  return 0;
}
