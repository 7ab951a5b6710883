// SPDX-License-Identifier: Apache-2.0
// A tuning record.
#include "test/fuzz/InputFile.h"
#include "tools/talc/tune/TuningRecord.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
  talc::fuzz::InputFile file(talc::fuzz::inputText(bytes, size));
  talc::tools::TuningRecord record;
  std::vector<std::string> notes;
  if (file && record.read(file.path(), talc::NamedBy::User, notes).empty()) {
    record.planOverridesFor("x86_64");
    record.foreignProcessors({"x86_64"});
  }
  return 0;
}
