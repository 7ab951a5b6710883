// SPDX-License-Identifier: Apache-2.0
// Takes the best code that the processor runs, and the weights where they are mapped.
#include "runtime/device/cpu/CpuDevice.h"

#include "runtime/artifact/CodeChoice.h"
#include "runtime/device/cpu/Cpu.h"
#include "runtime/device/cpu/CpuModel.h"

namespace talc {

using namespace artifact;

namespace {

class CpuDevice final : public Device {
public:
  const char *name() const override { return "cpu"; }
  Status load(const Artifact &file, const ModelInfo &facts, std::unique_ptr<LoadedModel> &model) const override;
};

}  // namespace

const Device &cpuDevice() {
  static const CpuDevice device;
  return device;
}

Status CpuDevice::load(const Artifact &file, const ModelInfo &facts, std::unique_ptr<LoadedModel> &model) const {
  CodeChoice code;
  Artifact::LocatedSection weights;
  if (Status status = chooseCode(file, {cpuFamily(), hasCpuFeature, explainLack}, code); status.failed())
    return status;
  if (Status status = file.openWeights(code.header.layout, facts.weightBytes, weights); status.failed())
    return status;
  auto loaded = std::make_unique<CpuModel>(file.name(), facts, code.target, levelOfCode(code.header), weights.bytes,
                                           std::move(weights.copy));
  if (Status status = loaded->loadCode(code); status.failed())
    return status;
  model = std::move(loaded);
  return {};
}

}  // namespace talc
