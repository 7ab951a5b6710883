// SPDX-License-Identifier: Apache-2.0
// The wire format of protocol buffers: tags, varints, numbers of fixed width, and what has a length.
#include "frontends/huggingface/tokenizer/WireFormat.h"

namespace talc::frontend {

namespace {
constexpr unsigned maxVarintSize = 10;
constexpr uint64_t maxFieldNumber = (1u << 29) - 1;
}  // namespace

bool WireReader::fail() {
  isDamaged = true;
  rest = {};
  return false;
}

bool WireReader::readVarint(uint64_t &value) {
  value = 0;
  for (unsigned i = 0; i < maxVarintSize && i < rest.size(); ++i) {
    auto byte = static_cast<unsigned char>(rest[i]);
    if (i + 1 == maxVarintSize && byte > 1)
      return fail();  // more than 64 bits
    value |= static_cast<uint64_t>(byte & 0x7F) << 7 * i;
    if (byte < 0x80) {
      rest.remove_prefix(i + 1);
      return true;
    }
  }
  return fail();
}

bool WireReader::readFixed(unsigned size, uint64_t &value) {
  if (rest.size() < size)
    return fail();
  value = 0;
  for (unsigned i = 0; i < size; ++i)
    value |= static_cast<uint64_t>(static_cast<unsigned char>(rest[i])) << 8 * i;
  rest.remove_prefix(size);
  return true;
}

bool WireReader::next(WireField &field) {
  uint64_t tag = 0;
  if (rest.empty() || !readVarint(tag))
    return false;
  uint64_t number = tag >> 3;
  if (number == 0 || number > maxFieldNumber)
    return fail();
  field = {static_cast<uint32_t>(number), static_cast<WireType>(tag & 7), 0, {}};
  switch (field.type) {
  case WireType::Varint:
    return readVarint(field.value);
  case WireType::Fixed64:
    return readFixed(8, field.value);
  case WireType::Fixed32:
    return readFixed(4, field.value);
  case WireType::Bytes:
    if (!readVarint(field.value) || field.value > rest.size())
      return fail();
    field.bytes = rest.substr(0, field.value);
    rest.remove_prefix(field.value);
    return true;
  }
  return fail();  // groups are long gone
}

}  // namespace talc::frontend
