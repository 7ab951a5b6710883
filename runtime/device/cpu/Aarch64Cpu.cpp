// SPDX-License-Identifier: Apache-2.0
// 64-bit ARM: features by the auxiliary vector. Source: Linux, Documentation/arch/arm64/elf_hwcaps.rst.
#if defined(__aarch64__)
#include "runtime/device/cpu/Cpu.h"

#include <asm/hwcap.h>
#include <cstring>
#include <sys/auxv.h>

namespace talc {

namespace {

// LLVM's name, and the bits of AT_HWCAP that together say the same.
struct Feature {
  const char *name;
  unsigned long bits;
};

}  // namespace

static constexpr Feature features[] = {
    {"neon", HWCAP_ASIMD}, {"fullfp16", HWCAP_FPHP | HWCAP_ASIMDHP}, {"dotprod", HWCAP_ASIMDDP}};

const char *cpuFamily() {
  return "aarch64";
}

bool hasCpuFeature(const char *name) {
  for (const Feature &feature : features)
    if (strcmp(feature.name, name) == 0)
      return (getauxval(AT_HWCAP) & feature.bits) == feature.bits;
  return false;
}

CpuLevel detectCpuLevel() {
  return CpuLevel::Any;
}

CpuLevel levelOfCode(const artifact::CodeHeader &) {
  return CpuLevel::Any;
}

std::string explainLack(const artifact::CodeHeader &code, const char *target) {
  std::string lacking;
  for (uint32_t i = 0; i < code.featureCount; ++i)
    if (!hasCpuFeature(code.features[i]))
      lacking += (lacking.empty() ? "" : ", ") + std::string(code.features[i]);
  return std::string("needs a processor that runs ") + target + ", but this one lacks " + lacking +
         "; compile it with a lower --target";
}

const char *cpuLevelFeatures(CpuLevel) {
  return "none";
}

}  // namespace talc
#endif
