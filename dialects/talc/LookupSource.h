// SPDX-License-Identifier: Apache-2.0
// The C++ class of #talc.lookup, which is defined in LookupSource.td.
#pragma once

#include "dialects/talc/TalcDialect.h"

#define GET_ATTRDEF_CLASSES
#include "dialects/talc/LookupSource.h.inc"
