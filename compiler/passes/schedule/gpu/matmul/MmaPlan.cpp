// SPDX-License-Identifier: Apache-2.0
// Parts of k follow from the weight alone, so that they are the same for one row as for many.
#include "compiler/passes/schedule/gpu/matmul/MmaPlan.h"

#include "compiler/passes/schedule/gpu/matmul/SplitKPlan.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace talc {

// One is read, one may still be, two are on their way: as many steps of 32 instructions take longer than a cache.
constexpr int64_t usualStages = 4;
constexpr int64_t mostStagedBytes = 40 << 10;  // a launch has 48 KiB
constexpr int64_t copied = 8;                  // numbers of 16 bits

MmaPlan::MmaPlan(kernel::MatmulOp op) : PanelShape(op) {
  auto x = cast<MemRefType>(op.getX().getType());
  element = cast<MemRefType>(op.getWeight().getType()).getElementType();
  oneRow = x.getDimSize(0) == 1;
  tiles = oneRow ? 1 : 2;
  const SplitKPlan parts(op, /*matrices=*/true);
  partDepth = depth / parts.count;
  alone = op.getSplitK() > 1;
  kParts = alone ? 1 : parts.count;
  const bool isRounded = x.getElementType() == element && startsAtMultiples(op, copied);
  if (!oneRow && isRounded)
    stages = usualStages;
  // A single row waits for memory. Subgroups that are few have one panel each, so that they are twice as many, and
  // bring several steps ahead. Copies have 4, 8 or 16 bytes.
  constexpr int64_t manySubgroups = 512;
  const bool few = oneRow && count / 2 * parts.count < manySubgroups;
  constexpr int64_t wide = 64;
  const bool fits = lanes <= wide && llvm::is_contained({2, 4, 8}, perThread());
  weightsInStages = few && groups == 1 && isRounded && fits;
  // Rows from memory take the registers that sums of a second wide panel would need.
  const bool hasRoom = oneRow || stages > 0 || lanes < wide;
  taskPanels = groups == 1 && count > 1 && !few && hasRoom ? 2 : 1;
  if (weightsInStages) {
    stages = 2 * usualStages;
    if (stagedBytes() > mostStagedBytes)
      stages = usualStages;
  }
}

MmaPlan::VectorPlace MmaPlan::placeInStep(int64_t number) const {
  constexpr int64_t ofThread[] = {0, 1, 8, 9};
  const int64_t half = number / 4;
  return {half / parts, ofThread[number % 4] * lanes + half % parts * columns};
}

// Of 8 lanes, and of one part with 16 lanes, a thread has two neighbours each; it stores 8 or 16 bytes at once.
int64_t MmaPlan::line() const {
  int64_t apart = perThread() == 2 ? 16 : perThread() == 4 ? 4 : 8;
  return static_cast<int64_t>(llvm::alignTo(taskPanels * lanes, 32)) + apart;
}

int64_t MmaPlan::sharedValues() const {
  return std::max(kParts / 2 * tiles * instructions() * subgroup * 4, rows() * line());
}

std::string MmaPlan::text() const {
  std::string source = stages ? llvm::formatv("{0} in {1} stages of shared memory, {2} features each",
                                              weightsInStages ? "row and weights" : "rows", stages, tileDepth)
                                    .str()
                              : "rows from memory";
  return llvm::formatv("{0} rows x {1} columns a task, by m16n8k16 of {2}; k in {3} part{4}, each a subgroup's; {5}",
                       rows(), taskPanels * columns, element, kParts, kParts == 1 ? "" : "s", source);
}

// Where the bytes are made, so that it serves all of the function.
Value viewOf(WorkgroupEmitter &e, Value bytes, ArrayRef<int64_t> shape, Type element, int64_t begin) {
  OpBuilder::InsertionGuard guard(e.b);
  e.b.setInsertionPointAfter(bytes.getDefiningOp());
  auto type =
      MemRefType::get(shape, element, MemRefLayoutAttrInterface(), cast<MemRefType>(bytes.getType()).getMemorySpace());
  Value first = arith::ConstantIndexOp::create(e.b, e.loc, begin);
  return memref::ViewOp::create(e.b, e.loc, type, bytes, first, ValueRange());
}

}  // namespace talc
