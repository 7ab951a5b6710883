// SPDX-License-Identifier: Apache-2.0
// The files of weights that frontends opened. What a frontend has read and checked is what is mapped later, whatever
// becomes of the paths in the meantime.
#pragma once

#include "dialects/talc/TalcDialect.h"

#include "llvm/ADT/StringMap.h"

namespace talc {

// They stay open as long as the context of their modules.
class WeightFiles : public mlir::DialectInterface::Base<WeightFiles> {
public:
  explicit WeightFiles(mlir::Dialect *dialect) : Base(dialect) {}
  ~WeightFiles() override;

  static WeightFiles &get(mlir::MLIRContext &context);

  // Keeps a copy of an open file descriptor. `path`: talc.directory, "/", and the path in #talc.file. A file that was
  // opened before under this path is closed. False: the system allows no more open files.
  bool keep(llvm::StringRef path, int descriptor);

  // -1: no frontend opened such a file.
  int find(llvm::StringRef path) const;

private:
  llvm::StringMap<int> descriptors;
};

}  // namespace talc
