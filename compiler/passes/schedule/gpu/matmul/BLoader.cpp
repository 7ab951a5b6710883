// SPDX-License-Identifier: Apache-2.0
// A thread reads what it has copied itself, and vectors of neighbouring threads lie side by side, in other banks:
//
//   stage of k / 16    vector 0 of threads 0 1 2 ... 31   vector 1 of threads 0 1 2 ... 31   ...
#include "compiler/passes/schedule/gpu/matmul/BLoader.h"

#include "mlir/Dialect/NVGPU/IR/NVGPUDialect.h"

using namespace mlir;

namespace talc {

constexpr int64_t subgroup = MmaPlan::subgroup;

static Value stagesOf(WorkgroupEmitter &e, const MmaPlan &sizes, Value bytes) {
  const int64_t count = sizes.kParts * sizes.stages * sizes.stagedWeights();
  return viewOf(e, bytes, {count}, sizes.element, sizes.stagedBytes() - 2 * count);
}

BLoader::BLoader(WorkgroupEmitter &e, const MmaPlan &sizes, Value weight, Value bytes)
    : e(e), sizes(sizes), weight(weight), stages(stagesOf(e, sizes, bytes)) {}

void BLoader::enter(ValueRange known) {
  lines = Values(known);
  Value thread = e.thread(), ring = e.mul(e.div(thread, subgroup), sizes.stages * sizes.stagedWeights());
  own = e.add(ring, e.mul(e.rem(thread, subgroup), sizes.perThread()));
}

void BLoader::copy(Value k) {
  const bool passesL1 = sizes.perThread() * 2 == 16;
  for (int64_t number = 0; number < sizes.vectorsOfStep(); ++number) {
    const MmaPlan::VectorPlace place = sizes.placeInStep(number);
    Value from = e.add(e.add(lines[place.panel], e.mul(k, sizes.lanes)), place.distance);
    nvgpu::DeviceAsyncCopyOp::create(e.b, e.loc, nvgpu::DeviceAsyncTokenType::get(e.b.getContext()), stages,
                                     placeOf(k, number), weight, from, e.b.getIndexAttr(sizes.perThread()), Value(),
                                     passesL1 ? e.b.getUnitAttr() : UnitAttr());
  }
}

BLoader::Values BLoader::load(Value k) {
  Values loaded;
  for (int64_t number = 0; number < sizes.vectorsOfStep(); ++number)
    loaded.push_back(e.loadTogether(stages, {placeOf(k, number)}, sizes.perThread()));
  return loaded;
}

Value BLoader::placeOf(Value k, int64_t number) {
  Value stage = e.rem(e.div(k, MmaPlan::tileDepth), sizes.stages);
  return e.add(e.add(own, e.mul(stage, sizes.stagedWeights())), number * subgroup * sizes.perThread());
}

}  // namespace talc
