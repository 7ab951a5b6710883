// SPDX-License-Identifier: Apache-2.0
// A line of a JSON Lines file of prompts.
#include "runtime/program/input/Inputs.h"
#include "test/fuzz/InputFile.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
  talc::program::JsonLine line;
  readJsonLine(talc::fuzz::inputText(bytes, size), "input", line);
  return 0;
}
