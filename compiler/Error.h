// SPDX-License-Identifier: Apache-2.0
// Errors of the compiler without a location in the IR: one line with a stable code.
#pragma once

#include "llvm/Support/Error.h"

#include <fmt/format.h>

namespace talc {

// Stable: a number never changes its meaning.
enum class ErrorCode {
  BadTarget = 501,     // --target is unknown or lacks AVX2 and FMA
  WeightFile = 502,    // a file of weights cannot be opened, or is too short
  WeightRecipe = 503,  // shapes of a recipe do not fit, or a weight depends on itself
  WeightRange = 504,   // a value is not a finite number, or too large for its weight's format
  Output = 505,        // the output cannot be written
  LauncherStub = 506,  // the prebuilt runtime is missing from the installation
  ModelInfo = 507,     // a property of the model does not fit in an artifact
  Program = 508,       // a program in MLIR is not valid, or a stage cannot compile it
  Generator = 509,     // another generator of code failed, or is missing
  Usage = 701,         // wrong command line
  Model = 702,         // the model's files are missing or of no known kind
  Start = 703,         // talc run cannot start the program
  Internal = 900,      // a defect of talc
};

template <typename... Args> std::string errorText(ErrorCode code, fmt::format_string<Args...> text, Args &&...args) {
  return fmt::format("error[T{:04}]: ", static_cast<int>(code)) + fmt::format(text, std::forward<Args>(args)...);
}

template <typename... Args> llvm::Error makeError(ErrorCode code, fmt::format_string<Args...> text, Args &&...args) {
  return llvm::createStringError(errorText(code, text, std::forward<Args>(args)...));
}

// A defect of talc, not of the user's model.
template <typename... Args> llvm::Error internalError(fmt::format_string<Args...> text, Args &&...args) {
  return makeError(ErrorCode::Internal, "talc: {}; this is a defect of talc, please report it",
                   fmt::format(text, std::forward<Args>(args)...));
}

}  // namespace talc
