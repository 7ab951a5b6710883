// SPDX-License-Identifier: Apache-2.0
// Code that another generator than a target's own passes and LLVM makes: what passes and targets leave in the program
// for each other.
//
//   assign-generators   func @matmul_0 ... {kernel.generator = {name = "halide", build = "91c0..."}}
//   matmul-to-halide    func private @matmul_0_halide(...) attributes {
//                           kernel.generator = {name = ..., specification = {...}}, kernel.generated_code = {...}}
//                       and calls of it
//   stage package       the code becomes a part of the object of the function that calls it
#pragma once

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Operation.h"

#include <optional>
#include <string>
#include <vector>

namespace talc {

// On kernels: the generator's name, and a digest of its build, since other builds make other code. With `optional` the
// target's own passes make the code where the generator fails.
constexpr llvm::StringLiteral generatorAttr = "kernel.generator";
constexpr llvm::StringLiteral nameKey = "name", buildKey = "build", optionalKey = "optional";
// On declarations of functions that a generator makes, it also has what they compute: numbers and strings.
constexpr llvm::StringLiteral specificationKey = "specification";
// On such declarations: the code.
constexpr llvm::StringLiteral generatedCodeAttr = "kernel.generated_code";

struct GeneratedCode {
  std::vector<uint8_t> object;  // relocatable, without undefined symbols
  // For readers: the generator's own notation of the loops, and what the processor runs.
  std::string loops, assembly;
  int64_t spills = 0;
};

// Notes the code on a declaration, in resources, which are printed behind the program.
void setGeneratedCode(mlir::Operation *function, llvm::StringRef name, const GeneratedCode &code);
// None: the function has no code, or none that can be read.
std::optional<GeneratedCode> generatedCode(mlir::Operation *function);

}  // namespace talc
