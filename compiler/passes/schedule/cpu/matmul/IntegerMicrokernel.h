// SPDX-License-Identifier: Apache-2.0
// Microkernels whose tiles take dot products of int8 codes: their shapes.
#pragma once

#include "compiler/passes/schedule/cpu/matmul/Microkernel.h"

namespace talc {

class IntegerMicrokernel : public Microkernel {
public:
  int64_t tileRows() const override;
  int64_t tileColumns(int64_t rows) const override;
  int64_t rowColumns() const override;
  int64_t tallTileRows() const override;
  bool hasFixedUnroll() const override { return true; }
  int64_t kUnit(const StorageFormat &x) const override { return x.jointValues(); }
  int64_t blockK(int64_t k, int64_t kUnit, int64_t lanes, int64_t l2Bytes) const override;
  bool keepsRowsInL2() const override { return false; }
  int64_t prefetchRows() const override;
  bool isHardwarePrefetched() const override;
  bool canDequantizePanels() const override { return true; }
  bool prefetchesSharesFirst() const override;
  bool keepsSourceOrder() const override;

  // Pairs of a row and a vector in a full tile.
  int64_t accumulators() const;

protected:
  // `maxCode`: the largest code of the weight.
  IntegerMicrokernel(Kind kind, const StorageFormat &weight, const IsaTraits &traits, int64_t maxCode)
      : Microkernel(kind, weight, traits), hasSmallCodes(maxCode <= 31) {}

  // From so many rows on panels of codes are dequantized; of slow ones unpacking takes more than a shift and a mask. 0:
  // never.
  int64_t minRowsToDequantizeCodes(bool isSlow) const;

  // Whether words of four dot products can be added before they become sums, where dot products do not accumulate: they
  // take no register meanwhile. Codes of more bits, or with a sign, take registers of their own.
  const bool hasSmallCodes;
};

}  // namespace talc
