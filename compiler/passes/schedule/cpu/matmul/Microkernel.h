// SPDX-License-Identifier: Apache-2.0
// How a tile of a contraction multiplies: there is a way for each kind of operands, and all that differs between them.
#pragma once

#include "compiler/passes/schedule/Emitter.h"

namespace talc {

struct MatmulContext;

// The number-th of `count` turns of an iteration.
struct PrefetchSlot {
  int64_t number = 0, count = 1;
};
// Fetches ahead, in a turn of the iteration that begins at k.
using PrefetchInSlot = std::function<void(mlir::Value k, PrefetchSlot turn)>;

// What a block of k of some panels has, unpacked once for many rows: words of each lane, in the order and as many as
// the products say. Null: tiles read the weight.
struct DequantizedPanels {
  mlir::Value words;  // i32, [words, lanes of all panels]

  explicit operator bool() const { return words != nullptr; }
  mlir::Value load(Emitter &e, mlir::Value word, mlir::Value lane) const;
  mlir::Value loadNumber(Emitter &e, mlir::Value word, mlir::Value lane) const;  // as f32
  void store(Emitter &e, mlir::Value vector, mlir::Value word, mlir::Value lane) const;
};

// One tile's rows and vectors of columns, for `depth` steps of k.
struct TileOperands {
  Emitter::Values rows, features;  // of x: each row, and the first of its features
  Emitter::Values panels, lanes;   // of the weight: where each vector of columns lies
  mlir::Value firstK;              // of the weight
  int64_t depth;
  PrefetchInSlot fetch;  // called in every turn of every iteration; may be null
  bool streams;          // whether `fetch` fetches what comes later of the same panels
  DequantizedPanels laidOut = {};
  Emitter::Values laidOutLanes = {};  // of each vector
};

// A tile's sums, row by row, wait in memory for what later k add.
class TileAccumulators {
public:
  using Value = mlir::Value;
  struct Place {
    Value row, column;
  };

  // Those of a tile that begins at `firstK` of the weight.
  TileAccumulators(Emitter &e, Value memory, std::vector<Place> places, Value firstK)
      : e(e), memory(memory), places(std::move(places)), firstK(firstK) {}

  // Before the tile's first k; in front of the weight's they are zero, and not read.
  Emitter::Values before() const;
  void store(mlir::ValueRange sums) const;
  // Before k of the tile, of each what becomes of it there, so that no register waits for that.
  void update(Value k, llvm::function_ref<Value(size_t number, Value sum)> body) const;

private:
  Value known(Value k) const;
  Value load(const Place &place, Value known) const;

