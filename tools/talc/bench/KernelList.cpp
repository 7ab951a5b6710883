// SPDX-License-Identifier: Apache-2.0
// Reads the manifest field by field; a field that is missing or of another type counts as empty.
#include "tools/talc/bench/KernelList.h"

#include "dialects/talc/ModuleKeys.h"
#include "runtime/artifact/Model.h"
#include "runtime/device/cpu/Cpu.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstring>
#include <map>

namespace talc::bench {

using Json = nlohmann::json;

static std::string getText(const Json &object, const char *name) {
  auto field = object.find(name);
  return field != object.end() && field->is_string() ? field->get<std::string>() : "";
}

static int64_t getNumber(const Json &object, const char *name) {
  auto field = object.find(name);
  return field != object.end() && field->is_number_integer() ? field->get<int64_t>() : 0;
}

// Counts pairs of a query and a visible key. A prefix mask is causal without a prefix.
static double countPairs(const StepShape &step, const KernelEntry &kernel) {
  if (kernel.keys == "source")
    return static_cast<double>(step.sequences * step.tokens * step.source);
  double pairs = 0;
  for (int64_t row = 0; row < step.tokens; ++row) {
    int64_t position = step.past + row, first = 0, end = kernel.mask == "full" ? step.past + step.tokens : position + 1;
    if (kernel.window > 0) {
      first = std::max<int64_t>(first, position - kernel.window + 1);
      end = std::min(end, position + kernel.window);
    }
    pairs += static_cast<double>(end - first);
  }
  return pairs * static_cast<double>(step.sequences);
}

// Counts tokens whose keys and values at least one query sees.
static double countKeys(const StepShape &step, const KernelEntry &kernel) {
  if (kernel.keys == "source")
    return static_cast<double>(step.sequences * step.source);
  int64_t keys = step.past + step.tokens, window = kernel.window;
  if (window > 0)
    keys = std::min(keys, window + step.tokens - 1);
  return static_cast<double>(keys * step.sequences);
}

// Steps of benchmarks compute the first output only.
static int64_t countRows(const StepShape &step, const std::string &rows) {
  if (rows == "tokens")
    return step.sequences * step.tokens;
  return rows == "outputs" && step.hasOutputs ? step.sequences : 0;
}

std::string KernelEntry::weights() const {
  return op == "matmul" ? shapes.substr(shapes.rfind(' ') + 1) : "";
}

StepCosts KernelEntry::callCosts(const StepShape &step) const {
  auto count = static_cast<double>(countRows(step, rows));
  StepCosts costs;
  costs.operations = count * static_cast<double>(operationsPerRow);
  if (operationsPerPair > 0)
    costs.operations += static_cast<double>(operationsPerPair) * countPairs(step, *this);
  double callBytes = count > 0 ? static_cast<double>(storedBytesPerCall) : 0;
  costs.storedBytes = callBytes + count * static_cast<double>(storedBytesPerRow) +
                      countKeys(step, *this) * static_cast<double>(storedBytesPerKey);
  costs.passedBytes = count * static_cast<double>(passedBytesPerRow);
  return costs;
}

StepCosts KernelList::costs(const StepShape &step) const {
  StepCosts sum;
  for (const KernelEntry &kernel : kernels)
    if (kernel.runsIn(step)) {
      StepCosts one = kernel.callCosts(step);
      auto calls = static_cast<double>(kernel.calls);
      sum.operations += calls * one.operations;
      sum.storedBytes += calls * one.storedBytes;
      sum.passedBytes += calls * one.passedBytes;
    }
  return sum;
}

KernelEntry parseKernelEntry(const Json &json) {
  KernelEntry kernel;
  auto text = [&](const char *name) { return getText(json, name); };
  kernel.name = text(kernelKeys::name);
  kernel.op = text(kernelKeys::op);
  kernel.phase = text(kernelKeys::entry);
  kernel.rows = text(kernelKeys::rows);
  kernel.shapes = text(kernelKeys::shapes);
  kernel.fused = text(kernelKeys::fused);
  kernel.stored = text(kernelKeys::stored);
  kernel.share = text(kernelKeys::share);
  kernel.rounded = text(kernelKeys::quantized);
  kernel.mask = text(kernelKeys::mask);
  kernel.keys = text(kernelKeys::keys);
  const std::pair<const char *, int64_t *> numbers[] = {
      {kernelKeys::calls, &kernel.calls},
      {kernelKeys::spills, &kernel.spills},
      {kernelKeys::window, &kernel.window},
      {kernelKeys::operationsPerRow, &kernel.operationsPerRow},
      {kernelKeys::operationsPerPair, &kernel.operationsPerPair},
      {kernelKeys::storedBytesPerCall, &kernel.storedBytesPerCall},
      {kernelKeys::storedBytesPerRow, &kernel.storedBytesPerRow},
      {kernelKeys::storedBytesPerKey, &kernel.storedBytesPerKey},
      {kernelKeys::passedBytesPerRow, &kernel.passedBytesPerRow},
  };
  for (auto [name, target] : numbers)
    *target = getNumber(json, name);
  return kernel;
}

// Returns the element type with the most bytes.
static std::string mainType(const Json &weights) {
  std::map<std::string, int64_t> bytes;
  for (const Json &weight : weights)
    bytes[getText(weight, "type")] += getNumber(weight, "bytes");
  std::string type;
  for (const auto &[name, size] : bytes)
    if (type.empty() || size > bytes[type])
      type = name;
  return type;
}

// Returns the CPU family of the code, or an empty text if some code is for this machine.
static std::string foreignFamily(const Artifact &artifact) {
  std::string foreign;
  for (const Artifact::LocatedSection &section : artifact.sections()) {
    if (section.header.kind != static_cast<uint32_t>(artifact::SectionKind::Code) ||
        section.header.size < artifact::codeOffset)
      continue;
    const auto *header = reinterpret_cast<const artifact::CodeHeader *>(section.bytes);
    std::string family(header->family, strnlen(header->family, artifact::nameBytes));
    if (family == cpuFamily())
      return "";
    foreign = family;
  }
  return foreign;
}

static void readModelOrigin(const Json &manifest, KernelList &list) {
  auto origin = manifest.find("origin");
  if (origin == manifest.end() || !origin->is_object())
    return;
  list.origin = getText(*origin, originKeys::model);
  if (auto options = origin->find(originKeys::options); options != origin->end())
    for (const Json &word : *options)
      list.originOptions.push_back(word.is_string() ? word.get<std::string>() : "");
}

static std::vector<KernelEntry> readEntries(const Json &list) {
  std::vector<KernelEntry> kernels;
  for (const Json &kernel : list)
    kernels.push_back(parseKernelEntry(kernel));
  return kernels;
}

void KernelList::choose(const std::string &name) {
  if (auto it = kernelsByTarget.find(name); it != kernelsByTarget.end())
    kernels = it->second;
}

Status readKernels(const std::string &path, KernelList &list) {
  Artifact artifact;
  if (Status status = artifact.source.openPath(path); status.failed())
    return status;
  if (Status status = artifact.open({/*checkWeights=*/false}); status.failed())
    return status;
  if (Status status = readModelInfo(artifact, list.facts); status.failed())
    return status;
  list.foreign = foreignFamily(artifact);
  list.fingerprint = artifact.fingerprint();
  const Artifact::LocatedSection *section = artifact.find(artifact::SectionKind::Manifest);
  Json manifest;
  if (section) {
    const unsigned char *text = section->bytes;
    manifest = Json::parse(text, text + section->header.size, nullptr, /*allow_exceptions=*/false);
  }
  auto kernels = manifest.find("kernels");
  if (!manifest.is_object() || kernels == manifest.end() || !kernels->is_array() || kernels->empty() ||
      !kernels->front().is_object())
    return Status::failure(TALC_ERROR_DAMAGED, "%s: the manifest lists no kernels; compile the model again",
                           artifact.name().c_str());
  list.model = getText(manifest, "name");
  readModelOrigin(manifest, list);
  if (auto target = manifest.find("target"); target != manifest.end())
    list.target = getText(*target, "cpu");
  if (auto weights = manifest.find("weights"); weights != manifest.end())
    list.weightType = mainType(*weights);
  list.parameters = getNumber(manifest, "parameters");
  list.kernels = readEntries(*kernels);
  list.encoder = std::all_of(list.kernels.begin(), list.kernels.end(),
                             [](const KernelEntry &kernel) { return kernel.phase == artifact::entryNames::encode; });
  if (auto others = manifest.find("kernels_of"); others != manifest.end() && others->is_object())
    for (const auto &[name, entries] : others->items())
      list.kernelsByTarget[name] = readEntries(entries);
  return {};
}

}  // namespace talc::bench
