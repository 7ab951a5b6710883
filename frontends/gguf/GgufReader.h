// SPDX-License-Identifier: Apache-2.0
// Reads numbers and strings of an untrusted file in sequence.
#pragma once

#include "frontends/FileLimits.h"
#include "frontends/ModelDirectory.h"

#include <cstdint>
#include <cstring>
#include <string>

namespace talc {

// After the first failure every read yields zeros, so that callers need to ask only before they act on a value.
class GgufReader {
public:
  explicit GgufReader(const OpenFile &file) : file(file), textLeft(maxRead(file.storedBytes())) {}

  // Little-endian, like all CPUs that talc runs on.
  template <typename T> T number() {
    T value = 0;
    take(&value, sizeof(value));
    return value;
  }
  std::string bytes(uint64_t count);
  // A u64 length and that many bytes of UTF-8.
  std::string text();

  uint64_t position() const { return at; }
  uint64_t remaining() const { return file.size() - at; }
  // Keeps the first problem only. False.
  bool fail(std::string text);
  bool failed() const { return !problem.empty(); }
  const std::string &failure() const { return problem; }

private:
  void take(void *destination, uint64_t count);

  const OpenFile &file;
  uint64_t at = 0, windowBegin = 0;
  uint64_t textLeft;   // bytes that texts may still take
  std::string window;  // bytes of the file from windowBegin on
  std::string problem;
};

}  // namespace talc
