// SPDX-License-Identifier: Apache-2.0
// The kernels of a compiled model, as its manifest lists them, and what a step costs. No code has to run for it.
#pragma once

#include "runtime/Status.h"
#include "runtime/artifact/Entries.h"

#include <nlohmann/json_fwd.hpp>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace talc::bench {

// The tokens that a step evaluates, and the tokens before them.
struct StepShape {
  int64_t sequences = 1, tokens = 1, past = 0;  // tokens and past are those of each sequence
  bool hasOutputs = true;                       // for the last token of each sequence
  bool isEncode = false;                        // an encoder reads whole sequences
  int64_t source = 0;                           // tokens of the source that each sequence answers to
  bool decode() const { return sequences * tokens == 1 && hasOutputs; }
  // The entry that evaluates such a step.
  const char *entry() const {
    namespace names = artifact::entryNames;
    return isEncode ? names::encode : decode() ? names::decode : names::prefill;
  }
};

struct StepCosts {
  double operations = 0;
  double storedBytes = 0;  // of weights and KV caches
  double passedBytes = 0;  // of activations
  double bytes() const { return storedBytes + passedBytes; }
};

// An entry of mark-kernels (compiler/passes/Passes.td).
struct KernelEntry {
  std::string name, op, phase, rows, shapes, fused, stored, share, rounded, mask, keys;
  int64_t calls = 0, spills = 0, window = 0;
  int64_t operationsPerRow = 0, operationsPerPair = 0;
  int64_t storedBytesPerCall = 0, storedBytesPerRow = 0, storedBytesPerKey = 0, passedBytesPerRow = 0;

  bool runsIn(const StepShape &step) const { return phase == step.entry(); }
  StepCosts callCosts(const StepShape &step) const;
  // The storage format of a matmul's weights, which ends its shapes; empty for other ops.
  std::string weights() const;
};

// Parses an entry of talc.kernels or of a manifest; a field that is missing or of another type counts as empty.
KernelEntry parseKernelEntry(const nlohmann::json &json);

struct KernelList {
  std::string model, target, weightType;  // target: empty for a kind of GPU
  artifact::ModelInfo facts = {};
  std::string foreign;                     // the CPU family of the code, if it differs from this machine's
  uint64_t fingerprint = 0;                // of the artifact
  std::string origin;                      // the name of the model that talc compile was given; empty: not known
  std::vector<std::string> originOptions;  // its model options
  int64_t parameters = 0;
  bool encoder = false;                                             // encode is the only entry
  std::vector<KernelEntry> kernels;                                 // in the order of their numbers in the code
  std::map<std::string, std::vector<KernelEntry>> kernelsByTarget;  // of targets that divide the work differently

  // Switches to the list of a target.
  void choose(const std::string &name);

  // Returns the platform of the code, in words.
  const std::string &machine() const { return target.empty() ? foreign : target; }

  // Returns the costs of all kernels.
  StepCosts costs(const StepShape &step) const;
};

// Reads facts and manifest of an artifact; fails if the manifest is missing or lists no kernels.
Status readKernels(const std::string &path, KernelList &list);

}  // namespace talc::bench
