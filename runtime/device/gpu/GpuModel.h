// SPDX-License-Identifier: Apache-2.0
// What a model on a GPU is, whatever its driver: where it comes from, and its launches.
#pragma once

#include "runtime/device/Device.h"
#include "runtime/device/gpu/LaunchCode.h"

#include <memory>
#include <string>

namespace talc {

template <typename Gpu> class GpuModel : public LoadedModel {
public:
  const char *target() const final { return codeTarget; }
  int32_t codeLevel() const final { return 0; }
  const char *steps() const final { return stepsText.c_str(); }

  const Gpu &onGpu() const { return *gpu; }
  const std::string &name() const { return file; }
  const artifact::ModelInfo &info() const { return facts; }
  const LaunchCode &code() const { return launches; }

protected:
  // What is referred to must outlive this object.
  GpuModel(std::shared_ptr<const Gpu> onto, const std::string &file, const artifact::ModelInfo &facts,
           const char *target)
      : gpu(std::move(onto)), file(file), facts(facts), codeTarget(target) {}

  Status damaged(const std::string &what) const {
    return Status::failure(TALC_ERROR_DAMAGED, "%s: the code for %s: %s", file.c_str(), codeTarget, what.c_str());
  }
  // The tables of a Code section, behind its head.
  Status readLaunches(const unsigned char *bytes, uint64_t size) {
    const std::string wrong = launches.read(bytes, size, facts);
    return wrong.empty() ? Status() : damaged(wrong);
  }
  // Up to how many rows a step is a single launch.
  virtual uint32_t tokensAtOnce(Phase) const { return 0; }
  // When that is known.
  void describeSteps() {
    const std::pair<Phase, const char *> phases[] = {
        {Phase::Encode, "encode"}, {Phase::Prefill, "prefill"}, {Phase::Decode, "decode"}};
    for (auto [phase, name] : phases)
      if (const artifact::LaunchEntry *table = launches.phase(phase))
        stepsText += (stepsText.empty() ? "" : "; ") + std::string(name) + ": " +
                     LaunchCode::stepsOf(*table, phase, tokensAtOnce(phase));
  }

  const std::shared_ptr<const Gpu> gpu;
  const std::string &file;
  const artifact::ModelInfo &facts;
  const char *const codeTarget;
  LaunchCode launches;

private:
  std::string stepsText;
};

}  // namespace talc
