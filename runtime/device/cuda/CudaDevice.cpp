// SPDX-License-Identifier: Apache-2.0
// Takes the PTX that suits a GPU, and brings the weights to it.
#include "runtime/device/Devices.h"

#include "runtime/device/cuda/CudaModel.h"
#include "runtime/device/gpu/LoadModel.h"

#include <cstdlib>
#include <cstring>

namespace talc {

using namespace cuda;

static const char *const family = "nvptx";

namespace {

class CudaDevice final : public talc::Device {
public:
  explicit CudaDevice(std::shared_ptr<const Gpu> gpu) : gpu(std::move(gpu)) {}

  const char *name() const override { return gpu->name().c_str(); }
  Status load(const Artifact &file, const artifact::ModelInfo &facts, const UploadProgress &progress,
              std::unique_ptr<LoadedModel> &model) const override;

private:
  CodeFamily codeFamily() const;

  const std::shared_ptr<const Gpu> gpu;
};

}  // namespace

// sm_80 runs on that and all later GPUs, sm_90a on 9.0 alone.
static bool hasCapability(const GpuProperties &gpu, const char *feature) {
  if (strncmp(feature, "sm_", 3) != 0)
    return false;
  char *end = nullptr;
  long needed = strtol(feature + 3, &end, 10), capability = gpu.major * 10L + gpu.minor;
  return *end == 'a' && end[1] == 0 ? capability == needed : *end == 0 && end != feature + 3 && capability >= needed;
}

CodeFamily CudaDevice::codeFamily() const {
  const GpuProperties &facts = gpu->facts();
  auto explain = [&facts, this](const artifact::CodeHeader &code, const char *target) {
    std::string text = std::string("the code for ") + target + " needs a GPU of compute capability ";
    text += code.featureCount > 0 ? code.features[0] : "";
    text += ", but " + gpu->name() + " (" + facts.description + ") has sm_" + std::to_string(facts.major) +
            std::to_string(facts.minor);
    return text + "; compile it with another --target";
  };
  return {family, [&facts](const char *feature) { return hasCapability(facts, feature); }, explain, TALC_ERROR_DEVICE};
}

Status CudaDevice::load(const Artifact &file, const artifact::ModelInfo &facts, const UploadProgress &progress,
                        std::unique_ptr<LoadedModel> &model) const {
  return loadModel<CudaModel>(gpu, codeFamily(), file, facts, progress, model);
}

static Status openDevice(int32_t number, std::shared_ptr<const talc::Device> &device) {
  std::shared_ptr<const Gpu> gpu;
  if (Status status = Gpu::open(number, gpu); status.failed())
    return status;
  device = std::make_shared<CudaDevice>(std::move(gpu));
  return {};
}

static DeviceInfo describeGpu(int32_t number, const GpuProperties &facts) {
  DeviceInfo result = {"cuda:" + std::to_string(number), facts.description, facts.memory, 0, ""};
  std::shared_ptr<const Gpu> gpu;
  Status status = Gpu::open(number, gpu);
  if (!status.failed())
    status = gpu->use();
  if (!status.failed())
    status = gpu->available(result.available);
  result.reason = status.failed() ? status.text() : "";
  // The driver of tests says so.
  result.emulation = facts.description.rfind("PTX emulator", 0) == 0 ? "emulated" : "";
  return result;
}

static void list(std::vector<DeviceInfo> &devices) {
  const cuda::Driver *driver = nullptr;
  std::vector<GpuProperties> gpus;
  Status status = cuda::Driver::open(driver);
  if (!status.failed())
    status = readGpus(*driver, gpus);
  if (status.failed())
    devices.push_back({"cuda", "", 0, 0, status.text()});
  for (size_t i = 0; i < gpus.size(); ++i)
    devices.push_back(describeGpu(static_cast<int32_t>(i), gpus[i]));
}

const DeviceKind &cudaDevices() {
  static const DeviceKind kind = {"cuda", [](const char *code) { return strcmp(code, family) == 0; }, list,
                                  DeviceKind::chooseFirst, openDevice};
  return kind;
}

}  // namespace talc
