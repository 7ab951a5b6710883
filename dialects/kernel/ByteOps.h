// SPDX-License-Identifier: Apache-2.0
// Operations on vectors of bytes, which only schedule and codegen of processors know.
#pragma once

#include "dialects/kernel/KernelDialect.h"

#define GET_OP_CLASSES
#include "dialects/kernel/ByteOps.h.inc"
