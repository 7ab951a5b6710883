// SPDX-License-Identifier: Apache-2.0
// The loops of a matmul: what a task does, tile by tile, with rows and panels.
#pragma once

#include "compiler/passes/schedule/cpu/matmul/Amx.h"
#include "compiler/passes/schedule/cpu/matmul/EvenParts.h"
#include "compiler/passes/schedule/cpu/matmul/Prefetch.h"

namespace talc {

class MatmulLoops {
public:
  using Value = mlir::Value;

  // [begin, end); the panels that begin at `next` come after them.
  struct Panels {
    Value begin, end, next;
  };

  // For tasks of at most `fewRows` rows; 0: of any number. Allocates its stack where the emitter stands: before the
  // tasks. `c` must outlive the object. `useAmx`: AMX multiplies many rows.
  MatmulLoops(const MatmulContext &c, int64_t fewRows, bool useAmx);

  // Rows [first, first + count): one or more, but at most as many as a block has.
  void emit(Value first, Value count, const Panels &panels);

private:
  // A block of rows, in tiles.
  struct Rows;
  // Panels that take a block of k one after the other.
  struct PanelBlock;
  // The panels and the steps of k of a block, and the memory where its sums wait.
  struct Blocks {
    int64_t panels, k;
    Value stack;
    int64_t tileRows;
    DequantizedPanels dequantized = {};
  };
  // Dequantized panels, and the sums beside them.
  struct DequantizedBlock {
    DequantizedPanels panels;
    Value sums;
  };

  DequantizedBlock allocateDequantized();
  void forEachGroup(int64_t rows, Value begin, Value end, llvm::function_ref<void(int64_t, Value)> body);
  void emitFewRows(Value first, int64_t rows, const Panels &panels);
  void emitRowsFromMemory(Value first, Value count, const Panels &panels);
  void emitDequantizedRows(Value first, Value count, const Panels &panels);
  void emitBlocks(const Rows &rows, const Panels &panels, const Blocks &blocks);
  void emitGroups(const Rows &rows, const PanelBlock &block);
  void prefetchResultsOfTile(const PanelBlock &block, int64_t rows, int64_t panels, Value row, Value panel);
  TilePrefetch makeTilePrefetch(int64_t rows, Value tile, const NextPanelPrefetch &next, const PanelBlock &block,
                                int64_t panels, Value panel);
  NextPanelPrefetch nextPanels(const Rows &rows, const PanelBlock &block, int64_t count, Value after);

  const MatmulContext &c;
  const MatmulPlan &plan;
  const MatmulTunables &t;
  Emitter &e;
  const bool areFew;
  const int64_t maxFewRows;
  Value fewRowSums, manyRowSums, streamSums;
  std::optional<AmxInt8> amx;                   // if it multiplies many rows
  std::optional<DequantizedBlock> dequantized;  // if many rows pass dequantized panels
};

// Merges equal addresses and scales: code computes them anew for each vector that it loads, which would cost the passes
// to come time.
void eliminateCommonAddresses(kernel::TasksOp tasks);

}  // namespace talc
