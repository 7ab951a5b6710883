// SPDX-License-Identifier: Apache-2.0
// NPY: magic, version, length of the header, header (a Python dictionary), values.
// https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html
#include "runtime/program/output/VectorFile.h"

#include "runtime/program/output/Output.h"

#include <algorithm>
#include <cmath>

namespace talc::program {

static bool endsIn(std::string_view path, std::string_view end) {
  return path.size() > end.size() && path.substr(path.size() - end.size()) == end;
}

bool isVectorFileName(std::string_view path) {
  return endsIn(path, ".npy") || endsIn(path, ".safetensors");
}

Status VectorFile::open(const std::string &target) {
  path = target;
  return file.create(path);
}

void VectorFile::set(size_t index, std::vector<float> vector) {
  if (vectors.size() <= index)
    vectors.resize(index + 1);
  vectors[index] = std::move(vector);
}

static std::string npyHeader(size_t rows, size_t width) {
  constexpr size_t alignment = 64;
  std::string magic = "\x93NUMPY";
  magic += '\1';  // version 1.0
  magic += '\0';
  std::string header = "{'descr': '<f4', 'fortran_order': False, 'shape': (" + std::to_string(rows) + ", " +
                       std::to_string(width) + "), }";
  size_t before = magic.size() + 2;
  header.resize((before + header.size() + alignment) / alignment * alignment - before - 1, ' ');
  header += '\n';
  magic += static_cast<char>(header.size() % 256);
  magic += static_cast<char>(header.size() / 256);
  return magic + header;
}

Status VectorFile::finish(size_t count) {
  vectors.resize(std::max(count, vectors.size()));
  size_t width = 0;
  for (const std::vector<float> &vector : vectors)
    width = std::max(width, vector.size());
  std::string header = endsIn(path, ".npy") ? npyHeader(vectors.size(), width)
                                            : safetensorsHeader("embeddings", {vectors.size()}, width);
  Status status = file.write(header.data(), header.size());
  for (std::vector<float> &vector : vectors) {
    vector.resize(width, std::nanf(""));
    if (status.failed())
      return status;
    status = file.write(vector.data(), width * sizeof(float));
  }
  return status.failed() ? status : file.finish();
}

}  // namespace talc::program
