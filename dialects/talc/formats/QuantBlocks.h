// SPDX-License-Identifier: Apache-2.0
// What formats of quant blocks share. The definitions are those of llama.cpp, whose files have the same bytes.
//
// A format is a struct with the number of values and bytes of a block, its fields, and functions that encode and decode
// one block. All arithmetic is f32, rounded after every operation; fused operations would give other bits.
#pragma once

#pragma STDC FP_CONTRACT OFF

#include "dialects/talc/formats/HalfFloats.h"
#include "dialects/talc/formats/StorageFormat.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

namespace talc {

// Scales are f16.
inline float loadHalf(const uint8_t *bytes) {
  uint16_t half;
  std::memcpy(&half, bytes, sizeof(half));
  return halfToFloat(half);
}

// False if the f16 is infinite.
inline bool storeHalf(float value, uint8_t *bytes) {
  uint16_t half = floatToHalf(value);
  std::memcpy(bytes, &half, sizeof(half));
  return std::isfinite(halfToFloat(half));
}

// 1 / value; 0 for zero, and for a number so small that its inverse is infinite: the block then counts as zero.
inline float inverse(float value) {
  float result = value != 0 ? 1 / value : 0;
  return std::isfinite(result) ? result : 0;
}

// The nearest integer, ties to even. For a block that counts as zero, the search for a scale yields numbers from 2^22
// on and infinite ones; as in llama.cpp they become the last bits of this sum.
inline int nearest(float value) {
  constexpr float unit = 1.5f * (1 << 23);  // f32 of this size have no fraction
  float sum = value + unit;
  uint32_t bits;
  std::memcpy(&bits, &sum, sizeof(bits));
  return static_cast<int>(bits & 0x7fffff) - 0x400000;
}

inline int nearestIn(float value, int low, int high) {
  return std::clamp(nearest(value), low, high);
}

template <typename Block> void decodeBlocks(const uint8_t *bytes, int64_t count, int64_t lanes, float *values) {
  uint8_t block[Block::bytes];
  float decoded[Block::values];
  for (const float *end = values + count; values < end; values += Block::values * lanes, bytes += Block::bytes * lanes)
    for (int64_t lane = 0; lane < lanes; ++lane) {
      extractBlock(Block::fields, bytes, lane, lanes, block);
      Block::decode(block, decoded);
      for (int64_t i = 0; i < Block::values; ++i)
        values[i * lanes + lane] = decoded[i];
    }
}

template <typename Block> bool encodeBlocks(const float *values, int64_t count, int64_t lanes, uint8_t *bytes) {
  std::vector<uint8_t> blocks(Block::bytes * lanes);
  float x[Block::values];
  bool fits = true;
  for (const float *end = values + count; values < end;
       values += Block::values * lanes, bytes += Block::bytes * lanes) {
    std::fill(blocks.begin(), blocks.end(), 0);
    for (int64_t lane = 0; lane < lanes; ++lane) {
      bool finite = true;
      for (int64_t i = 0; i < Block::values; ++i) {
        x[i] = values[i * lanes + lane];
        finite &= std::isfinite(x[i]);
      }
      fits &= finite && Block::encode(x, blocks.data() + lane * Block::bytes);
    }
    interleaveBlocks(Block::fields, blocks.data(), Block::bytes, lanes, bytes);
  }
  return fits;
}

inline mlir::Type typeOfBlocks(mlir::MLIRContext *context, const StorageFormat &format) {
  return storedType(context, format);
}

template <typename Block> constexpr StorageFormat blockFormat(std::string_view name) {
  return {name,         Block::values,       Block::bytes,        /*exact=*/false,
          typeOfBlocks, decodeBlocks<Block>, encodeBlocks<Block>, Block::fields};
}

// A format of integer codes with scales, whose words suit integer dot products.
constexpr StorageFormat asIntegers(StorageFormat format) {
  format.integers = true;
  return format;
}

template <typename Block> constexpr StorageFormat integerFormat(std::string_view name) {
  return asIntegers(blockFormat<Block>(name));
}

template <typename Block>
bool encodeByImportance(const float *row, int64_t count, const float *importance, float meanSquare, uint8_t *bytes) {
  std::fill_n(bytes, count / Block::values * Block::bytes, 0);
  bool fits = std::all_of(row, row + count, [](float value) { return std::isfinite(value); });
  for (int64_t i = 0; fits && i < count; i += Block::values, bytes += Block::bytes)
    fits = Block::encodeByImportance(row + i, importance + i, meanSquare, bytes);
  return fits;
}

// A format whose scales are chosen by weighted errors.
template <typename Block> constexpr StorageFormat weighedBlockFormat(std::string_view name) {
  StorageFormat format = blockFormat<Block>(name);
  format.encodeByImportance = encodeByImportance<Block>;
  return format;
}

// One of integer codes.
template <typename Block> constexpr StorageFormat weighedFormat(std::string_view name) {
  return asIntegers(weighedBlockFormat<Block>(name));
}

// A format that no size leads to.
constexpr StorageFormat onlyByName(StorageFormat format) {
  format.forSizes = false;
  return format;
}

// A format whose blocks are assembled from the tables of a checkpoint.
template <typename Block> constexpr StorageFormat assembledFormat(std::string_view name, bool listed) {
  return {name,         Block::values,       Block::bytes,        /*exact=*/false,
          typeOfBlocks, decodeBlocks<Block>, encodeBlocks<Block>, Block::fields,
          listed,       Block::scaleValues,  Block::assemble};
}

}  // namespace talc
