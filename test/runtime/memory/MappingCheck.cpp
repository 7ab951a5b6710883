// SPDX-License-Identifier: Apache-2.0
// FILE: parts of a file as a mapping and as a copy in huge pages, which later changes of the file do not reach; and
// discarding memory.
#include "runtime/memory/Mapping.h"
#include "test/runtime/RuntimeChecks.h"

#include <cerrno>
#include <cstdio>
#include <fcntl.h>
#include <unistd.h>

namespace talc::test {
namespace {

constexpr uint64_t fileBytes = 3000001;

unsigned char byteAt(uint64_t offset) {
  return static_cast<unsigned char>(offset * 2654435761u >> 13);
}

bool write(const std::string &path) {
  FILE *file = fopen(path.c_str(), "wb");
  for (uint64_t i = 0; file && i < fileBytes; ++i)
    fputc(byteAt(i), file);
  return file && fclose(file) == 0;
}

bool holds(const Mapping &mapping, uint64_t offset) {
  for (uint64_t i = 0; i < mapping.size(); ++i)
    if (mapping.data()[i] != byteAt(offset + i))
      return false;
  return !mapping.empty();
}

// Discarding bytes loses at most the whole pages among them.
bool checkDiscarding() {
  Mapping memory = Mapping::zeros(4 * pageSize);
  if (!expect(!memory.empty(), "memory"))
    return false;
  for (uint64_t i = 0; i < memory.size(); ++i)
    memory.data()[i] = byteAt(i);
  memory.discard(pageSize + 1, 2 * pageSize);
  memory.discard(10, 100);
  bool good = true;
  for (uint64_t i = 0; i < memory.size(); ++i)
    good &= memory.data()[i] == byteAt(i) || (i / pageSize == 2 && memory.data()[i] == 0);
  return expect(good, "what is not discarded stays");
}

}  // namespace

bool checkMapping(const Arguments &arguments) {
  const std::string &path = arguments.at(0);
  if (!expect(write(path), path))
    return false;
  int file = open(path.c_str(), O_RDWR);
  bool good = checkDiscarding();
  for (uint64_t offset : {uint64_t(0), 5 * pageSize}) {
    uint64_t bytes = fileBytes - offset;
    Mapping mapped = Mapping::file(file, offset, bytes), copied = Mapping::copy(mapped.data(), bytes);
    good &= expect(mapped.size() == bytes && holds(mapped, offset), "a mapped file");
    good &= expect(copied.size() == bytes && holds(copied, offset), "a copied file");
    good &= expect(reinterpret_cast<uintptr_t>(copied.data()) % (2 << 20) == 0, "a copy begins at a huge page");
  }
  Mapping mapped = Mapping::file(file, 0, fileBytes), copied = Mapping::copy(mapped.data(), fileBytes);
  char other = static_cast<char>(byteAt(0) + 1);
  good &= expect(pwrite(file, &other, 1, 0) == 1, "writing");
  good &= expect(!holds(mapped, 0) && holds(copied, 0), "only a mapping shows what is written to the file");
  errno = 0;
  good &= expect(Mapping::copy(mapped.data(), UINT64_MAX).empty() && errno == ENOMEM, "more than any memory");
  good &= expect(Mapping::copy(mapped.data(), uint64_t(1) << 62).empty() && errno == ENOMEM, "more than there is");
  close(file);
  errno = 0;
  good &= expect(Mapping::file(-1, 0, 10).empty() && errno == EBADF, "no file");
  return good;
}

}  // namespace talc::test
