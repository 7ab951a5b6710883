// SPDX-License-Identifier: Apache-2.0
// 64-bit ARM: features by the auxiliary vector, and the rest of Architecture.h. Source of the features: Linux,
// Documentation/arch/arm64/elf_hwcaps.rst.
#if defined(__aarch64__)
#include "runtime/device/cpu/Architecture.h"
#include "runtime/device/cpu/Cpu.h"

#include <asm/hwcap.h>
#include <cstring>
#include <elf.h>
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

CpuLevel requiredCpuLevel(const artifact::CodeHeader &) {
  return CpuLevel::Any;
}

std::string explainUnsupported(const artifact::CodeHeader &code, const char *target) {
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

const uint16_t elfMachine = EM_AARCH64;
const uint32_t relativeRelocation = R_AARCH64_RELATIVE;

uint64_t ticks() {
  uint64_t value;
  __asm__ volatile("mrs %0, cntvct_el0" : "=r"(value));
  return value;
}

void spinOnce() {
  __asm__ volatile("yield");
}

}  // namespace talc

// Calls a function with an argument, both in preserved registers.
extern "C" void talcStartStack();

// Source: Procedure Call Standard for the Arm 64-bit Architecture: x19 to x29 and d8 to d15 are preserved.
asm(R"(
.text
.hidden talcSwitchStack
.globl talcSwitchStack
.type talcSwitchStack, %function
talcSwitchStack:
  sub sp, sp, #160
  stp x19, x20, [sp]
  stp x21, x22, [sp, #16]
  stp x23, x24, [sp, #32]
  stp x25, x26, [sp, #48]
  stp x27, x28, [sp, #64]
  stp x29, x30, [sp, #80]
  stp d8, d9, [sp, #96]
  stp d10, d11, [sp, #112]
  stp d12, d13, [sp, #128]
  stp d14, d15, [sp, #144]
  mov x9, sp
  str x9, [x0]
  mov sp, x1
  ldp x19, x20, [sp]
  ldp x21, x22, [sp, #16]
  ldp x23, x24, [sp, #32]
  ldp x25, x26, [sp, #48]
  ldp x27, x28, [sp, #64]
  ldp x29, x30, [sp, #80]
  ldp d8, d9, [sp, #96]
  ldp d10, d11, [sp, #112]
  ldp d12, d13, [sp, #128]
  ldp d14, d15, [sp, #144]
  add sp, sp, #160
  ret
.size talcSwitchStack, .-talcSwitchStack
.hidden talcStartStack
.globl talcStartStack
.type talcStartStack, %function
talcStartStack:
  mov x0, x20
  blr x19
  brk #1
.size talcStartStack, .-talcStartStack
)");

const talc::FirstFrame talc::firstFrame = {20, 0, 1, 11, talcStartStack};
#endif
