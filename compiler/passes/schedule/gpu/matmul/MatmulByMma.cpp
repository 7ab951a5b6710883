// SPDX-License-Identifier: Apache-2.0
// kernel.matmul of 16-bit weights by MMA: a workgroup has one or two panels and some tiles of 16 rows, and each of its
// warps a split-K part.
//
//   for each 16 of k:  A = rows of x, converted to the weight's type;  B = lanes of a panel;  C = A * B + C
//
// A thread of an m16n8k16 holds two neighboring k of one column of B, and there are 8 columns. Panels have neighboring
// columns side by side, so columns are dealt to instructions the other way round: of a panel of 64 lanes thread group g
// loads the lanes [8 g, 8 g + 8) at once, one for each of 8 instructions.
//
//   lanes of a panel    0 1 2 3 4 5 6 7 | 8 ...        instruction j has the lanes j, 8 + j, 16 + j, ...
//   loaded by group     0               | 1
//
// k ascends in steps of 16, within split-K parts that follow from the weight's shape (SplitKPlan.h) and are the same
// for every step. A warp counts k from the beginning of its part: a thread has one address in each panel and in each
// row, to which a k-step adds k and constants. Where split-K parts are tasks, a task is one warp with one part of the
// only row. While a k-step is multiplied, the weights of the next one are loaded to registers, or of several to shared
// memory (BLoader.h). ALoader.cpp loads activations, Epilogue.cpp stores results. Rows beyond the last one read the
// last one.
#include "compiler/passes/schedule/gpu/WorkgroupOps.h"
#include "compiler/passes/schedule/gpu/matmul/ALoader.h"
#include "compiler/passes/schedule/gpu/matmul/Epilogue.h"
#include "dialects/talc/formats/StorageFormat.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;

namespace talc {

namespace {

// The weight in one dimension, so that an element's offset is one number.
Value flatten(WorkgroupEmitter &e, Value weight) {
  return memref::CollapseShapeOp::create(e.b, e.loc, weight, ArrayRef<ReassociationIndices>{{0, 1, 2}});
}

class MmaMatmul {
public:
  using Values = Emitter::Values;

  MmaMatmul(WorkgroupEmitter &e, kernel::MatmulOp op)
      : e(e), op(op), tasks(kernel::TasksOp::around(op)), plan(MmaPlan::create(op, e.gpu)),
        bytes(e.shared({plan.sharedBytes()}, e.b.getI8Type())), epilogue(e, op, plan, bytes),
        weight(flatten(e, op.getWeight())) {
    if (plan.stagesB)
      b.emplace(e, plan, weight, bytes);
    a = ALoader::create(e, op, plan, bytes, b ? &*b : nullptr);
  }

  void expand() {
    setExtents(
        e, op,
        [&]() -> Values {
          return {plan.isOnePart ? e.index(plan.depth / plan.partDepth) : e.rows(op.getX()), e.index(plan.count)};
        },
        {plan.isOnePart ? 1 : plan.rows(), plan.taskPanels});
    Value warp = e.div(e.thread(), plan.warp);
    Value firstK = e.mul(plan.isOnePart ? tasks.part(0) : warp, plan.partDepth);
    for (int64_t p = 0; p < plan.taskPanels; ++p)
      panelOffsets.push_back(firstOffset(p, firstK));
    if (b)
      b->begin(panelOffsets);
    a->begin(e.add(plan.firstFeature(e, tasks.part(2)), firstK));
    epilogue.store(accumulate());
  }

private:
  // The offset of the thread's first element in a panel of the task. For a panel beyond the last one all threads load
  // the same element: one sector instead of one panel more.
  Value firstOffset(int64_t taskPanel, Value firstK) {
    Value lane = e.rem(e.thread(), plan.warp), group = e.div(lane, 4), kInStep = e.mul(e.rem(lane, 4), 2);
    Value panel = e.add(tasks.part(2), taskPanel);
    Value k = e.add(e.mul(panel, plan.depth), e.add(firstK, kInStep));
    Value offset = e.add(e.mul(k, plan.lanes), e.mul(group, plan.vectorWidth()));
    bool exists = taskPanel == 0 || plan.count % plan.taskPanels == 0;
    return exists ? offset : Value(e.select(e.less(panel, e.index(plan.count)), offset, e.index(0)));
  }

