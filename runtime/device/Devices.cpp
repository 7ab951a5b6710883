// SPDX-License-Identifier: Apache-2.0
// The table: a kind of device is a folder, and a line here.
#include "runtime/device/Devices.h"

#include <algorithm>
#include <cstring>

namespace talc {

using namespace artifact;

// Preferred kinds come first; every machine has the last one.
static const DeviceKind &(*const kinds[])() = {cudaDevices, vulkanDevices, cpuDevices};

std::vector<DeviceInfo> listDevices() {
  std::vector<DeviceInfo> devices;
  for (auto *kind : kinds)
    kind().list(devices);
  return devices;
}

static bool hasCodeFor(const DeviceKind &kind, const Artifact &file) {
  for (const Artifact::LocatedSection &section : file.sections()) {
    CodeHeader header;
    if (section.header.kind != static_cast<uint32_t>(SectionKind::Code) || section.header.size < sizeof(header))
      continue;
    memcpy(&header, section.bytes, sizeof(header));
    if (memchr(header.family, 0, nameBytes) && kind.takes(header.family))
      return true;
  }
  return false;
}

static Status placeOn(const DeviceKind &kind, int32_t number, const Artifact &file, const ModelInfo &facts,
                      const UploadProgress &progress, ModelOnDevice &placed) {
  if (Status status = kind.open(number, placed.device); status.failed())
    return status;
  return placed.device->load(file, facts, progress, placed.model);
}

// No other device can run a file that is damaged.
static bool mayFallBack(const Status &status) {
  return status.code() == TALC_ERROR_DEVICE || status.code() == TALC_ERROR_DEVICE_FAILED ||
         status.code() == TALC_ERROR_MEMORY;
}

// Tries a session of one sequence with the longest step of generation that it can have. If the device lacks memory
// later, that is an error, since a running session cannot move.
static Status tryLeast(LoadedModel &model, const ModelInfo &facts) {
  if (Status status = model.prepareAll(); status.failed())
    return status;
  std::unique_ptr<Workspace> workspace;
  if (Status status = model.createWorkspace({1, 1}, workspace); status.failed())
    return status;
  StepSize least;
  least.tokens = defaultStepTokens;
  for (uint32_t bound : {facts.maxSequence, facts.segment, facts.stepTokens})
    if (bound > 0)
      least.tokens = std::min<uint64_t>(least.tokens, bound);
  std::fill_n(least.wanted, maxOutputs, 1);
  return workspace->reserve(least);
}

static Status placeAnywhere(const Artifact &file, const ModelInfo &facts, const UploadProgress &progress,
                            ModelOnDevice &placed) {
  std::vector<const DeviceKind *> candidates;
  for (auto *kind : kinds)
    if (hasCodeFor(kind(), file))
      candidates.push_back(&kind());
  if (candidates.empty())  // the CPU says what is missing
    candidates.push_back(&(*std::end(kinds)[-1])());
  Status status;
  std::string note;
  for (const DeviceKind *kind : candidates) {
    placed = {};
    int32_t number = 0;
    status = kind->choose(kind != candidates.back(), number);
    if (!status.failed())
      status = placeOn(*kind, number, file, facts, progress, placed);
    if (!status.failed() && kind != candidates.back())
      status = tryLeast(*placed.model, facts);
    if (!status.failed() || !mayFallBack(status))
      break;
    if (note.empty())
      note = status.text();
  }
  placed.note = note;
  return status;
}

// Returns the number in the rest of "cuda:1" after the name of its kind; -1: it does not name a device.
static int32_t readNumber(const std::string &text) {
  if (text.empty())
    return 0;
  bool digits = text.size() > 1 && text.size() < 6 && text.find_first_not_of("0123456789", 1) == std::string::npos;
  return text[0] == ':' && digits ? std::stoi(text.substr(1)) : -1;
}

Status loadOnDevice(const std::string &deviceName, const Artifact &file, const ModelInfo &facts,
                    const UploadProgress &progress, ModelOnDevice &placed) {
  if (deviceName == "auto")
    return placeAnywhere(file, facts, progress, placed);
  std::string names = "auto";
  for (auto *kind : kinds) {
    const std::string name = kind().name;
    int32_t number = deviceName.compare(0, name.size(), name) == 0 ? readNumber(deviceName.substr(name.size())) : -1;
    if (number >= 0)
      return placeOn(kind(), number, file, facts, progress, placed);
    names += ", " + name + " or " + name + ":N";
  }
  return Status::failure(TALC_ERROR_DEVICE, "%s: the device '%s' is unknown, expected %s", file.name().c_str(),
                         deviceName.c_str(), names.c_str());
}

}  // namespace talc
