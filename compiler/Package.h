// SPDX-License-Identifier: Apache-2.0
// Stage package: what compile() writes in the end.
#pragma once

#include "compiler/ModuleCode.h"

namespace talc {

// `codes`: one for each target of the request, in their order; their modules agree on weights and states. On failure
// nothing is left at the request's output.
llvm::Error writeOutput(llvm::ArrayRef<ModuleCode> codes, const CompileRequest &request);

}  // namespace talc
