// SPDX-License-Identifier: Apache-2.0
// The tokenizer section of a compiled model.
#include "runtime/tokenizer/Tokenizer.h"

#include <cstring>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
  std::vector<uint64_t> aligned(size / 8 + 1);
  memcpy(aligned.data(), bytes, size);
  std::unique_ptr<talc::Tokenizer> tokenizer;
  std::string error;
  std::vector<int32_t> ids = {0, 1, 2, 3, 200, 70000};
  if (!talc::Tokenizer::open(reinterpret_cast<const unsigned char *>(aligned.data()), size, tokenizer, error))
    return 0;
  tokenizer->decode(ids.data(), ids.size());
  tokenizer->encode("Once upon a time, l\xC3\xA9 \xE4\xBD\xA0 12 <s>", ids, error);
  return 0;
}
