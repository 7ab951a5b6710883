// SPDX-License-Identifier: Apache-2.0
// The parsed command line of `talc compile`.
#pragma once

#include "dialects/talc/formats/FormatChoice.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace talc::tools {

struct CompileOptions {
  std::string model;   // a directory or an .mlir file
  std::string output;  // empty: standard output, for text
  std::string target = "native";
  FormatChoice weights;
  // Storage formats of keys and values, of both or of one of them; empty: what the program says, or f32.
  std::string state, keyFormat, valueFormat;
  std::string generator = "auto";
  std::string compute = "integers";
  std::string plans;  // of single kernels
  std::string tuned;  // a record of talc tune, or off; empty: the one beside the model
  std::optional<uint64_t> randomWeights;
  std::optional<int64_t> maxSequence;
  std::optional<int64_t> sinks;
  std::string unused = "refuse";  // or allow: tensors and keys of the model that nothing reads
  std::string tokenizer;          // a tokenizer.json or a model directory; empty: the model's own
  std::string emit = "exe";
  std::string cache;                 // a directory, or off; empty: TALC_CACHE, or the user's own
  std::string stopAfter, startFrom;  // stages; empty: all
  std::string dump;                  // a directory; empty: none
  std::string inspect;               // an HTML file; empty: none
  std::string calibrate;             // a text that features' importance is found with; empty: all are alike
  std::string measure;               // a text whose perplexity becomes part of the product; empty: none
  bool trains = false;               // a step of training instead of inference
  bool time = false;
  std::string remarks;                    // a regular expression of categories; empty: none
  std::vector<std::string> mlirFlags;     // for MLIR's own parser
  std::vector<std::string> modelOptions;  // as they were given (ModelOptions.h)
  std::string programDirectory;
};

// Whether the output is a listing, which people read.
bool emitsText(const CompileOptions &options);

// Runs `talc compile`; returns an exit status.
int compile(const CompileOptions &options);

}  // namespace talc::tools
