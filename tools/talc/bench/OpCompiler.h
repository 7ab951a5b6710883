// SPDX-License-Identifier: Apache-2.0
// Compiles the program around an op into an artifact that disappears again.
#pragma once

#include "compiler/TemporaryDirectory.h"
#include "tools/talc/bench/BenchOptions.h"
#include "tools/talc/bench/OpModel.h"

namespace talc::bench {

class CompiledOp {
public:
  // Empty on success, else finished lines of text.
  std::string compile(const OpSpec &spec, const BenchOptions &options, const std::string &generator);
  const std::string &path() const { return file; }

private:
  std::unique_ptr<TemporaryDirectory> directory;
  std::string file;
};

}  // namespace talc::bench
