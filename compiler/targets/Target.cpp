// SPDX-License-Identifier: Apache-2.0
// The table of all kinds of machines that talc has code for.
#include "compiler/targets/Target.h"

#include "compiler/Error.h"
#include "compiler/targets/cpu/CpuTarget.h"
#include "compiler/targets/nvptx/NvptxTarget.h"
#include "compiler/targets/vulkan/VulkanTarget.h"
#include "runtime/NearestWord.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

namespace talc::targets {

namespace {

struct Family {
  // A null pointer if the family has no such name.
  llvm::Expected<TargetPtr> (*parse)(llvm::StringRef name);
  std::vector<std::string> (*allNames)();
  // For messages: the names that the family accepts, and what two targets of one kind have in common.
  const char *names, *measure;
  llvm::StringRef otherNames;  // of such machines, which mean the target `meant`
  const char *meant;
  llvm::ArrayRef<llvm::StringLiteral> texts = cpu::texts;
};

}  // namespace

// The first family that knows a name parses it, and a machine that runs code of several families prefers the first.
static constexpr Family families[] = {
    {cpu::parseX86, cpu::x86Names,
     "native, x86-64-v3, x86-64-v3+vnni, x86-64-v4, x86-64-v4+vnni, x86-64-v4+bf16, x86-64-v4+amx, or the name of a "
     "processor such as znver3 or skylake-avx512",
     "CPU level", "cpu host x86_64 x86-64 x64 amd64 avx2 avx512", "native"},
    {cpu::parseAarch64, cpu::aarch64Names,
     "aarch64, aarch64+dotprod, or the name of a processor such as cortex-a76 or neoverse-n1", "CPU level",
     "arm arm64 armv8", "aarch64"},
    {nvptx::parseNvptx, nvptx::nvptxNames, "nvptx, or nvptx:sm_90 for GPUs from that on", "GPU", "cuda nvidia gpu ptx",
     "nvptx", nvptx::texts},
    {vulkan::parseVulkan, vulkan::vulkanNames, "vulkan", "GPU", "spirv spir-v", "vulkan", vulkan::texts},
};

// Returns the target that is meant by a name that others give to its machines, or an empty text.
static std::string targetMeant(llvm::StringRef name) {
  for (const Family &family : families)
    if (llvm::is_contained(llvm::split(family.otherNames, ' '), name.lower()))
      return family.meant;
  return "";
}

// Sets `family`.
static llvm::Expected<TargetPtr> parse(llvm::StringRef name, const Family *&family) {
  std::vector<std::string> names;
  for (const Family &next : families) {
    family = &next;
    llvm::Expected<TargetPtr> target = next.parse(name);
    if (!target || *target)
      return target;
    llvm::append_range(names, next.allNames());
  }
  std::string other = targetMeant(name.split(':').first);
  return makeError(ErrorCode::BadTarget, "--target={}: unknown{}; expected {}", name.str(),
                   other.empty() ? suggestion(name.str(), names) : " (did you mean '" + other + "'?)", targetNames());
}

std::string targetNames() {
  std::vector<std::string> names;
  for (const Family &family : families)
    names.push_back(family.names);
  return llvm::join(names, "; or ");
}

std::vector<std::string> allListingKinds() {
  std::vector<std::string> words;
  for (const Family &family : families)
    for (llvm::StringRef word : family.texts)
      if (!llvm::is_contained(words, word))
        words.push_back(word.str());
  return words;
}

llvm::Expected<TargetPtr> parseTarget(llvm::StringRef name) {
  const Family *family = nullptr;
  return parse(name, family);
}

llvm::Expected<std::vector<TargetPtr>> parseTargets(llvm::StringRef list) {
  struct Listed {
    TargetPtr target;
    const Family *family;
    MachineRequirements needs;
  };
  // Code with more requirements is better code.
  auto better = [](const Listed &a, const Listed &b) {
    return a.family != b.family ? a.family < b.family : a.needs.features.size() > b.needs.features.size();
  };
  std::vector<Listed> all;
  for (llvm::StringRef name : llvm::split(list, ',')) {
    const Family *family = nullptr;
    llvm::Expected<TargetPtr> target = parse(name, family);
    if (!target)
      return target.takeError();
    MachineRequirements needs = (*target)->requirements();
    if (llvm::any_of(all, [&](const Listed &other) { return other.needs == needs; }))
      return makeError(ErrorCode::BadTarget, "--target={}: {} needs the same {} as another one of the list", list.str(),
                       name.str(), family->measure);
    Listed listed{std::move(*target), family, std::move(needs)};
    all.insert(llvm::upper_bound(all, listed, better), std::move(listed));
  }
  std::vector<TargetPtr> result;
  for (Listed &listed : all)
    result.push_back(std::move(listed.target));
  return result;
}

}  // namespace talc::targets