  Emitter &e;
  const Value memory;
  const std::vector<Place> places;
  const Value firstK;
};

// How products take panels that are unpacked once for many rows.
struct DequantizedLayout {
  // From so many rows on loading unpacked words takes less time than unpacking them again; 0: never.
  int64_t (*rows)(const StorageFormat &weight, int64_t lanes);
  // Words of so many k.
  int64_t (*words)(const StorageFormat &weight, int64_t depth);
  // Unpacks the vectors of a tile without rows.
  void (*layOut)(const MatmulContext &c, const TileOperands &tile);
  // Whether a tile fetches its share of what comes next before its products, each line once, or in its iterations.
  bool (*fetchesShares)(int64_t lanes) = [](int64_t) { return true; };
  // Whether kernels that have such panels keep their order (kernel.keeps_source_order).
  bool (*keepsOrder)(const StorageFormat &weight, int64_t lanes) = [](const StorageFormat &, int64_t) { return false; };
};

// Of a tall tile: there is none.
inline int64_t noTallRows(const StorageFormat &, int64_t) {
  return 0;
}

// Of rows that fetch ahead: one alone does.
inline int64_t oneRowAhead(const StorageFormat &, int64_t) {
  return 1;
}

struct Microkernel {
  // Rows of a full tile; columns, a multiple of the lanes, that fill the accumulators of one of so many rows; steps of
  // k per iteration.
  int64_t (*rows)(const StorageFormat &weight, int64_t lanes);
  int64_t (*columns)(const StorageFormat &weight, int64_t rows, int64_t lanes);
  // Of one row, which reads a weight once; it takes no less than a panel.
  int64_t (*columnsOfRow)(const StorageFormat &weight, int64_t lanes);
  int64_t (*steps)(const StorageFormat &weight, int64_t lanes);
  // Whether an iteration takes so many steps, whatever a plan says.
  bool fixedSteps;
  // Blocks of k of a weight begin at multiples of this, beside rows of a format.
  int64_t (*depthUnit)(const StorageFormat &weight, const StorageFormat &rows);
  // Lines that one row fetches ahead of a weight from memory, of which an iteration reads so many.
  int64_t (*fetchAhead)(const StorageFormat &weight, int64_t lines, int64_t lanes);
  // Of a block of `depth` steps of k in all, which so many lanes pass.
  int64_t (*blockDepth)(const StorageFormat &weight, int64_t depth, int64_t unit, int64_t lanes, int64_t cacheBytes);
  // Whether a block has no more rows than stay in L2 with all of k.
  bool rowsStay;
  // Adds what the tile's k make to its sums.
  void (*multiply)(const MatmulContext &c, const TileOperands &tile, const TileAccumulators &sums);
  // Of a tall tile; 0: there is none.
  int64_t (*tallRows)(const StorageFormat &weight, int64_t lanes) = noTallRows;
  // Whether few rows take large weights as one stream where a processor drops fetches that it has no room for.
  bool streams = false;
  // Null: there is none.
  const DequantizedLayout *layout = nullptr;
  // So many rows that take whole panels fetch them ahead as one row does, where fetches wait for room.
  int64_t (*rowsAhead)(const StorageFormat &weight, int64_t lanes) = oneRowAhead;
  // Whether one row reads the weight so that a processor that follows streams brings it in faster by itself.
  bool (*isFollowed)(const StorageFormat &weight) = [](const StorageFormat &) { return false; };
  // Columns of a tall tile, where a full one has so many: as many, or half of them.
  int64_t (*tallColumns)(const StorageFormat &weight, int64_t columns,
                         int64_t lanes) = [](const StorageFormat &, int64_t columns, int64_t) { return columns / 2; };
};

// Fused multiply-adds of f32, which the weight is widened to.
extern const Microkernel f32Microkernel;
// Exact sums of products of integers, brought into the chain with their scales.
extern const Microkernel int8Microkernel;
// The same of blocks of 256, whose rows have a scale for as many.
extern const Microkernel kQuantMicrokernel;
// Two steps of k at a time, of rows rounded to bf16 and a weight of bf16.
extern const Microkernel bf16Microkernel;

// Of a tall tile of eight, for which only AVX-512 has registers.
int64_t rowsOfTallTile(const StorageFormat &weight, int64_t lanes);
// Of numbers of 32 or 16 bits: rows of a full tile, and columns; a block, which is a divisor of a large depth or all of
// it.
int64_t rowsOfNumbers(const StorageFormat &weight, int64_t lanes);
int64_t columnsOfNumbers(const StorageFormat &weight, int64_t rows, int64_t lanes);
int64_t blockOfNumbers(const StorageFormat &weight, int64_t depth, int64_t unit, int64_t lanes, int64_t cacheBytes);
// Of a single row of them: columns, and lines that it fetches ahead.
int64_t columnsOfNumberRow(const StorageFormat &weight, int64_t lanes);
int64_t fetchAheadOfNumbers(const StorageFormat &weight, int64_t lines, int64_t lanes);
// Of integers: pairs of a row and a vector of a full tile, and its rows; those of a tall one of AVX2; columns of one of
// so many rows, and of a single row; a block: all of k, or the greatest part whose panel stays in cache.
int64_t pairsOfIntegers(const StorageFormat &weight, int64_t lanes);
int64_t rowsOfIntegers(const StorageFormat &weight, int64_t lanes);
int64_t tallRowsOfIntegers(const StorageFormat &weight, int64_t lanes);
int64_t columnsOfIntegers(const StorageFormat &weight, int64_t rows, int64_t lanes);
int64_t columnsOfIntegerRow(const StorageFormat &weight, int64_t lanes);
int64_t blockOfIntegers(const StorageFormat &weight, int64_t depth, int64_t unit, int64_t lanes, int64_t cacheBytes);
// From so many rows on panels of levels are unpacked, of which `laborious` ones take more than a shift and a mask; 0:
// never.
int64_t layoutRowsOfIntegers(bool laborious, int64_t lanes);
// Whether tiles fetch their shares beside unpacked levels, and whether products of these keep their order.
bool integersFetchShares(int64_t lanes);
bool integersKeepOrder(const StorageFormat &weight, int64_t lanes);
// Rows of them that fetch panels ahead.
int64_t rowsAheadOfIntegers(const StorageFormat &weight, int64_t lanes);
// Whether a processor that follows streams follows one row of them.
bool areIntegersFollowed(const StorageFormat &weight);
// How many values of a row of integers share a scale.
int64_t valuesOfScale(const StorageFormat &weight, const StorageFormat &rows);
// Steps of k of so many lanes that are laid out at a time, so that levels stay in L1; 0: no such part divides the
// depth.
int64_t laidOutDepth(int64_t depth, int64_t unit, int64_t lanes);

// Of rows x and a weight, with vectors of so many lanes.
const Microkernel &selectMicrokernel(mlir::ShapedType x, mlir::ShapedType weight, int64_t lanes);

}  // namespace talc
