// SPDX-License-Identifier: Apache-2.0
// Opens libraries where the program has a dynamic linker.
#include "runtime/device/gpu/DriverLibrary.h"

#include <dlfcn.h>
#include <link.h>

// In a statically linked program they stay null unless something else asks for them.
#pragma weak dlopen
#pragma weak dlsym
#pragma weak dlerror

namespace talc {

// A statically linked program has no dynamic linker, and libraries that it loads would bring a second C library. Called
// for the program first.
static int findInterpreter(dl_phdr_info *program, size_t, void *hasInterpreter) {
  for (int i = 0; i < program->dlpi_phnum; ++i)
    *static_cast<bool *>(hasInterpreter) |= program->dlpi_phdr[i].p_type == PT_INTERP;
  return 1;
}

static bool canLoadLibraries() {
  bool hasInterpreter = false;
  dl_iterate_phdr(findInterpreter, &hasInterpreter);
  return hasInterpreter && dlopen && dlsym && dlerror;
}

Status openDriverLibrary(const char *name, const char *kind, const char *target, const char *advice, void *&library) {
  if (!canLoadLibraries())
    return Status::failure(TALC_ERROR_DEVICE,
                           "%s: this program is linked statically and cannot load a driver; compile the model with a "
                           "--target that has %s",
                           kind, target);
  library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
  return library ? Status() : Status::failure(TALC_ERROR_DEVICE, "%s: %s; %s", kind, dlerror(), advice);
}

void *findInLibrary(void *library, const char *function) {
  return dlsym(library, function);
}

}  // namespace talc
