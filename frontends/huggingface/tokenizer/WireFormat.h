// SPDX-License-Identifier: Apache-2.0
// Reads messages in the wire format of protocol buffers (https://protobuf.dev/programming-guides/encoding).
#pragma once

#include <cstdint>
#include <string_view>

namespace talc::frontend {

enum class WireType : uint8_t { Varint = 0, Fixed64 = 1, Bytes = 2, Fixed32 = 5 };

struct WireField {
  uint32_t number;
  WireType type;
  uint64_t value;          // of a varint or a fixed-width number
  std::string_view bytes;  // of a string or a message; lies in the message
};

// One message, field by field. Untrusted: nothing is read beyond the message.
class WireReader {
public:
  explicit WireReader(std::string_view message) : rest(message) {}

  // False at the end, and where the message is damaged.
  bool next(WireField &field);
  bool damaged() const { return isDamaged; }

private:
  std::string_view rest;
  bool isDamaged = false;

  bool fail();
  bool readVarint(uint64_t &value);
  bool readFixed(unsigned size, uint64_t &value);
};

}  // namespace talc::frontend
