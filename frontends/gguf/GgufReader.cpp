// SPDX-License-Identifier: Apache-2.0
// Reads through a window of the file, so that many small values take few calls.
#include "frontends/gguf/GgufReader.h"

#include "frontends/tokenizer/unicode/Utf8Text.h"

#include <fmt/format.h>

#include <algorithm>

namespace talc {

bool GgufReader::fail(std::string text) {
  if (problem.empty())
    problem = std::move(text);
  return false;
}

void GgufReader::take(void *destination, uint64_t count) {
  constexpr uint64_t windowBytes = 1 << 20;
  if (failed())
    return;
  if (count > remaining()) {
    fail(fmt::format("needs {} bytes from byte {} on, but has {}; it is truncated", count, at, file.size()));
    return;
  }
  if (at + count > windowBegin + window.size()) {
    windowBegin = at;
    window.resize(std::min(std::max(count, windowBytes), remaining()));
    if (!file.read(at, window.data(), window.size())) {
      fail("cannot be read");
      return;
    }
  }
  std::memcpy(destination, window.data() + (at - windowBegin), count);
  at += count;
}

std::string GgufReader::bytes(uint64_t count) {
  if (count > remaining())
    fail(fmt::format("needs {} bytes from byte {} on, but has {}; it is truncated", count, at, file.size()));
  std::string result(failed() ? 0 : count, '\0');
  take(result.data(), result.size());
  return result;
}

std::string GgufReader::text() {
  auto length = number<uint64_t>();
  if (length > remaining()) {
    fail(fmt::format("has a text of {} bytes at byte {}, where {} are left", length, at, remaining()));
    return {};
  }
  if (length > textLeft) {
    fail(
        fmt::format("has texts of more than {} bytes, most of them in holes of the file", maxRead(file.storedBytes())));
    return {};
  }
  textLeft -= length;
  std::string result = bytes(length);
  if (!frontend::isUtf8(result))
    fail(fmt::format("has a text before byte {} that is not UTF-8", at));
  return failed() ? std::string() : result;
}

}  // namespace talc
