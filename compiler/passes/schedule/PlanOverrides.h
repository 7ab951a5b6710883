// SPDX-License-Identifier: Apache-2.0
// Plan overrides as text, by people or from tuning records:
//
//   matmul_*: tile_rows = 4, block_rows = 96; attention_2: task_rows = 24; @5F0C...: tile_columns = 32
//
// An entry names a kernel, where * stands for anything, or gives its digest. If several entries match a kernel, each
// adds its parameters, and the last one that says a parameter decides. An entry by digest with unknown parameters is
// ignored.
#pragma once

#include "compiler/passes/schedule/PlanText.h"

#include "llvm/Support/GlobPattern.h"

#include <set>
#include <string>
#include <vector>

namespace talc {

class PlanOverrides {
public:
  // `isParameter`: whether any op of the target has a tuning parameter of this name.
  explicit PlanOverrides(bool (*isParameter)(llvm::StringRef name)) : isParameter(isParameter) {}

  // Returns what is wrong with the text, or nothing.
  std::string parse(llvm::StringRef text);

  // The overrides of a kernel by its digest, and by the name of its function; null: there are none.
  kernel::PlanAttr findByDigest(kernel::TasksOp tasks) const;
  kernel::PlanAttr findByName(kernel::TasksOp tasks) const;
  // The digests of all entries that have one.
  std::set<std::string> digests() const;

private:
  struct Entry {
    std::string digest;  // empty: `name` says which kernels match
    llvm::GlobPattern name;
    std::vector<std::pair<std::string, int64_t>> parameters;
  };

  std::string parseEntry(llvm::StringRef text);
  kernel::PlanAttr collect(mlir::MLIRContext *context, llvm::function_ref<bool(const Entry &)> matches) const;

  bool (*const isParameter)(llvm::StringRef name);
  std::vector<Entry> entries;
};

}  // namespace talc
