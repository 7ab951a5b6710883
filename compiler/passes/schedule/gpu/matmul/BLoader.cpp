// SPDX-License-Identifier: Apache-2.0
// A thread reads what it has copied itself. Vectors of neighboring threads are adjacent, which avoids bank conflicts:
//
//   stage of k / 16    vector 0 of threads 0 1 2 ... 31   vector 1 of threads 0 1 2 ... 31   ...
#include "compiler/passes/schedule/gpu/matmul/BLoader.h"

#include "mlir/Dialect/NVGPU/IR/NVGPUDialect.h"

using namespace mlir;

namespace talc {

static Value viewStages(WorkgroupEmitter &e, const MmaPlan &plan, Value bytes) {
  const int64_t count = plan.kParts * plan.stages * plan.stagedB();
  return viewBytes(e, bytes, {count}, plan.element, plan.stagedBytes() - 2 * count);
}

BLoader::BLoader(WorkgroupEmitter &e, const MmaPlan &plan, Value weight, Value bytes)
    : e(e), plan(plan), weight(weight), stages(viewStages(e, plan, bytes)) {}

void BLoader::begin(ValueRange offsets) {
  panelOffsets = Values(offsets);
  Value thread = e.thread(), buffer = e.mul(e.div(thread, plan.warp), plan.stages * plan.stagedB());
  firstOffset = e.add(buffer, e.mul(e.rem(thread, plan.warp), plan.vectorWidth()));
}

void BLoader::copy(Value k) {
  const bool bypassesL1 = plan.vectorWidth() * 2 == 16;
  for (int64_t vector = 0; vector < plan.vectorsOfStep(); ++vector) {
    const MmaPlan::VectorOffset offset = plan.vectorOffset(vector);
    Value from = e.add(e.add(panelOffsets[offset.panel], e.mul(k, plan.lanes)), offset.elements);
    nvgpu::DeviceAsyncCopyOp::create(e.b, e.loc, nvgpu::DeviceAsyncTokenType::get(e.b.getContext()), stages,
                                     offsetInStages(k, vector), weight, from, e.b.getIndexAttr(plan.vectorWidth()),
                                     Value(), bypassesL1 ? e.b.getUnitAttr() : UnitAttr());
  }
}

BLoader::Values BLoader::load(Value k) {
  Values loaded;
  for (int64_t vector = 0; vector < plan.vectorsOfStep(); ++vector)
    loaded.push_back(e.loadVector(stages, {offsetInStages(k, vector)}, plan.vectorWidth()));
  return loaded;
}

Value BLoader::offsetInStages(Value k, int64_t vector) {
  Value stage = e.rem(e.div(k, plan.atom.k), plan.stages);
  return e.add(e.add(firstOffset, e.mul(stage, plan.stagedB())), vector * plan.warp * plan.vectorWidth());
}

}  // namespace talc
