// SPDX-License-Identifier: Apache-2.0
// Limits of untrusted files, so that the memory for what is read of a file grows with its size. Each value of a tree
// takes about a hundred bytes, but a file may have one in every two of its own. The largest tokenizers have 2,100,000
// values in 33 MB.
#pragma once

#include <cstdint>

namespace talc {

constexpr uint64_t maxJsonDepth = 64;

// Keys count as values.
constexpr uint64_t maxJsonValues(uint64_t bytes) {
  return (uint64_t(2) << 20) + bytes / 16;
}

constexpr uint64_t maxLines(uint64_t bytes) {
  return (uint64_t(1) << 20) + bytes / 16;
}

// Ids of a vocabulary, which has a table of them, however few it uses.
constexpr uint64_t maxTokenIds(uint64_t tokens) {
  return (uint64_t(1) << 20) + 16 * tokens;
}

// The bytes that a reader may take of a file of whose bytes so many are stored; the others are zeros in holes. File
// systems that compress store a part only.
constexpr uint64_t maxRead(uint64_t stored) {
  return (uint64_t(16) << 20) + 16 * stored;
}

// The values of all lists of a GGUF file.
constexpr uint64_t maxListValues(uint64_t stored) {
  return (uint64_t(1) << 20) + stored;
}

}  // namespace talc
