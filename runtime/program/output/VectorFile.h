// SPDX-License-Identifier: Apache-2.0
// Writes vectors of equal width as one tensor [vectors][width] of float32: a .npy or a .safetensors file.
#pragma once

#include "runtime/program/output/AtomicFile.h"

#include <string_view>
#include <vector>

namespace talc::program {

// Whether the file's name ends in .npy or .safetensors.
bool isVectorFileName(std::string_view path);

class VectorFile {
public:
  Status open(const std::string &path);
  bool isOpen() const { return !path.empty(); }

  // Keeps the vector of a text until the end; texts may come in any order.
  void set(size_t index, std::vector<float> vector);
  // Writes all: of `count` texts, those without a vector have NaN.
  Status finish(size_t count);

private:
  std::string path;
  AtomicFile file;
  std::vector<std::vector<float>> vectors;
};

}  // namespace talc::program
