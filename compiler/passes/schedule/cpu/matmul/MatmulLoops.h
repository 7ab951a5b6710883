// SPDX-License-Identifier: Apache-2.0
// The loops of a contraction: what a task does, tile by tile, with rows and panels.
#pragma once

#include "compiler/passes/schedule/cpu/matmul/AmxInt8.h"
#include "compiler/passes/schedule/cpu/matmul/EvenParts.h"
#include "compiler/passes/schedule/cpu/matmul/Prefetch.h"

namespace talc {

class MatmulLoops {
public:
  using Value = mlir::Value;

  // [begin, end), behind which those from `next` on come.
  struct Panels {
    Value begin, end, next;
  };

  // Of tasks with no more than `fewRows` rows; 0: with any number. Takes its stack where the emitter stands: in front
  // of the tasks. `c` must outlive the object. `byAmx`: matrix registers multiply many rows.
  MatmulLoops(const MatmulContext &c, int64_t fewRows, bool byAmx);

  // Rows [first, first + count), one or more, but no more than a block has.
  void emit(Value first, Value count, const Panels &panels);

private:
  // A block of rows, in tiles.
  struct Rows;
  // Panels that take a block of k one after the other.
  struct PanelBlock;
  // How many panels and steps of k a block has, and where sums wait.
  struct Blocks {
    int64_t panels, depth;
    Value stack;
    int64_t tileRows;
    DequantizedPanels laidOut = {};
  };
  // Unpacked panels, and the sums beside them.
  struct Layout {
    DequantizedPanels panels;
    Value sums;
  };

  Layout makeLayout();
  void eachGroup(int64_t rows, Value begin, Value end, llvm::function_ref<void(int64_t, Value)> body);
  void fewRows(Value first, int64_t rows, const Panels &panels);
  void streamOrMany(Value first, Value count, const Panels &panels);
  void laidOutRows(Value first, Value count, const Panels &panels);
  void manyRows(const Rows &rows, const Panels &panels, const Blocks &blocks);
  void groupsOf(const Rows &rows, const PanelBlock &block);
  void fetchResultsOf(const PanelBlock &block, int64_t rows, int64_t panels, Value row, Value panel);
  TilePrefetch fetchOf(int64_t rows, Value tile, const NextPanelPrefetch &next, const PanelBlock &block, int64_t panels,
                       Value panel);
  NextPanelPrefetch nextPanels(const Rows &rows, const PanelBlock &block, int64_t count, Value behind);

  const MatmulContext &c;
  const MatmulPlan &plan;
  Emitter &e;
  const bool areFew;
  const int64_t most;  // rows that are few
  Value sumsOfFew, sumsOfMany, sumsOfStreams;
  std::optional<AmxInt8> amx;     // if it multiplies many rows
  std::optional<Layout> laidOut;  // if these pass unpacked panels
};

// Where a vector lies, and what a block of weights has once, is computed anew for each that is loaded; the passes to
// come are spared that.
void shareAddresses(kernel::TasksOp tasks);

}  // namespace talc
