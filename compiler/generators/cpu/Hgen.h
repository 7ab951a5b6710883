// SPDX-License-Identifier: Apache-2.0
// Runs hgen, the program that makes code with Halide.
#pragma once

#include "compiler/generators/GeneratedCode.h"

#include "llvm/Support/Error.h"

namespace talc {

struct HgenRequest {
  std::string symbol;                  // of the function
  std::string processor;               // as Halide names it: x86-64-linux-avx2-fma
  mlir::DictionaryAttr specification;  // of the loops: see tools/hgen/hgen.cpp
};

// A digest of the hgen that would run; empty: there is none.
std::string hgenBuild();

// Several may run at a time.
llvm::Expected<GeneratedCode> runHgen(const HgenRequest &request);

}  // namespace talc
