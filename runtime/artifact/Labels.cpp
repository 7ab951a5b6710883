// SPDX-License-Identifier: Apache-2.0
// Every label is followed by a NUL, the last one too.
#include "runtime/artifact/Labels.h"

#include "runtime/tokenizer/Utf8.h"

#include <algorithm>

namespace talc {

const char *readLabels(const unsigned char *bytes, uint64_t size, uint64_t count, std::vector<const char *> &labels) {
  std::string_view text(reinterpret_cast<const char *>(bytes), size);
  if (text.empty() || text.back() != '\0')
    return "the last label has no end";
  if (static_cast<uint64_t>(std::count(text.begin(), text.end(), '\0')) != count)
    return "the model has another number of classes";
  if (tokenizer::findInvalid(text) != std::string_view::npos)
    return "a label is not valid UTF-8";
  for (size_t at = 0; at < text.size(); at = text.find('\0', at) + 1)
    labels.push_back(text.data() + at);
  return nullptr;
}

}  // namespace talc
