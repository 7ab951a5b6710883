// SPDX-License-Identifier: Apache-2.0
// Compiles the program around an op into an artifact that disappears again.
#pragma once

#include "tools/talc/bench/BenchOptions.h"
#include "tools/talc/bench/OpModel.h"

namespace talc::bench {

class CompiledOp {
public:
  CompiledOp() = default;
  CompiledOp(const CompiledOp &) = delete;
  CompiledOp &operator=(const CompiledOp &) = delete;
  ~CompiledOp();

  // Empty on success, else finished lines of text.
  std::string compile(const OpSpec &spec, const BenchOptions &options, const std::string &generator);
  const std::string &path() const { return file; }

private:
  std::string file;
};

}  // namespace talc::bench
