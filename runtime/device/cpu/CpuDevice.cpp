// SPDX-License-Identifier: Apache-2.0
// Takes the code for the highest level that the processor has.
#include "runtime/device/cpu/CpuDevice.h"

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

static Status chooseCode(const Artifact &file, const Artifact::MappedSection *&best) {
  const CpuLevel available = detectCpuLevel();
  const Artifact::MappedSection *lowest = nullptr;
  best = nullptr;
  for (const Artifact::MappedSection &section : file.sections()) {
    if (section.header.kind != static_cast<uint32_t>(SectionKind::Code))
      continue;
    uint32_t needed = section.header.cpuLevel;
    if (!lowest || needed < lowest->header.cpuLevel)
      lowest = &section;
    if (needed <= static_cast<uint32_t>(available) && (!best || needed > best->header.cpuLevel))
      best = &section;
  }
  if (!lowest)
    return Status::failure(TALC_ERROR_DAMAGED, "%s: the artifact has no code", file.name().c_str());
  if (best)
    return {};
  auto needed = static_cast<CpuLevel>(lowest->header.cpuLevel);
  return Status::failure(
      TALC_ERROR_CPU, "%s: needs a processor of level %s (%s), but this one has %s; compile it with a lower --target",
      file.name().c_str(), cpuLevelName(needed), cpuLevelFeatures(needed), cpuLevelName(available));
}

Status CpuDevice::load(const Artifact &file, const ModelInfo &facts, std::unique_ptr<LoadedModel> &model) const {
  const Artifact::MappedSection *code = nullptr, *weights = file.find(SectionKind::Weights);
  if (Status status = chooseCode(file, code); status.failed())
    return status;
  auto loaded = std::make_unique<CpuModel>(file.name(), facts, static_cast<CpuLevel>(code->header.cpuLevel),
                                           weights ? weights->bytes.data() : nullptr);
  if (Status status = loaded->loadCode(code->bytes.data(), code->header.size, file.descriptor(), code->header.offset);
      status.failed())
    return status;
  model = std::move(loaded);
  return {};
}

}  // namespace talc
