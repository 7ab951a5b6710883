// SPDX-License-Identifier: Apache-2.0
// Streams rows of numbers to a safetensors file.
#pragma once

#include "runtime/program/AtomicFile.h"

#include <vector>

namespace talc::program {

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

}  // namespace talc::program
