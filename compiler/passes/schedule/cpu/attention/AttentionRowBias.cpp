// SPDX-License-Identifier: Apache-2.0
// Attention, what queries bring along themselves: a bias for every distance of a key.
//
//   row of a head:   | D-1 and more | D-2 | ... | 1 | 0 |      a query at position p meets the key j in column
//                    0                               D-1       D - 1 - (p - j), and columns before the first are the
//                    first
//
// Columns ascend with keys, so that a vector of keys loads a vector of columns.
#include "compiler/passes/schedule/cpu/attention/AttentionLoops.h"

#include "compiler/passes/schedule/attention/ZeroKeys.h"

using namespace mlir;

namespace talc {

AttentionSoftmax::Bias AttentionLoops::rowBias(const TaskRows &rows, Value firstKey) {
  return [this, &rows, firstKey](Value row, Value column, Value seen) {
    int64_t distances = biasDistances(op), window = op.getWindow();
    Value token = rows.token(row), first = e.mul(rows.queryHead(row), distances);
    Value at = e.sub(e.add(e.add(firstKey, column), distances - 1), rows.position(row));
    if (window > 0 && window <= distances)
      return e.load(op.getRowBias(), {token, e.add(first, at)}, seen);
    Value further = e.firstLanes(e.max(e.sub(e.index(0), at), e.index(0))), all = e.firstLanes(e.lanes);
    Value near = arith::XOrIOp::create(e.b, e.loc, further, all);
    Value loaded = e.load(op.getRowBias(), {token, e.add(first, at)},
                          seen ? arith::AndIOp::create(e.b, e.loc, near, seen).getResult() : near);
    return e.select(further, e.broadcast(e.loadScalar(op.getRowBias(), {token, first})), loaded);
  };
}

}  // namespace talc
