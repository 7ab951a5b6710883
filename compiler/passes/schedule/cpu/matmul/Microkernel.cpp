// SPDX-License-Identifier: Apache-2.0
// Which way a contraction multiplies.
#include "compiler/passes/schedule/cpu/matmul/Microkernel.h"

#include "compiler/passes/schedule/cpu/matmul/KQuantUnpack.h"
#include "compiler/passes/schedule/cpu/matmul/QuantUnpack.h"
#include "compiler/passes/schedule/cpu/matmul/RegisterTile.h"
#include "dialects/talc/formats/QuantizedActivations.h"

using namespace mlir;

namespace talc {

int64_t blockOfNumbers(const StorageFormat &, int64_t depth, int64_t unit, int64_t, int64_t) {
  constexpr int64_t undivided = 768, least = 256, most = 512;
  unit = std::max<int64_t>(unit, 2);
  for (int64_t size = most / unit * unit; depth > undivided && size >= least; size -= unit)
    if (depth % size == 0)
      return size;
  return depth;
}

// One row of bf16 takes a panel at a time: lines are half as many as of f32, and with four streams each two threads
// leave the processor's own prefetching behind.
int64_t columnsOfNumberRow(const StorageFormat &weight, int64_t lanes) {
  return weight.isUpperHalf && lanes > 8 ? 64 : columnsOfNumbers(weight, 1, lanes);
}

// 1 KiB of such a panel, whose iterations read four lines.
int64_t fetchAheadOfNumbers(const StorageFormat &weight, int64_t lines, int64_t) {
  constexpr int64_t ofPanel = 4;
  return weight.isUpperHalf && lines == ofPanel ? 4 * lines : 64;
}

// Whether AVX2 adds words of four dot products or more before they become sums: what makes these, and what they begin
// with, takes no register meanwhile. Levels of more bits, or with a sign, take registers besides.
static bool hasSmallLevels(const StorageFormat &weight) {
  constexpr int64_t mostOfFour = 31;
  const QuantUnpacker *small = quantUnpacker(weight.name);
  return (small ? small->most : kQuantUnpacker(weight.name)->most) <= mostOfFour;
}

// Beside an accumulator of f32 every pair of row and vector has a sum of integers. NEON has as many registers as
// AVX-512, of which those integers of four rows take eight whose words come from lanes.
int64_t pairsOfIntegers(const StorageFormat &weight, int64_t lanes) {
  if (lanes > 8)
    return 12;
  return lanes < 8 ? 8 : hasSmallLevels(weight) ? 6 : 4;
}

// With two vectors to a row, half of its products find their word in a register: a processor loads two words in the
// time of two products, and fewer where both lie in the same bank of L1, as those of neighbouring rows do. Where that
// leaves two rows, levels would be unpacked for too few: a vector for each row instead.
int64_t rowsOfIntegers(const StorageFormat &weight, int64_t lanes) {
  constexpr int64_t fewest = 3;
  int64_t pairs = pairsOfIntegers(weight, lanes), ofTwo = pairs / 2;
  return ofTwo < fewest ? pairs : ofTwo;
}

// Where three rows are a full tile, four pass a weight once with a vector each.
int64_t tallRowsOfIntegers(const StorageFormat &weight, int64_t lanes) {
  return lanes == 8 && hasSmallLevels(weight) ? 4 : 0;
}

int64_t columnsOfIntegers(const StorageFormat &weight, int64_t rows, int64_t lanes) {
  return lanes * llvm::bit_floor<uint64_t>(std::max<int64_t>(pairsOfIntegers(weight, lanes) / rows, 1));
}

int64_t rowsOfTallTile(const StorageFormat &, int64_t lanes) {
  return lanes > 8 ? 8 : 0;
}

int64_t rowsOfNumbers(const StorageFormat &, int64_t) {
  return tileRows;
}
// A vector of blocks has its scale in a register, too, and what it takes to unpack it hides a chain's latency.
int64_t columnsOfNumbers(const StorageFormat &weight, int64_t rows, int64_t lanes) {
  return weight.blockValues > 1 && lanes == 8 ? 2 * lanes : tileColumns(rows, lanes);
}

// A panel is one stream: of two, read in turns, a processor fetches less ahead.
int64_t columnsOfIntegerRow(const StorageFormat &, int64_t lanes) {
  constexpr int64_t vectors = 4;
  return vectors * lanes;
}

// A quarter of L2 holds all of k but of deep weights: each block loads and stores the sums, and where the rows of a
// result lie 4 KiB apart, they fight for one set of L1. Rows may come from L3 meanwhile: a tile takes each of their
// bytes for all columns of a panel.
int64_t blockOfIntegers(const StorageFormat &weight, int64_t depth, int64_t unit, int64_t lanes, int64_t cacheBytes) {
  constexpr int64_t least = 256;
  for (int64_t blocks = 1; depth / blocks >= least; ++blocks) {
    int64_t size = depth / blocks;
    if (depth % blocks == 0 && size % unit == 0 && weight.byteSize(size * lanes) <= cacheBytes / 4)
      return size;
  }
  return depth;
}

// Tiles of AVX-512 share a vector of levels among more rows, so that these have to be more, and a shift and a mask cost
// less than a load. What it is worth with NEON nobody has measured.
int64_t layoutRowsOfIntegers(bool laborious, int64_t lanes) {
  if (lanes > 8)
    return laborious ? 16 : 0;
  return lanes < 8 ? 0 : laborious ? 8 : 16;
}

// With AVX-512 a share of few tiles is too many lines at once, and the iterations have units to spare.
bool integersFetchShares(int64_t lanes) {
  return lanes <= 8;
}

// Tiles fill the registers of AVX2. Of other levels the panels win little, and the tiles of few rows beside them lose.
bool integersKeepOrder(const StorageFormat &weight, int64_t lanes) {
  return lanes == 8 && hasSmallLevels(weight);
}

// With AVX2 a tile of two or three rows has the columns of one row. Nobody has measured what others have of it.
int64_t rowsAheadOfIntegers(const StorageFormat &, int64_t lanes) {
  return lanes == 8 ? 3 : 1;
}

// Small levels, behind their scales, are; with bytes prefetches gain some percent, and q6_k's scales lie behind its
// levels.
bool areIntegersFollowed(const StorageFormat &weight) {
  return hasSmallLevels(weight);
}

int64_t valuesOfScale(const StorageFormat &, const StorageFormat &rows) {
  return rows.jointValues();
}

int64_t laidOutDepth(int64_t depth, int64_t unit, int64_t lanes) {
  constexpr int64_t levelBytes = 16 << 10, most = 512, least = 128;
  for (int64_t size = std::min(levelBytes / lanes, most) / unit * unit; size >= least; size -= unit)
    if (depth % size == 0)
      return size;
  return 0;
}

Value DequantizedPanels::load(Emitter &e, Value word, Value lane) const {
  auto type = VectorType::get({e.lanes}, e.b.getI32Type());
  return vector::LoadOp::create(e.b, e.loc, type, words, ValueRange{word, lane});
}
Value DequantizedPanels::loadNumber(Emitter &e, Value word, Value lane) const {
  return vector::BitCastOp::create(e.b, e.loc, e.vectorType(), load(e, word, lane));
}
void DequantizedPanels::store(Emitter &e, Value vector, Value word, Value lane) const {
  auto type = VectorType::get({e.lanes}, e.b.getI32Type());
  Value bits = vector::BitCastOp::create(e.b, e.loc, type, vector);
  vector::StoreOp::create(e.b, e.loc, bits, words, ValueRange{word, lane});
}

// Null: none is.
Value TileAccumulators::known(Value k) const {
  Value behind = e.add(firstK, k);
  if (getConstantIntValue(behind) == 0)
    return {};
  return e.firstLanes(e.min(e.mul(behind, e.lanes), e.index(e.lanes)));
}

Value TileAccumulators::load(const Place &place, Value known) const {
  return known ? e.load(memory, {place.row, place.column}, known) : e.splat(0);
}

Emitter::Values TileAccumulators::before() const {
  Emitter::Values sums;
  Value lanes = known(e.index(0));
  for (const Place &place : places)
    sums.push_back(load(place, lanes));
  return sums;
}

void TileAccumulators::store(ValueRange sums) const {
  for (auto [sum, place] : llvm::zip(sums, places))
    e.store(sum, memory, {place.row, place.column});
}

// Masked loads are none that LLVM would turn into registers that go through a whole loop.
void TileAccumulators::update(Value k, llvm::function_ref<Value(size_t number, Value sum)> body) const {
  Value lanes = known(k);
  for (auto [i, place] : llvm::enumerate(places))
    e.store(body(i, load(place, lanes)), memory, {place.row, place.column});
}

// Vectors of four lanes are NEON's, for which there is no code of pairs.
const Microkernel &selectMicrokernel(ShapedType x, ShapedType weight, int64_t lanes) {
  Type rounded = x.getElementType();
  if (!isQuantizedActivation(rounded))
    return f32Microkernel;
  if (isa<FloatType>(rounded)) {
    bool pairs = lanes > 4 && weight.getElementType() == rounded && weight.getDimSize(1) % 2 == 0;
    return pairs ? bf16Microkernel : f32Microkernel;
  }
  // Rows are rounded for one of the weights that they meet: other pairs are widened.
  const StorageFormat &format = elementFormat(weight);
  if (activationFormatFor(format, weight.getDimSize(1)) != getStorageFormat(rounded))
    return f32Microkernel;
  return kQuantUnpacker(format.name) ? kQuantMicrokernel : int8Microkernel;
}

}  // namespace talc
