// SPDX-License-Identifier: Apache-2.0
// Loads the best code that the CPU runs, and uses the weights where they are mapped.
#include "runtime/device/Devices.h"

#include "runtime/artifact/CodeChoice.h"
#include "runtime/device/cpu/Cores.h"
#include "runtime/device/cpu/Cpu.h"
#include "runtime/device/cpu/CpuModel.h"

#include <algorithm>
#include <cstring>
#include <unistd.h>

namespace talc {

using namespace artifact;

namespace {

class CpuDevice final : public Device {
public:
  const char *name() const override { return "cpu"; }
  Status load(const Artifact &file, const ModelInfo &facts, const UploadProgress &progress,
              std::unique_ptr<LoadedModel> &model) const override;
};

}  // namespace

// Weights are read in place, without progress to report.
Status CpuDevice::load(const Artifact &file, const ModelInfo &facts, const UploadProgress &,
                       std::unique_ptr<LoadedModel> &model) const {
  CodeChoice code;
  ModelWeights weights;
  if (Status status = chooseCode(file, {cpuFamily(), hasCpuFeature, explainUnsupported, TALC_ERROR_CPU}, code);
      status.failed())
    return status;
  if (Status status = weights.open(file, code.header.layout, facts); status.failed())
    return status;
  auto loaded = std::make_unique<CpuModel>(file.name(), facts, code.target, requiredCpuLevel(code.header),
                                           std::move(weights));
  if (Status status = loaded->loadCode(code); status.failed())
    return status;
  model = std::move(loaded);
  return {};
}

static Status openDevice(int32_t number, std::shared_ptr<const Device> &device) {
  if (number != 0)
    return Status::failure(TALC_ERROR_DEVICE, "cpu:%d: is not there: all processors are the device cpu", number);
  device = std::make_shared<CpuDevice>();
  return {};
}

static void list(std::vector<DeviceInfo> &devices) {
  auto page = static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
  auto pages = [&](int name) { return page * static_cast<uint64_t>(std::max(sysconf(name), 0L)); };
  std::string description = std::string(cpuFamily()) + ", " + std::to_string(onlineProcessors()) + " processors";
  devices.push_back({"cpu", description, pages(_SC_PHYS_PAGES), pages(_SC_AVPHYS_PAGES), ""});
}

const DeviceKind &cpuDevices() {
  static const DeviceKind kind = {"cpu", [](const char *family) { return strcmp(family, cpuFamily()) == 0; }, list,
                                  DeviceKind::chooseFirst, openDevice};
  return kind;
}

}  // namespace talc
