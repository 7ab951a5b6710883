// SPDX-License-Identifier: Apache-2.0
// Collects the errors and warnings of a frontend; the caller decides where they are printed.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace talc {

// Stable: a number never changes its meaning. Documented with examples in docs/errors.md.
enum class ImportError {
  ConfigFile = 101,         // config.json cannot be read or is not valid JSON
  ModelType = 102,          // model_type is missing or unknown
  ConfigType = 103,         // the value of a key has the wrong type
  ConfigValue = 104,        // the value of a key is out of range or contradicts another
  ConfigUnsupported = 105,  // talc cannot compute what a key asks for
  GenerationConfig = 106,   // generation_config.json holds a wrong value
  ModelDirectory = 201,     // a file of the model is missing, cannot be read, or is not a regular file
  TensorFile = 202,         // a file of tensors (safetensors, GGUF) is damaged
  TensorShape = 203,        // a tensor has another shape than the configuration says
  TensorMissing = 204,      // a tensor that the model needs is in none of its files
  TensorType = 205,         // a tensor that the model needs has an element type that talc does not read
  TensorIndex = 206,        // model.safetensors.index.json is wrong or names a forbidden file
  TensorValue = 207,        // a scale, zero point or group of a quantized weight is invalid
  TensorUnused = 208,       // the model uses a tensor nowhere
  ModelDefinition = 301,    // a model definition combines operations that do not fit
};

class Diagnostics {
public:
  // Adds the line "error[TNNNN]: " + text; the text begins with the name of a file.
  void error(ImportError code, std::string_view text);
  // Adds the line "warning: " + text, once for all layers.
  void warning(std::string_view text);
  // Reports tensors in `place` that the model does not use, if there are any: warns if that is allowed.
  void reportUnused(std::string_view place, const std::vector<std::string> &tensors, bool isAllowed);

  bool failed() const { return !errorLines.empty(); }
  const std::vector<std::string> &errors() const { return errorLines; }
  const std::vector<std::string> &warnings() const { return warningLines; }

private:
  std::vector<std::string> errorLines, warningLines;
};

// Untrusted text in quotes, cut to 120 bytes; other bytes than printable ASCII become \xNN.
std::string quotedText(std::string_view text);
// A line for a terminal: what would control it, or change the order of its letters, becomes \xNN.
std::string printableLine(std::string_view text);
// [2, 3]
std::string shapeText(const std::vector<int64_t> &shape);

}  // namespace talc
