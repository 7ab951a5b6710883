// SPDX-License-Identifier: Apache-2.0
// kernel.matmul of 16-bit weights by matrix instructions: a workgroup has one or two panels and some tiles of 16
// rows, and each of its subgroups a part of k.
//
//   for each 16 of k:  A = rows of x, rounded to the weight's type;  B = a panel's lanes;  C = A * B + C
//
// A thread of an m16n8k16 instruction holds of B two neighbouring k of one column, and there are 8 columns. Panels have
// neighbouring columns side by side, so columns are dealt to instructions the other way round: of a panel with 64 lanes
// thread group g loads lanes [8 g, 8 g + 8) at once, one for each of 8 instructions.
//
//   lanes of a panel    0 1 2 3 4 5 6 7 | 8 ...        instruction j has the lanes j, 8 + j, 16 + j, ...
//   loaded by group     0               | 1
//
// k ascends in steps of 16, in as many parts as the weight's shape says (SplitKPlan.h) and no step changes. A subgroup
// counts it from the beginning of its part: a thread has one address in each panel and in each row, to which a step
// adds k and constants. With partial sums a task is a subgroup that has one part of the only row. The weights of
// the next step are loaded while one is multiplied, and wait in registers, or several steps ahead in shared memory
// (BLoader.h); rows come as ALoader.cpp says, and what becomes of the sums stands in MmaEpilogue.cpp. Rows that
// are missing are the last again.
#include "compiler/passes/schedule/gpu/WorkgroupOps.h"
#include "compiler/passes/schedule/gpu/matmul/ALoader.h"
#include "compiler/passes/schedule/gpu/matmul/Epilogue.h"
#include "dialects/talc/formats/StorageFormat.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/NVGPU/IR/NVGPUDialect.h"

using namespace mlir;

namespace talc {

namespace {

constexpr int64_t tileRows = MmaPlan::tileRows, tileColumns = MmaPlan::tileColumns, tileDepth = MmaPlan::tileDepth,
                  subgroup = MmaPlan::subgroup;

// Of panels, k and lanes: so a thread's place in them is one number.
Value allNumbers(WorkgroupEmitter &e, Value weight) {
  return memref::CollapseShapeOp::create(e.b, e.loc, weight, ArrayRef<ReassociationIndices>{{0, 1, 2}});
}

class MmaMatmul {
public:
  MmaMatmul(WorkgroupEmitter &e, kernel::MatmulOp op)
      : e(e), op(op), tasks(kernel::TasksOp::around(op)), sizes(op),
        bytes(e.shared({sizes.sharedBytes()}, e.b.getI8Type())), sums(e, op, sizes, bytes),
        weight(allNumbers(e, op.getWeight())) {
    if (sizes.weightsInStages)
      staged.emplace(e, sizes, weight, bytes);
    rows = ALoader::create(e, op, sizes, bytes, staged ? &*staged : nullptr);
  }

  void expand() {
    setExtents(
        e, op,
        [&]() -> Emitter::Values {
          return {sizes.alone ? e.index(sizes.depth / sizes.partDepth) : e.rows(op.getX()), e.index(sizes.count)};
        },
        {sizes.alone ? 1 : sizes.rows(), sizes.taskPanels});
    Value own = e.div(e.thread(), subgroup);
    Value from = e.mul(sizes.alone ? tasks.part(0) : own, sizes.partDepth);
    for (int64_t p = 0; p < sizes.taskPanels; ++p)
      lines.push_back(firstLine(p, from));
    if (staged)
      staged->enter(lines);
    rows->enter(e.add(sizes.firstFeature(e, tasks.part(2)), from));
    sums.finish(accumulate());
  }

private:
  // Where the thread begins in a panel of the task. In the place of one behind the last all threads load the same: a
  // sector instead of a panel once more.
  Value firstLine(int64_t number, Value from) {
    Value lane = e.rem(e.thread(), subgroup), group = e.div(lane, 4), inGroup = e.mul(e.rem(lane, 4), 2);
    Value panel = e.add(tasks.part(2), number);
    Value k = e.add(e.mul(panel, sizes.depth), e.add(from, inGroup));
    Value line = e.add(e.mul(k, sizes.lanes), e.mul(group, sizes.perThread()));
    bool isThere = number == 0 || sizes.count % sizes.taskPanels == 0;
    return isThere ? line : Value(e.select(e.less(panel, e.index(sizes.count)), line, e.index(0)));
  }

