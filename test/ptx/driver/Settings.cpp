// SPDX-License-Identifier: Apache-2.0
// Reads them once, when the library is first called.
#include "test/ptx/driver/Settings.h"

#include <cstdlib>
#include <sstream>

namespace talc::ptx {

static std::string variable(const char *name, const char *otherwise) {
  const char *value = getenv(name);
  return value ? value : otherwise;
}

DriverSettings readSettings() {
  DriverSettings settings;
  settings.devices = std::stoi(variable("FAKE_CUDA_DEVICES", "1"));
  settings.capability = std::stoi(variable("FAKE_CUDA_CAPABILITY", "80"));
  settings.processors = std::stoi(variable("FAKE_CUDA_PROCESSORS", "3"));
  settings.version = std::stoi(variable("FAKE_CUDA_VERSION", "12080"));
  settings.memory = std::stoull(variable("FAKE_CUDA_MEMORY", "17179869184"));
  settings.losesAt = std::stoull(variable("FAKE_CUDA_LOSE", "0"));
  settings.backwards = variable("FAKE_CUDA_ORDER", "") == "backwards";
  settings.textFile = variable("FAKE_CUDA_TEXT", "");
  settings.countsFile = variable("FAKE_CUDA_COUNTS", "");
  settings.callsFile = variable("FAKE_CUDA_CALLS", "");
  std::istringstream failure(variable("FAKE_CUDA_FAIL", ""));
  std::string at, code;
  std::getline(failure, settings.failingCall, ':');
  if (std::getline(failure, at, ':'))
    settings.failingAt = std::stoull(at);
  if (std::getline(failure, code))
    settings.failsWith = std::stoi(code);
  return settings;
}

}  // namespace talc::ptx
