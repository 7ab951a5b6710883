// SPDX-License-Identifier: Apache-2.0
// Makes a table of launches (runtime/device/gpu/LaunchTable.h) and one code of a program's objects.
#pragma once

#include "compiler/targets/Target.h"

namespace talc::gpu {

// Makes one of the codes of all kernels.
using JoinCodes = llvm::function_ref<std::string(llvm::ArrayRef<std::string> codes)>;

llvm::Expected<targets::LinkedCode> linkLaunches(llvm::ArrayRef<targets::ObjectCode> objects, JoinCodes join);

// The codes of all kernels, in their order.
llvm::Expected<std::vector<std::string>> kernelCodes(llvm::ArrayRef<targets::ObjectCode> objects);

}  // namespace talc::gpu
