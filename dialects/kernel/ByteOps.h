// SPDX-License-Identifier: Apache-2.0
// C++ classes of ByteOps.td: vector operations that only the CPU passes use.
#pragma once

#include "dialects/kernel/KernelDialect.h"

#define GET_OP_CLASSES
#include "dialects/kernel/ByteOps.h.inc"
