// SPDX-License-Identifier: Apache-2.0
// A model on the CPU: its code in memory, its weights where the artifact is mapped and tables beside them.
#pragma once

#include "runtime/artifact/ModelWeights.h"
#include "runtime/device/Device.h"
#include "runtime/device/cpu/CodeImage.h"
#include "runtime/device/cpu/Cpu.h"

namespace talc {

class CpuModel final : public LoadedModel {
public:
  // `file`: the name in messages. References must outlive this object.
  CpuModel(const std::string &file, const artifact::ModelInfo &facts, const char *target, CpuLevel level,
           ModelWeights weights)
      : file(file), facts(facts), codeTarget(target), level(level), modelWeights(std::move(weights)) {}

  Status loadCode(const CodeChoice &code);

  const char *target() const override { return codeTarget; }
  int32_t codeLevel() const override { return static_cast<int32_t>(level); }
  WorkspaceMemory memoryFor(int32_t slots, int32_t threads, const StepSize &size) const override;
  Status createWorkspace(const WorkspaceOptions &options, std::unique_ptr<Workspace> &workspace) const override;

  const unsigned char *hostWeights() const override { return modelWeights.stored(); }
  const std::string &name() const { return file; }
  const artifact::ModelInfo &info() const { return facts; }
  const ModelWeights &weights() const { return modelWeights; }
  artifact::StepFunction function(EntryIndex entry) const { return image.functions()[entry]; }

private:
  const std::string &file;
  const artifact::ModelInfo &facts;
  const char *const codeTarget;
  const CpuLevel level;
  const ModelWeights modelWeights;
  CodeImage image;
};

}  // namespace talc
