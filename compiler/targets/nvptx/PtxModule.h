// SPDX-License-Identifier: Apache-2.0
// A PTX module: the header, global declarations, and functions.
#pragma once

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <string>
#include <vector>

namespace talc::nvptx {

struct PtxFunction {
  std::string name;
  std::string declaration;  // comments, linkage, parameters and directives
  std::string body;         // in braces

  std::string text() const { return declaration + body; }
  // The body as a block inside another function: instead of returning, it branches to a label there. Registers and
  // labels of a block are its own in PTX; labels get another prefix than those of LLVM's first function.
  std::string inlinedBody(llvm::StringRef returnLabel) const;
};

class PtxModule {
public:
  // Parses what LLVM writes, or text() of a module.
  static llvm::Expected<PtxModule> parse(llvm::StringRef text);
  // The parts of all modules, whose headers must be equal.
  static llvm::Expected<PtxModule> link(llvm::ArrayRef<PtxModule> modules);

  std::string text() const;

  std::string header;   // version, target and size of addresses
  std::string globals;  // declarations between the header and the first function
  std::vector<PtxFunction> functions;
};

}  // namespace talc::nvptx