  // Accumulators in the order of MmaEpilogue.
  Values accumulate() {
    Value zero = arith::ConstantOp::create(e.b, e.loc, e.b.getZeroAttr(plan.mma.accumulator(e.b.getContext())));
    const Values zeros(plan.tiles * plan.tileInstructions(), zero);
    return b ? accumulateStaged(zeros) : accumulateFromRegisters(zeros);
  }

  // B comes from the multi-stage buffer.
  Values accumulateStaged(ValueRange zeros) {
    return e.loop(e.index(0), e.index(plan.partDepth), plan.atom.k, zeros, [&](Value k, ValueRange before) {
      Values sums(before), fragmentsA = a->load(k), vectors = b->load(k);
      for (int64_t first = 0, index = 0; first < plan.vectorsOfStep(); first += 4)
        for (Value fragmentB : makeFragmentsB(ValueRange(vectors).slice(first, 4)))
          multiply(fragmentsA, fragmentB, index++, sums);
      return sums;
    });
  }

  // The loop carries the accumulators and, behind them, the vectors of B for the next k-step.
  Values accumulateFromRegisters(ValueRange zeros) {
    const int64_t count = static_cast<int64_t>(zeros.size());
    Values carried(zeros);
    carried.append(loadVectors(e.index(0)));
    // In a loop of two k-steps, what one loads replaces what the other has multiplied, without moves. A single row is
    // bound by memory: with one k-step it takes fewer registers, and there are more warps at a time.
    const int64_t steps = plan.partDepth / plan.atom.k - 1, unroll = plan.tunables.unroll, rest = steps % unroll;
    auto runSteps = [&](Value k, ValueRange before, int64_t number) {
      Values now(before);
      for (int64_t i = 0; i < number; ++i)
        now = runStep(e.add(k, i * plan.atom.k), now, count);
      return now;
    };
    Value end = e.index((steps - rest) * plan.atom.k);
    carried = e.loop(e.index(0), end, unroll * plan.atom.k, carried,
                     [&](Value k, ValueRange before) { return runSteps(k, before, unroll); });
    carried = runSteps(end, carried, rest);
    return ValueRange(runStep(e.index(steps * plan.atom.k), carried, count, /*isLast=*/true)).take_front(count);
  }

  // Multiplies a k-step and loads the next one. `carried`: as many accumulators, then vectors of B. Both happen
  // instruction by instruction in the order of the weight, so that a vector of the next k-step replaces one that has
  // just been multiplied.
  Values runStep(Value k, ValueRange carried, int64_t count, bool isLast = false) {
    Values sums(carried.take_front(count)), next(carried.drop_front(count)), fragmentsA;
    for (int64_t first = 0, index = 0; first < plan.vectorsOfStep(); first += 4) {
      const ValueRange vectors = carried.slice(count + first, 4);
      if (!isLast) {
        if (plan.accumulatorsTakeHalf())
          syncWarp();
        llvm::copy(loadVectors(e.add(k, plan.atom.k), first, 4), next.begin() + first);
      }
      if (first == 0)
        fragmentsA = a->load(k);
      for (Value fragmentB : makeFragmentsB(vectors))
        multiply(fragmentsA, fragmentB, index++, sums);
    }
    sums.append(next);
    return sums;
  }

  // ptxas does not move loads across a warp barrier. Without the barrier, it would load all of two k-steps first, and
  // run out of registers.
  void syncWarp() {
    Value allLanes = arith::ConstantIntOp::create(e.b, e.loc, -1, 32);
    NVVM::SyncWarpOp::create(e.b, e.loc, allLanes);
  }

  // Multiplies the rows of all tiles with some columns of the weight.
  void multiply(ValueRange fragmentsA, Value fragmentB, int64_t index, Values &sums) {
    for (Value fragmentA : fragmentsA) {
      sums[index] = plan.mma.multiply(e.b, e.loc, fragmentA, fragmentB, sums[index]);
      index += plan.tileInstructions();
    }
  }

