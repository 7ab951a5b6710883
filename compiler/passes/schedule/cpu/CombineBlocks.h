// SPDX-License-Identifier: Apache-2.0
// The loops of kernel.combine.
#pragma once

#include "compiler/passes/schedule/Emitter.h"

namespace talc {

// `e` stands in front of the tasks.
void expandCombine(Emitter &e, kernel::TasksOp tasks, kernel::CombineOp op);

}  // namespace talc