  VectorType vectorOf(ArrayRef<int64_t> shape, Type type) { return VectorType::get(shape, type); }

  // As MmaEpilogue has them.
  Emitter::Values accumulate() {
    Value zero = arith::ConstantOp::create(e.b, e.loc, e.b.getZeroAttr(vectorOf({2, 2}, e.b.getF32Type())));
    const Emitter::Values zeros(sizes.tiles * sizes.instructions(), zero);
    return staged ? byStages(zeros) : byRegisters(zeros);
  }

  // Where the weights of a step wait in shared memory.
  Emitter::Values byStages(ValueRange zeros) {
    return e.loop(e.index(0), e.index(sizes.partDepth), tileDepth, zeros, [&](Value k, ValueRange before) {
      Emitter::Values now(before), factors = rows->load(k), loaded = staged->load(k);
      for (int64_t first = 0, number = 0; first < sizes.vectorsOfStep(); first += 4)
        for (Value fragment : fragmentsOf(ValueRange(loaded).slice(first, 4)))
          multiply(factors, fragment, number++, now);
      return now;
    });
  }

  // Behind the sums, while there is a next step, the lines of weights that it takes.
  Emitter::Values byRegisters(ValueRange zeros) {
    const int64_t count = static_cast<int64_t>(zeros.size());
    Emitter::Values all(zeros);
    all.append(loadLines(e.index(0)));
    // With two steps a turn what one loads takes the place of what the other has multiplied, and nothing is moved. A
    // single row waits for memory: there are more subgroups at a time with fewer registers.
    const int64_t steps = sizes.partDepth / tileDepth - 1, perTurn = sizes.oneRow ? 1 : 2, rest = steps % perTurn;
    auto stepsFrom = [&](Value k, ValueRange before, int64_t number) {
      Emitter::Values now(before);
      for (int64_t i = 0; i < number; ++i)
        now = step(e.add(k, i * tileDepth), now, count);
      return now;
    };
    Value end = e.index((steps - rest) * tileDepth);
    all = e.loop(e.index(0), end, perTurn * tileDepth, all,
                 [&](Value k, ValueRange before) { return stepsFrom(k, before, perTurn); });
    all = stepsFrom(end, all, rest);
    return ValueRange(step(e.index(steps * tileDepth), all, count, /*isLast=*/true)).take_front(count);
  }

  // Loads what the next one multiplies. `all`: as many sums, and lines. Instruction by instruction in the order of the
  // weight: what is loaded for the next step takes the place of what has been multiplied, part by part.
  Emitter::Values step(Value k, ValueRange all, int64_t count, bool isLast = false) {
    Emitter::Values now(all.take_front(count)), next(all.drop_front(count)), factors;
    for (int64_t first = 0, number = 0; first < sizes.vectorsOfStep(); first += 4) {
      const ValueRange own = ValueRange(all).slice(count + first, 4);
      if (!isLast) {
        if (sizes.sumsTakeHalf())
          waitForSubgroup();
        llvm::copy(loadLines(e.add(k, tileDepth), first, 4), next.begin() + first);
      }
      if (first == 0)
        factors = rows->load(k);
      for (Value fragment : fragmentsOf(own))
        multiply(factors, fragment, number++, now);
    }
    now.append(next);
    return now;
  }