  Values loadVectors(Value k) { return loadVectors(k, 0, plan.vectorsOfStep()); }

  // Vectors [begin, begin + count) of the k-step, in the order of plan.vectorOffset().
  Values loadVectors(Value k, int64_t begin, int64_t count) {
    Values loaded;
    for (int64_t index = begin; index < begin + count; ++index) {
      const MmaPlan::VectorOffset offset = plan.vectorOffset(index);
      Value first = e.add(panelOffsets[offset.panel], e.mul(k, plan.lanes));
      loaded.push_back(e.loadVector(weight, e.add(first, offset.elements), plan.vectorWidth()));
    }
    return loaded;
  }

  // Fragments of B for the instructions that have these four vectors.
  Values makeFragmentsB(ValueRange vectors) {
    Values fragments;
    for (int64_t j = 0, count = plan.vectorWidth(); j < count; ++j) {
      Value fragment = arith::ConstantOp::create(e.b, e.loc, e.b.getZeroAttr(plan.mma.fragmentB(plan.element)));
      for (int64_t half = 0; half < 2; ++half) {
        Value pair = vector::ShuffleOp::create(e.b, e.loc, vectors[2 * half], vectors[2 * half + 1],
                                               ArrayRef<int64_t>{j, count + j});
        fragment = vector::InsertOp::create(e.b, e.loc, pair, fragment, half);
      }
      fragments.push_back(fragment);
    }
    return fragments;
  }

  WorkgroupEmitter &e;
  kernel::MatmulOp op;
  kernel::TasksOp tasks;
  const MmaPlan plan;
  const Value bytes;  // of shared memory, for the multi-stage buffer, then for sums
  std::unique_ptr<ALoader> a;
  MmaEpilogue epilogue;
  const Value weight;  // flattened
  std::optional<BLoader> b;
  Values panelOffsets;  // of the thread's first elements in the panels of the task
};

}  // namespace

std::string findMmaObstacle(kernel::MatmulOp op, const MmaAtom &mma) {
  auto weight = cast<MemRefType>(op.getWeight().getType());
  if (!mma.accepts(weight.getElementType()))
    return "weights are " + std::string(getStorageFormat(weight.getElementType())->name);
  Type rows = cast<MemRefType>(op.getX().getType()).getElementType();
  if (!rows.isF32() && rows != weight.getElementType())
    return "rows are " + std::string(getStorageFormat(rows)->name);
  const int64_t step = mma.shape().k * static_cast<int64_t>(op.getSplitK());
  if (weight.getDimSize(1) % step != 0)
    return "K is not a multiple of " + std::to_string(step);
  return "";
}

int64_t mmaThreads(kernel::MatmulOp op, const GpuFacts &gpu) {
  const MmaPlan plan = MmaPlan::create(op, gpu);
  return plan.kParts * plan.warp;
}

// Without a limit, ptxas spills some registers so that more workgroups fit.
void expandByMma(WorkgroupEmitter &e, kernel::MatmulOp op) {
  const MmaPlan plan = MmaPlan::create(op, e.gpu);
  e.limits.maxRegisters = e.gpu.registersForThreads(plan.occupancy.residentThreads);
  e.limits.narrowIndices = !plan.hasOneRow;  // a single row is bound by memory
  MmaMatmul(e, op).expand();
}

std::string describeMmaTile(kernel::MatmulOp op, const GpuFacts &gpu) {
  return MmaPlan::create(op, gpu).describe();
}

kernel::PlanAttr planByMma(kernel::MatmulOp op, const GpuFacts &gpu, kernel::PlanAttr given, std::string &problem) {
  const MmaPlan plan(op, gpu, given, problem);
  return writePlan(op.getContext(), OccupancyTunables::parameters(), plan.occupancy,
                   writePlan(op.getContext(), MmaTunables::parameters(), plan.tunables));
}

}  // namespace talc
