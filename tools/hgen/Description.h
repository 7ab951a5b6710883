// SPDX-License-Identifier: Apache-2.0
// The input of hgen: lines "key value", where a value goes to the end of its line.
#pragma once

#include <Halide.h>

#include <map>
#include <string>
#include <vector>

namespace hgen {

// Ends hgen with this line unless the condition holds.
void expect(bool condition, const std::string &otherwise);

class Description {
public:
  explicit Description(const std::string &path);

  std::string text(const std::string &key) const;
  // A natural number of at most 2^24.
  int number(const std::string &key) const;

private:
  std::map<std::string, std::string> values;
};

Halide::Type elementType(const std::string &name);

// x * y + z, rounded once.
Halide::Expr fused(const Halide::Expr &x, const Halide::Expr &y, const Halide::Expr &z);

// A scheduled function that computes the results, and the buffers that it reads, in the order in which callers pass
// them.
struct Loops {
  Halide::Func results;
  std::vector<Halide::Argument> arguments;
};

// The kinds of loops that a description can ask for.
Loops makeMatmul(const Description &description);
Loops makeRow(const Description &description);
Loops makeScores(const Description &description);
Loops makeValues(const Description &description);

}  // namespace hgen
