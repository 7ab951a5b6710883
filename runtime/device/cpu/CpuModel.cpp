// SPDX-License-Identifier: Apache-2.0
// Loads code, and sums up the memory of a session.
#include "runtime/device/cpu/CpuModel.h"

#include "runtime/device/cpu/CpuWorkspace.h"

namespace talc {

using namespace artifact;

Status CpuModel::loadCode(const CodeChoice &code) {
  auto damaged = [&](const char *what) {
    return Status::failure(TALC_ERROR_DAMAGED, "%s: the code for %s: %s", file.c_str(), codeTarget, what);
  };
  if (std::string error = image.load(code); !error.empty())
    return damaged(error.c_str());
  for (uint32_t i = 0; i < code.header.entryCount; ++i)
    entryNames.emplace_back(code.header.entries[i].name);
  if (findMissingEntry(static_cast<ModelKind>(facts.kind), [this](const char *name) { return findEntry(name) >= 0; }))
    return damaged("lacks an entry of the model");
  return {};
}

// Returns a * b + c, or UINT64_MAX on overflow.
static uint64_t multiplyAdd(uint64_t a, uint64_t b, uint64_t c) {
  uint64_t result = 0;
  bool overflow = __builtin_mul_overflow(a, b, &result) || __builtin_add_overflow(result, c, &result);
  return overflow ? UINT64_MAX : result;
}

WorkspaceMemory CpuModel::memoryFor(int32_t slots, int32_t threads, const StepSize &size) const {
  WorkspaceMemory memory;
  memory.kvCache = multiplyAdd(facts.kvBytesPerSlot, slots, 0);
  memory.temporaries = multiplyAdd(size.tokens, facts.arenaBytesPerToken, facts.arenaBytesFixed);
  memory.temporaries = multiplyAdd(facts.arenaBytesPerThread, threads, memory.temporaries);
  for (int32_t i = 0; i < maxOutputs; ++i)
    memory.results = multiplyAdd(size.wanted[i], facts.outputs[i].width * sizeof(float), memory.results);
  return memory;
}

Status CpuModel::createWorkspace(const WorkspaceOptions &options, std::unique_ptr<Workspace> &workspace) const {
  return CpuWorkspace::create(*this, options, workspace);
}

}  // namespace talc
