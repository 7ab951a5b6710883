// SPDX-License-Identifier: Apache-2.0
// Knows where talc-launcher and libtalc_runtime.so lie.
#include "compiler/artifact/Carrier.h"

#include "compiler/Error.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

namespace talc {

llvm::Expected<std::string> findCarrier(CarrierKind kind, llvm::StringRef programDirectory) {
  const char *name = kind == CarrierKind::Program ? "talc-launcher" : "libtalc_runtime.so";
  // Beside the command (a build's programs), in its runtime folder (a build's library), in an installation.
  for (const char *folder : {".", "../runtime", "../lib/talc"}) {
    llvm::SmallString<128> path(programDirectory);
    llvm::sys::path::append(path, folder, name);
    if (llvm::sys::fs::is_regular_file(path))
      return path.str().str();
  }
  return makeError(ErrorCode::Carrier, "{}/../lib/talc/{}: is missing; install talc again, or build the target {}",
                   programDirectory.str(), name, kind == CarrierKind::Program ? "talc-launcher" : "talc-library");
}

}  // namespace talc
