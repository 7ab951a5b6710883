// SPDX-License-Identifier: Apache-2.0
// Reads and writes structs of talc.h, whose size differs between the versions of a program and a library.
#pragma once

#include "runtime/Status.h"

#include <algorithm>
#include <cstring>

namespace talc {

// A struct begins with struct_size; 0 means `first`, its size in the first version. A size that no version has was
// never set.
template <typename Struct> Status checkSize(const Struct &given, size_t first, const char *name, size_t &size) {
  size = given.struct_size ? given.struct_size : first;
  if (size >= first && size <= 65536 && size % sizeof(uint32_t) == 0)
    return {};
  return Status::failure(TALC_ERROR_ARGUMENT, "%s: struct_size is %zu, expected sizeof(%s), or 0", name, size, name);
}

// Copies the struct of a caller; fields that the caller's version does not have become 0. A null pointer gives zeros.
// Fails when the caller uses fields that this library does not have.
template <typename Struct> Status readStruct(const Struct *given, size_t first, const char *name, Struct &result) {
  result = {};
  if (!given)
    return {};
  size_t size = 0;
  if (Status status = checkSize(*given, first, name, size); status.failed())
    return status;
  const auto *bytes = reinterpret_cast<const unsigned char *>(given);
  auto isUsed = [](unsigned char byte) { return byte != 0; };
  if (size > sizeof(Struct) && std::any_of(bytes + sizeof(Struct), bytes + size, isUsed))
    return Status::failure(TALC_ERROR_ARGUMENT, "%s: has a field that talc " TALC_VERSION " does not know", name);
  memcpy(&result, given, std::min(size, sizeof(Struct)));
  return {};
}

// Stores as much of `value` as the caller has room for; fields that this library does not have become 0.
template <typename Struct> Status writeStruct(const Struct &value, size_t first, const char *name, Struct *target) {
  size_t size = 0;
  if (Status status = checkSize(*target, first, name, size); status.failed())
    return status;
  constexpr size_t head = sizeof(target->struct_size);
  auto *bytes = reinterpret_cast<unsigned char *>(target);
  memset(bytes + head, 0, size - head);
  memcpy(bytes + head, reinterpret_cast<const unsigned char *>(&value) + head, std::min(size, sizeof(Struct)) - head);
  return {};
}

}  // namespace talc
