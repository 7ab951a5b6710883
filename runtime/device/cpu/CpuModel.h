// SPDX-License-Identifier: Apache-2.0
// A model on processors: its code in memory, its weights where the artifact is mapped.
#pragma once

#include "runtime/device/Device.h"
#include "runtime/device/cpu/CodeImage.h"

namespace talc {

class CpuModel final : public LoadedModel {
public:
  // `file`: its name in messages. What is referred to must outlive this object.
  CpuModel(const std::string &file, const artifact::ModelInfo &facts, artifact::CpuLevel level,
           const unsigned char *weights)
      : file(file), facts(facts), level(level), weightBytes(weights) {}

  // See CodeImage::load.
  Status loadCode(const unsigned char *bytes, uint64_t size, int descriptor, uint64_t fileOffset);

  int32_t codeLevel() const override { return static_cast<int32_t>(level); }
  WorkspaceMemory memoryFor(int32_t slots, int32_t threads, const StepSize &size) const override;
  Status createWorkspace(int32_t slots, int32_t threads, std::unique_ptr<Workspace> &workspace) const override;

  const std::string &name() const { return file; }
  const artifact::ModelInfo &info() const { return facts; }
  const unsigned char *weights() const { return weightBytes; }
  artifact::StepFunction function(Phase phase) const;

private:
  const std::string &file;
  const artifact::ModelInfo &facts;
  const artifact::CpuLevel level;
  const unsigned char *const weightBytes;
  CodeImage image;
};

}  // namespace talc
