// SPDX-License-Identifier: Apache-2.0
// The roof of a kernel: its operations at the peak of such products, or its bytes at the bandwidth of where they come
// from, whichever takes longer. Weights and states are read once per step, so they come from the level that holds all
// that a step reads of them; activations were just written, so they come from the level that holds the kernel's own.
#include "tools/talc/bench/KernelWork.h"

#include <algorithm>

namespace talc::bench {

double KernelWork::minSeconds(double storedBytesPerSecond, double slowdown) const {
  return std::max(computing * slowdown, storedBytes / storedBytesPerSecond + passing);
}

KernelWork kernelWork(const KernelEntry &kernel, const StepShape &step, const MachineProfile &machine) {
  StepCosts call = kernel.callCosts(step);
  auto calls = static_cast<double>(kernel.calls);
  const MemoryLevel &passed = machine.levelHolding(call.bytes());
  return {calls * call.operations / machine.peakFor(kernel).operationsPerSecond,
          calls * call.passedBytes / passed.bytesPerSecond, calls * call.storedBytes, passed.name};
}

}  // namespace talc::bench
