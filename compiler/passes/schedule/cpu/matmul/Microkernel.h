// SPDX-License-Identifier: Apache-2.0
// A microkernel: the code of a matmul's innermost tile for one kind of operands, and the shapes of tiles, blocks and
// prefetches that suit it. There is a subclass for each kind.
//
//   F32Microkernel      any weight, converted or dequantized to f32
//   Bf16Microkernel     bf16 activations and weights, two k at a time
//   Int8Microkernel     quantized activations, weights in blocks of codes
//   KQuantMicrokernel   quantized activations, k-quants
#pragma once

#include "compiler/passes/schedule/Emitter.h"

#include <memory>

namespace talc {

struct MatmulContext;

// A part of an iteration; prefetches are spread over the `count` slots of one.
struct PrefetchSlot {
  int64_t index = 0, count = 1;
};
// Emits the prefetches that belong to a slot of the iteration that begins at k.
using PrefetchInSlot = std::function<void(mlir::Value k, PrefetchSlot slot)>;

// A block of k of some panels, dequantized once for many rows: words of each lane, whose order and number the
// microkernel decides. Null: tiles read the weight.
struct DequantizedPanels {
  mlir::Value words;  // i32, [words, lanes of all panels]

  explicit operator bool() const { return words != nullptr; }
  mlir::Value load(Emitter &e, mlir::Value word, mlir::Value lane) const;
  mlir::Value loadFloat(Emitter &e, mlir::Value word, mlir::Value lane) const;
  void store(Emitter &e, mlir::Value vector, mlir::Value word, mlir::Value lane) const;
};

// The operands of a tile, for `k` steps.
struct TileOperands {
  Emitter::Values rows, features;  // of x: each row, and its first feature
  Emitter::Values panels, lanes;   // of the weight: where each vector of columns lies
  mlir::Value firstK;              // of the weight
  int64_t k;
  PrefetchInSlot prefetch;   // called in every slot of every iteration; may be null
  bool prefetchesOwnPanels;  // what comes later of the same panels, not the next ones
  DequantizedPanels dequantized = {};
  Emitter::Values dequantizedLanes = {};  // of each vector
};

// The accumulators of a tile, row by row, which wait in memory for later k.
class TileAccumulators {
public:
  using Value = mlir::Value;
  struct Address {
    Value row, column;
  };

  // The accumulators of a tile that begins at `firstK` of the weight.
  TileAccumulators(Emitter &e, Value memory, std::vector<Address> addresses, Value firstK)
      : e(e), memory(memory), addresses(std::move(addresses)), firstK(firstK) {}

  // Before the tile's first k; before the weight's first they are zero, and not read.
  Emitter::Values load() const;
  void store(mlir::ValueRange sums) const;
  // Replaces each sum as it is before k of the tile, one by one, so that no register holds it meanwhile.
  void update(Value k, llvm::function_ref<Value(size_t index, Value sum)> body) const;

private:
  Value validLanes(Value k) const;
  Value load(const Address &address, Value lanes) const;

  Emitter &e;
  const Value memory;
  const std::vector<Address> addresses;
  const Value firstK;
};

class Microkernel {
public:
  enum class Kind { F32, Bf16, Int8, KQuant };

  // The microkernel for activations x and a weight.
  static std::unique_ptr<const Microkernel> select(mlir::ShapedType x, mlir::ShapedType weight,
                                                   const IsaTraits &traits);
  virtual ~Microkernel() = default;

  // Rows of a full tile; columns, a multiple of the lanes, that fill the accumulators of a tile of so many rows;
  // columns of a tile of one row, which reads the weight once.
  virtual int64_t tileRows() const = 0;
  virtual int64_t tileColumns(int64_t rows) const = 0;
  virtual int64_t rowColumns() const = 0;
  // A tall tile has more rows, and at most the columns of a full one; 0 rows: there is none.
  virtual int64_t tallTileRows() const { return 0; }
  virtual int64_t tallTileColumns(int64_t columns) const { return columns / 2; }

  // Steps of k per iteration, and whether a plan cannot change them.
  virtual int64_t unroll() const = 0;
  virtual bool hasFixedUnroll() const { return false; }
  // Blocks of k begin at multiples of this.
  virtual int64_t kUnit(const StorageFormat &x) const = 0;
  // The block of k that tiles of so many lanes pass at a time.
  virtual int64_t blockK(int64_t k, int64_t kUnit, int64_t lanes, int64_t l2Bytes) const = 0;
  // Whether a block has only as many rows as stay in L2 with all of k.
  virtual bool keepsRowsInL2() const = 0;

  // Lines that few rows prefetch ahead of a weight in memory, of which an iteration reads so many.
  virtual int64_t prefetchDistance(int64_t linesPerIteration) const = 0;
  // Up to so many rows prefetch their own stream where prefetches wait for room.
  virtual int64_t prefetchRows() const { return 1; }
  // Whether one row reads the weight as a stream that hardware prefetchers follow.
  virtual bool isHardwarePrefetched() const { return false; }

  // Emits the code of a tile, which adds the products of its k to its accumulators.
  virtual void multiply(const MatmulContext &c, const TileOperands &tile, const TileAccumulators &sums) const = 0;

  // Dequantized panels: whether there are any; from how many rows on loading them takes less time than dequantizing
  // them again (0: never); and words of each lane for `k` steps.
  virtual bool canDequantizePanels() const { return false; }
  virtual int64_t minRowsToDequantize() const { return 0; }
  virtual int64_t dequantizedWords(int64_t /*k*/) const { return 0; }
  // Emits the code that dequantizes the vectors of a tile without rows.
  virtual void dequantize(const MatmulContext &c, const TileOperands &tile) const;
  // Beside dequantized panels: whether a tile prefetches its share of the next panels before its products, each line
  // once, instead of in its iterations; and whether kernels keep the order of their source (kernel.keeps_source_order).
  virtual bool prefetchesSharesFirst() const { return true; }
  virtual bool keepsSourceOrder() const { return false; }

  const Kind kind;

protected:
  Microkernel(Kind kind, const StorageFormat &weight, const IsaTraits &traits)
      : kind(kind), weight(weight), traits(traits) {}

  const StorageFormat &weight;
  const IsaTraits traits;
};

std::unique_ptr<const Microkernel> makeF32Microkernel(const StorageFormat &weight, const IsaTraits &traits);
std::unique_ptr<const Microkernel> makeBf16Microkernel(const StorageFormat &weight, const IsaTraits &traits);
std::unique_ptr<const Microkernel> makeInt8Microkernel(const StorageFormat &weight, const IsaTraits &traits);
std::unique_ptr<const Microkernel> makeKQuantMicrokernel(const StorageFormat &weight, const IsaTraits &traits);

}  // namespace talc
