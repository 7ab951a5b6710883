// SPDX-License-Identifier: Apache-2.0
// Descriptions are not trusted: a missing key or an invalid number ends hgen with a line that says so.
#include "tools/hgen/Description.h"

#include <fstream>
#include <stdexcept>

using namespace Halide;

namespace hgen {

void expect(bool condition, const std::string &otherwise) {
  if (!condition)
    throw std::runtime_error(otherwise);
}

Description::Description(const std::string &path) {
  std::ifstream file(path);
  expect(file.good(), path + ": cannot be read");
  for (std::string key, value; file >> key && std::getline(file >> std::ws, value);)
    values[key] = value;
}

std::string Description::text(const std::string &key) const {
  auto it = values.find(key);
  expect(it != values.end(), "the description has no " + key);
  return it->second;
}

int Description::number(const std::string &key) const {
  const std::string value = text(key);
  bool valid = !value.empty() && value.size() < 9 && value.find_first_not_of("0123456789") == std::string::npos;
  int result = valid ? std::stoi(value) : 0;
  expect(result > 0 && result <= 1 << 24, key + " is " + value + "; expected a natural number");
  return result;
}

Type elementType(const std::string &name) {
  static const std::map<std::string, Type> types = {{"f32", Float(32)}, {"f16", Float(16)}, {"bf16", BFloat(16)}};
  auto it = types.find(name);
  expect(it != types.end(), "element " + name + " is unknown; expected f32, f16 or bf16");
  return it->second;
}

// Halide 14 has no name for it. Calls of LLVM's are made lane by lane, and LLVM makes vectors of them again.
Expr fused(const Expr &x, const Expr &y, const Expr &z) {
  return Internal::Call::make(Float(32), "llvm.fma.f32", {x, y, z}, Internal::Call::PureExtern);
}

}  // namespace hgen
