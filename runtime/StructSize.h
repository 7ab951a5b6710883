// SPDX-License-Identifier: Apache-2.0
// Structs of talc.h that will grow: a program and a library of different versions know different sizes of them.
#pragma once

#include "runtime/Status.h"

#include <algorithm>
#include <cstring>

namespace talc {

// `Struct` begins with struct_size; 0 means `first`, its size in the first version. Copies what a caller gave; fields
// that the caller's version does not have become 0. Null gives zeros. Fails when the caller uses fields that this
// library does not have.
template <typename Struct> Status readStruct(const Struct *given, size_t first, const char *name, Struct &result) {
  result = {};
  if (!given)
    return {};
  size_t size = given->struct_size ? given->struct_size : first;
  const auto *bytes = reinterpret_cast<const unsigned char *>(given);
  auto isUsed = [](unsigned char byte) { return byte != 0; };
  if (size < sizeof(given->struct_size) || size > 65536)
    return Status::failure(TALC_ERROR_ARGUMENT, "%s: struct_size is %zu, expected sizeof(%s)", name, size, name);
  if (size > sizeof(Struct) && std::any_of(bytes + sizeof(Struct), bytes + size, isUsed))
    return Status::failure(TALC_ERROR_ARGUMENT, "%s: has a field that talc " TALC_VERSION " does not know", name);
  memcpy(&result, given, std::min(size, sizeof(Struct)));
  return {};
}

// Stores `value` in what the caller has room for.
template <typename Struct> void writeStruct(const Struct &value, size_t first, Struct *target) {
  size_t size = target->struct_size ? target->struct_size : first;
  auto *bytes = reinterpret_cast<unsigned char *>(target);
  constexpr size_t head = sizeof(target->struct_size);
  if (size > head)
    memcpy(bytes + head, reinterpret_cast<const unsigned char *>(&value) + head, std::min(size, sizeof(Struct)) - head);
}

}  // namespace talc
