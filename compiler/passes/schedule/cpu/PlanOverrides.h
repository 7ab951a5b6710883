// SPDX-License-Identifier: Apache-2.0
// Plans that people or records say, as text:
//
//   matmul_*: tile_rows = 4, block_rows = 96; attention_2: task_rows = 24; @5F0C...: tile_columns = 32
//
// A kernel is meant by its name, in which * stands for anything, or by its digest. Of several lines that mean it each
// adds its numbers; the last that says a number counts. A line by digest is left out if it has numbers that are
// unknown.
#pragma once

#include "compiler/passes/schedule/PlanText.h"

#include "llvm/Support/GlobPattern.h"

#include <set>
#include <string>
#include <vector>

namespace talc {

class PlanOverrides {
public:
  // Returns what is wrong with the text, or nothing.
  std::string parse(llvm::StringRef text);

  // What lines say of a piece by its digest, and by the name of its function; null: nothing.
  kernel::PlanAttr recorded(kernel::TasksOp tasks) const;
  kernel::PlanAttr named(kernel::TasksOp tasks) const;
  // Of the lines by digest.
  std::set<std::string> digests() const;

private:
  struct Line {
    std::string digest;  // empty: `name` says which kernels are meant
    llvm::GlobPattern name;
    std::vector<std::pair<std::string, int64_t>> numbers;
  };

  std::string parseLine(llvm::StringRef text);
  kernel::PlanAttr collect(mlir::MLIRContext *context, llvm::function_ref<bool(const Line &)> means) const;

  std::vector<Line> lines;
};

}  // namespace talc
