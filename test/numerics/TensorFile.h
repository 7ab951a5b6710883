// SPDX-License-Identifier: Apache-2.0
// Reads and writes safetensors files of the size that tests have.
#pragma once

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace talc::numerics {

struct FileTensor {
  std::string type;  // as in the file: F32, I64, ...
  std::vector<int64_t> shape;
  std::string bytes;  // row-major, little-endian

  static FileTensor floats(std::vector<int64_t> shape, const std::vector<double> &values);
  int64_t elements() const;
  // The value of type F32, F64, I32 or I64; else NaN.
  double at(int64_t element) const;
};

// By name.
using TensorFile = std::map<std::string, FileTensor>;

llvm::Expected<TensorFile> readTensors(llvm::StringRef path);
llvm::Error writeTensors(llvm::StringRef path, const TensorFile &tensors);

}  // namespace talc::numerics