  // ptxas moves no load in front of a barrier. Without it, it loads all of two steps first, and has no registers for
  // that.
  void waitForSubgroup() {
    Value all = arith::ConstantIntOp::create(e.b, e.loc, -1, 32);
    NVVM::SyncWarpOp::create(e.b, e.loc, all);
  }

  // Adds the products of all tiles' rows and a weight's columns.
  void multiply(ValueRange factors, Value fragment, int64_t number, Emitter::Values &sums) {
    for (Value own : factors) {
      sums[number] = nvgpu::MmaSyncOp::create(e.b, e.loc, own, fragment, sums[number],
                                              ArrayRef<int64_t>{tileRows, tileColumns, tileDepth});
      number += sizes.instructions();
    }
  }

  // All that the instructions of a step take of the weight.
  Emitter::Values loadLines(Value k) { return loadLines(k, 0, sizes.vectorsOfStep()); }

  Emitter::Values loadLines(Value k, int64_t begin, int64_t count) {
    Emitter::Values loaded;
    for (int64_t number = begin; number < begin + count; ++number) {
      const MmaPlan::VectorPlace place = sizes.placeInStep(number);
      Value first = e.add(lines[place.panel], e.mul(k, sizes.lanes));
      loaded.push_back(e.loadTogether(weight, e.add(first, place.distance), sizes.perThread()));
    }
    return loaded;
  }

  // Fragments B of the instructions that these lines are for.
  Emitter::Values fragmentsOf(ValueRange loaded) {
    Emitter::Values fragments;
    for (int64_t j = 0, count = sizes.perThread(); j < count; ++j) {
      Value fragment = arith::ConstantOp::create(e.b, e.loc, e.b.getZeroAttr(vectorOf({2, 2}, sizes.element)));
      for (int64_t half = 0; half < 2; ++half) {
        Value pair = vector::ShuffleOp::create(e.b, e.loc, loaded[2 * half], loaded[2 * half + 1],
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
  const MmaPlan sizes;
  const Value bytes;  // of shared memory, for rows, then for sums
  std::unique_ptr<ALoader> rows;
  MmaEpilogue sums;
  const Value weight;  // number by number
  std::optional<BLoader> staged;
  Emitter::Values lines;  // where the thread begins in the panels of the task
};

}  // namespace

// Factors are single numbers of 16 bits, which are types of MLIR.
std::string obstacleToMatrices(kernel::MatmulOp op) {
  auto weight = cast<MemRefType>(op.getWeight().getType());
  const StorageFormat *format = getStorageFormat(weight.getElementType());
  if (!isa<FloatType>(weight.getElementType()) || format->byteSize(1) != 2)
    return "weights are " + std::string(format->name);
  Type rows = cast<MemRefType>(op.getX().getType()).getElementType();
  if (!rows.isF32() && rows != weight.getElementType())
    return "rows are " + std::string(getStorageFormat(rows)->name);
  const int64_t step = tileDepth * static_cast<int64_t>(op.getSplitK());
  if (weight.getDimSize(1) % step != 0)
    return "k is no multiple of " + std::to_string(step);
  return "";
}

int64_t threadsOfMatrices(kernel::MatmulOp op) {
  return MmaPlan(op).kParts * subgroup;
}

// Where nothing is said, ptxas keeps some registers in memory so that more workgroups fit.
void expandByMatrices(WorkgroupEmitter &e, kernel::MatmulOp op) {
  constexpr int64_t mostRegisters = 255;
  auto function = op->getParentOfType<func::FuncOp>();
  function->setAttr(registersAttr, e.b.getI64IntegerAttr(mostRegisters));
  if (!MmaPlan(op).oneRow)  // which waits for memory
    function->setAttr(narrowAttr, e.b.getUnitAttr());
  MmaMatmul(e, op).expand();
}

std::string tileByMatrices(kernel::MatmulOp op) {
  return MmaPlan(op).text();
}

}  // namespace talc
