// SPDX-License-Identifier: Apache-2.0
// Makes a table of launches (runtime/device/gpu/LaunchTable.h) and one text of a program's objects.
#pragma once

#include "compiler/targets/Target.h"

namespace talc::nvptx {

llvm::Expected<targets::LinkedCode> linkLaunches(llvm::ArrayRef<targets::ObjectCode> objects);

// The text of all kernels.
llvm::Expected<std::string> linkText(llvm::ArrayRef<targets::ObjectCode> objects);

}  // namespace talc::nvptx
