// SPDX-License-Identifier: Apache-2.0
// Takes the SPIR-V of an artifact, and brings the weights to a GPU.
#include "runtime/device/Devices.h"

#include "runtime/device/gpu/LoadModel.h"
#include "runtime/device/vulkan/VulkanModel.h"

#include <cstring>

namespace talc {

using namespace vulkan;

static const char *const family = "vulkan";

namespace {

class VulkanDevice final : public Device {
public:
  explicit VulkanDevice(std::shared_ptr<const Gpu> gpu) : gpu(std::move(gpu)) {}

  const char *name() const override { return gpu->name().c_str(); }
  Status load(const Artifact &file, const artifact::ModelInfo &facts, const UploadProgress &progress,
              std::unique_ptr<LoadedModel> &model) const override;

private:
  const std::shared_ptr<const Gpu> gpu;
};

}  // namespace

Status VulkanDevice::load(const Artifact &file, const artifact::ModelInfo &facts, const UploadProgress &progress,
                          std::unique_ptr<LoadedModel> &model) const {
  auto explain = [this](const artifact::CodeHeader &, const char *target) {
    return std::string("the code for ") + target + " needs more than " + gpu->name() + " (" + gpu->facts().description +
           ") has; compile it with another --target";
  };
  const CodeFamily codes = {family, [](const char *) { return false; }, explain, TALC_ERROR_DEVICE};
  return loadModel<VulkanModel>(gpu, codes, file, facts, progress, model);
}

static Status openDevice(int32_t number, std::shared_ptr<const Device> &device) {
  std::shared_ptr<const Gpu> gpu;
  if (Status status = Gpu::open(number, gpu); status.failed())
    return status;
  device = std::make_shared<VulkanDevice>(std::move(gpu));
  return {};
}

// Prefers a GPU with memory of its own to one that shares the CPU's. A driver that runs on CPUs is not worth taking
// where there is code for CPUs.
static Status choose(bool hasCpuCode, int32_t &number) {
  const Driver *driver = nullptr;
  std::vector<GpuProperties> gpus;
  if (Status status = Driver::open(driver); status.failed())
    return status;
  if (Status status = readGpus(*driver, gpus); status.failed())
    return status;
  for (GpuType type : {GpuType::Discrete, GpuType::Integrated, GpuType::Virtual, GpuType::Other, GpuType::Processor})
    for (size_t i = 0; i < gpus.size(); ++i)
      if (gpus[i].type == type && gpus[i].lack.empty() && !(hasCpuCode && type == GpuType::Processor)) {
        number = static_cast<int32_t>(i);
        return {};
      }
  return Status::failure(TALC_ERROR_DEVICE, "vulkan: no GPU can be used: %s %s", gpus[0].description.c_str(),
                         gpus[0].lack.empty() ? "runs on the processors" : gpus[0].lack.c_str());
}

static void list(std::vector<DeviceInfo> &devices) {
  const Driver *driver = nullptr;
  std::vector<GpuProperties> gpus;
  Status status = Driver::open(driver);
  if (!status.failed())
    status = readGpus(*driver, gpus);
  if (status.failed())
    devices.push_back({"vulkan", "", 0, 0, status.text()});
  for (size_t i = 0; i < gpus.size(); ++i)
    devices.push_back({"vulkan:" + std::to_string(i), gpus[i].description, gpus[i].memory,
                       availableMemory(*driver, gpus[i]), gpus[i].lack,
                       gpus[i].type == GpuType::Processor ? "software" : ""});
}

const DeviceKind &vulkanDevices() {
  static const DeviceKind kind = {"vulkan", [](const char *code) { return strcmp(code, family) == 0; }, list, choose,
                                  openDevice};
  return kind;
}

}  // namespace talc
