// SPDX-License-Identifier: Apache-2.0
// A generation_config.json beside a config.json.
#include "frontends/ModelDirectory.h"
#include "frontends/families/Families.h"
#include "frontends/huggingface/HuggingFace.h"
#include "test/fuzz/InputFile.h"

#include <nlohmann/json.hpp>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
  static const talc::fuzz::InputDirectory files;
  files.write("generation_config.json", talc::fuzz::inputText(bytes, size));
  talc::Diagnostics diagnostics;
  auto directory = talc::ModelDirectory::open(files.path(), diagnostics);
  if (directory)
    talc::readGenerationConfig(*directory, {{"eos_token_id", 2}}, {}, /*vocabulary=*/1000, diagnostics);
  return 0;
}
