// SPDX-License-Identifier: Apache-2.0
// Decides the sizes of a matmul by MMA. Split-K follows from the weight alone, so that one row has the bits of many.
#include "compiler/passes/schedule/gpu/matmul/MmaPlan.h"

#include "compiler/passes/schedule/gpu/matmul/NarrowedActivations.h"
#include "compiler/passes/schedule/gpu/matmul/SplitKPlan.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace talc {

// One stage is read, one may still be read, and two are being filled: 32 instructions of as many k-steps take longer
// than L2 does.
constexpr int64_t usualStages = 4;
// Stages leave so much of a launch's shared memory for other buffers.
constexpr int64_t reservedBytes = 8 << 10;
constexpr int64_t copiedValues = 8;  // 16-bit values of an asynchronous copy of 16 bytes
constexpr int64_t warpsPerMultiprocessor = 4;
constexpr int64_t widePanel = 64;  // lanes

MmaPlan MmaPlan::create(kernel::MatmulOp op, const GpuFacts &gpu) {
  std::string problem;  // expand-workgroups has reported it
  return MmaPlan(op, gpu, getPlan(op), problem);
}

MmaPlan::MmaPlan(kernel::MatmulOp op, const GpuFacts &gpu, kernel::PlanAttr given, std::string &problem)
    : PanelShape(op), mma(*gpu.mma), atom(mma.shape()), warp(mma.threads()), maxRegisters(gpu.maxRegisters) {
  auto x = cast<MemRefType>(op.getX().getType());
  element = cast<MemRefType>(op.getWeight().getType()).getElementType();
  hasOneRow = x.getDimSize(0) == 1;
  const SplitKPlan splitK(op, gpu);
  partDepth = depth / splitK.count;
  isOnePart = op.getSplitK() > 1;
  kParts = isOnePart ? 1 : splitK.count;
  canCopyA = getNarrowedElementType(op.getX()) == element && hasAlignedRows(op, copiedValues);
  // Copies have 4, 8 or 16 bytes.
  canCopyB = lanes <= widePanel && llvm::is_contained({2, 4, 8}, vectorWidth());
  chooseTunables(gpu);
  readTunables(given, tunables, problem);
  readTunables(given, occupancy, problem);
  applyTunables();
  if (problem.empty())
    problem = findContradiction(gpu);
}

// The cost model.
void MmaPlan::chooseTunables(const GpuFacts &gpu) {
  occupancy.residentThreads = gpu.registers / (maxRegisters + 1);
  tunables.taskRows = (hasOneRow ? 1 : 2) * atom.m;
  tunables.unroll = hasOneRow ? 1 : 2;
  tunables.stages = !hasOneRow && canCopyA ? usualStages : 0;
  // A single row is bound by memory. If there are few warps, each has one panel, so that there are twice as many, and
  // copies several k-steps ahead.
  const bool hasFewWarps = hasOneRow && count / 2 * (depth / partDepth) < gpu.multiprocessors * warpsPerMultiprocessor;
  tunables.stageWeights = hasFewWarps && groups == 1 && canCopyA && canCopyB;
  // Rows that are loaded from global memory take the registers that the sums of a second wide panel would need.
  const bool hasRegisters = hasOneRow || tunables.stages > 0 || lanes < widePanel;
  tunables.taskPanels = groups == 1 && count > 1 && !hasFewWarps && hasRegisters ? 2 : 1;
  if (tunables.stageWeights) {
    tunables.stages = 2 * usualStages;
    applyTunables();
    if (stagedBytes() > gpu.sharedBytes - reservedBytes)
      tunables.stages = usualStages;
  }
}

void MmaPlan::applyTunables() {
  tiles = tunables.taskRows / atom.m;
  taskPanels = tunables.taskPanels;
  stages = tunables.stages;
  stagesB = tunables.stageWeights != 0;
}

std::string MmaPlan::findContradiction(const GpuFacts &gpu) const {
  if (tunables.taskRows % atom.m != 0)
    return llvm::formatv("task_rows is {0}, expected a multiple of {1}", tunables.taskRows, atom.m);
  if (hasOneRow && tiles > 1)
    return llvm::formatv("task_rows is {0}, expected {1} for a single row", tunables.taskRows, atom.m);
  if (taskPanels > (groups == 1 ? count : 1))
    return llvm::formatv("task_panels is {0}, and a group of the weight has {1}", taskPanels,
                         groups == 1 ? count : groupPanels);
  if (stages > 0 && !canCopyA)
    return llvm::formatv("stages is {0}, expected 0: rows cannot be copied asynchronously", stages);
  if (stages == 1 || stages == 2)
    return llvm::formatv("stages is {0}, expected 0, or 3 and more", stages);
  if (stagesB && (stages == 0 || !canCopyB))
    return "stage_weights is 1, expected 0: " +
           std::string(canCopyB ? "stages is 0" : "panels cannot be copied asynchronously");
  if (accumulatorValues() >= maxRegisters)
    return llvm::formatv("accumulators of task_rows = {0} and task_panels = {1} take {2} of {3} registers",
                         tunables.taskRows, taskPanels, accumulatorValues(), maxRegisters);
  if (sharedBytes() > gpu.sharedBytes - reservedBytes)
    return llvm::formatv("a task takes {0} bytes of shared memory, expected at most {1}", sharedBytes(),
                         gpu.sharedBytes - reservedBytes);
  return "";
}

MmaPlan::VectorOffset MmaPlan::vectorOffset(int64_t index) const {
  constexpr int64_t rowsOfThread[] = {0, 1, 8, 9};
  const int64_t half = index / 4;
  return {half / parts, rowsOfThread[index % 4] * lanes + half % parts * columns};
}

// With 8 lanes, and with 16 lanes of a gated matmul, a thread has two neighbors each, and stores 8 or 16 bytes at once.
int64_t MmaPlan::paddedColumns() const {
  int64_t padding = vectorWidth() == 2 ? 16 : vectorWidth() == 4 ? 4 : 8;
  return static_cast<int64_t>(llvm::alignTo(taskPanels * lanes, 32)) + padding;
}

int64_t MmaPlan::sharedSums() const {
  return std::max(kParts / 2 * tiles * tileInstructions() * warp * 4, rows() * paddedColumns());
}

std::string MmaPlan::describe() const {
  std::string source = stages ? llvm::formatv("{0} in {1} stages of shared memory, {2} features each",
                                              stagesB ? "row and weights" : "rows", stages, atom.k)
                                    .str()
                              : "rows from global memory";
  std::string splitK = kParts == 1 ? "" : llvm::formatv("split-K in {0} parts, one for each warp; ", kParts).str();
  return llvm::formatv("{0} rows x {1} columns a task, by MMA {2} of {3}; {4}{5}", rows(), taskPanels * columns,
                       mma.name(), element, splitK, source);
}

// Inserted after the bytes, so that the view dominates all of the function.
Value viewBytes(WorkgroupEmitter &e, Value bytes, ArrayRef<int64_t> shape, Type element, int64_t begin) {
  OpBuilder::InsertionGuard guard(e.b);
  e.b.setInsertionPointAfter(bytes.getDefiningOp());
  auto type =
      MemRefType::get(shape, element, MemRefLayoutAttrInterface(), cast<MemRefType>(bytes.getType()).getMemorySpace());
  Value first = arith::ConstantIndexOp::create(e.b, e.loc, begin);
  return memref::ViewOp::create(e.b, e.loc, type, bytes, first, ValueRange());
}

}  // namespace talc
