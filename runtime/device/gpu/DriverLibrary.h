// SPDX-License-Identifier: Apache-2.0
// A driver's shared library, opened when somebody asks for a GPU.
#pragma once

#include "runtime/Status.h"

namespace talc {

// Fails with DEVICE, also in a program that is linked statically, and says what to do. `kind`: of devices; `target`:
// whose code makes the compiler choose a program that can load a driver. Libraries are never closed: drivers do not
// like that.
Status openDriverLibrary(const char *name, const char *kind, const char *target, const char *advice, void *&library);

// Returns null if the library has no such function.
void *findInLibrary(void *library, const char *function);

}  // namespace talc
