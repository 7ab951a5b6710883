// SPDX-License-Identifier: Apache-2.0
// Knows where talc-launcher and libtalc_runtime.so lie.
#include "compiler/artifact/Carrier.h"

#include "compiler/Error.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

namespace talc {

static llvm::Error missing(llvm::StringRef name, llvm::StringRef family, llvm::StringRef programDirectory) {
  if (family.empty())
    return makeError(ErrorCode::Carrier, "{}/../lib/talc/{}: is missing; install talc again, or build the target {}",
                     programDirectory.str(), name.str(), name == "talc-launcher" ? "talc-launcher" : "talc-library");
  return makeError(ErrorCode::Carrier,
                   "{}/../lib/talc/{}/{}: is missing: talc was built without the runtime for {} machines; ./dev build "
                   "--with-{} builds it",
                   programDirectory.str(), family.str(), name.str(), family.str(), family.str());
}

llvm::Expected<std::string> findCarrier(CarrierKind kind, llvm::StringRef family, llvm::StringRef programDirectory) {
  llvm::StringRef name = kind == CarrierKind::Program ? "talc-launcher" : "libtalc_runtime.so";
  // Beside the command (a build's programs), in its runtime folder (a build's library), in an installation.
  for (const char *place : {".", "../runtime", "../lib/talc"}) {
    llvm::SmallString<128> path(programDirectory);
    llvm::sys::path::append(path, place, family, name);
    if (llvm::sys::fs::is_regular_file(path))
      return path.str().str();
  }
  return missing(name, family, programDirectory);
}

}  // namespace talc
