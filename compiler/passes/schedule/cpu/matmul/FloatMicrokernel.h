// SPDX-License-Identifier: Apache-2.0
// Microkernels whose tiles multiply floats: their shapes.
#pragma once

#include "compiler/passes/schedule/cpu/matmul/Microkernel.h"
#include "compiler/passes/schedule/cpu/matmul/RegisterTile.h"

namespace talc {

class FloatMicrokernel : public Microkernel {
public:
  using Microkernel::Microkernel;

  int64_t tileRows() const override { return registerTileRows; }
  // With few registers a vector of quant blocks has its scale in a register, too; what it takes to unpack the vector
  // hides the latency of the accumulators.
  int64_t tileColumns(int64_t rows) const override {
    return weight.blockValues > 1 && traits.hasFewRegisters() ? 2 * traits.lanes : registerTileColumns(rows, traits);
  }
  // One row of bf16 takes a panel at a time: its lines are half as many as those of f32, and hardware prefetchers do
  // not keep up with four streams of two threads each.
  int64_t rowColumns() const override {
    return weight.isUpperHalf && traits.hasLargeRegisterFile() ? 64 : tileColumns(1);
  }

  // 1 KiB of such a panel, whose iterations read four lines.
  int64_t prefetchDistance(int64_t linesPerIteration) const override {
    constexpr int64_t panelLines = 4;
    return weight.isUpperHalf && linesPerIteration == panelLines ? 4 * linesPerIteration : 64;
  }

  // All of k, or a divisor of a large one.
  int64_t blockK(int64_t k, int64_t kUnit, int64_t /*lanes*/, int64_t /*l2Bytes*/) const override {
    constexpr int64_t maxUndivided = 768, minK = 256, maxK = 512;
    int64_t unit = std::max<int64_t>(kUnit, 2);
    for (int64_t size = maxK / unit * unit; k > maxUndivided && size >= minK; size -= unit)
      if (k % size == 0)
        return size;
    return k;
  }
  bool keepsRowsInL2() const override { return true; }
};

}  // namespace talc
