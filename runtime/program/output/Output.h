// SPDX-License-Identifier: Apache-2.0
// Writes results: text to standard output or a file, and rows of numbers to a safetensors file.
#pragma once

#include "runtime/program/output/AtomicFile.h"

#include <string_view>
#include <vector>

namespace talc::program {

// Notices when writing fails (full disk, closed pipe).
class Output {
public:
  // `path` empty or "-": standard output.
  Status open(const std::string &path);
  // Standard output is flushed on return: a reader sees text as it is made.
  Status write(std::string_view text);
  Status finish();

private:
  bool standard = true;
  AtomicFile file;
  std::string waiting;  // not yet in the file
};

// The bytes before the values of float32 tensors [rows[i]][width] called NAME, or NAME.0, NAME.1, ... if there are
// several.
std::string safetensorsHeader(const std::string &name, const std::vector<size_t> &rows, size_t width);

// Streams rows of numbers to a safetensors file.
class TensorFile {
public:
  // One float32 tensor [rows[i]][width] per text: NAME, or NAME.0, NAME.1, ... when there are several.
  Status create(const std::string &path, const std::string &name, const std::vector<size_t> &rows, size_t width);
  // Appends values in the order of tensors, rows, columns.
  Status append(const float *values, size_t count) { return file.write(values, count * sizeof(float)); }
  Status finish() { return file.finish(); }

private:
  AtomicFile file;
};

// Writes text to standard output.
Status printOut(std::string_view text);

std::string joinIds(const std::vector<int32_t> &ids);

}  // namespace talc::program
