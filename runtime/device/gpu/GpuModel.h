// SPDX-License-Identifier: Apache-2.0
// The part of a model on a GPU that all drivers share: the file that it comes from, and its launches.
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
  // `file`, `facts` and `target` must outlive this object.
  GpuModel(std::shared_ptr<const Gpu> onto, const std::string &file, const artifact::ModelInfo &facts,
           const char *target)
      : gpu(std::move(onto)), file(file), facts(facts), codeTarget(target) {}

  Status damaged(const std::string &what) const {
    return Status::failure(TALC_ERROR_DAMAGED, "%s: the code for %s: %s", file.c_str(), codeTarget, what.c_str());
  }
  // The tables of a Code section, behind its head.
  Status readLaunches(const unsigned char *bytes, uint64_t size) {
    if (const std::string wrong = launches.read(bytes, size, facts); !wrong.empty())
      return damaged(wrong);
    for (const artifact::LaunchEntry &entry : launches.entries())
      entryNames.emplace_back(entry.name);
    return {};
  }
  // Returns the greatest number of tokens with which a step is a single launch.
  virtual uint32_t tokensAtOnce(EntryIndex) const { return 0; }
  // Needs tokensAtOnce().
  void describeSteps() {
    for (size_t i = 0; i < launches.entries().size(); ++i)
      stepsText += (stepsText.empty() ? "" : "; ") + entryNames[i] + ": " +
                   LaunchCode::describeSteps(launches.entries()[i], tokensAtOnce(static_cast<EntryIndex>(i)));
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
