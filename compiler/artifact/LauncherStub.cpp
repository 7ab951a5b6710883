// SPDX-License-Identifier: Apache-2.0
// Knows what carriers are called and where they lie.
#include "compiler/artifact/LauncherStub.h"

#include "compiler/Error.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

namespace talc {

// The build's target, which is the file's name without its ending.
static llvm::StringRef fileName(StubKind kind) {
  switch (kind) {
  case StubKind::Program:
    return "talc-launcher";
  case StubKind::DriverProgram:
    return "talc-launcher-dynamic";
  case StubKind::Library:
    return "talc-library.so";
  case StubKind::Object:
    return "talc-object.o";
  }
  llvm_unreachable("all kinds are above");
}

static llvm::Error missing(llvm::StringRef name, llvm::StringRef family, llvm::StringRef programDirectory) {
  if (family.empty())
    return makeError(ErrorCode::LauncherStub,
                     "{}/../lib/talc/{}: is missing; install talc again, or build the target {}",
                     programDirectory.str(), name.str(), llvm::sys::path::stem(name).str());
  return makeError(ErrorCode::LauncherStub,
                   "{}/../lib/talc/{}/{}: is missing: talc was built without the runtime for {} machines; ./dev build "
                   "--with-{} builds it",
                   programDirectory.str(), family.str(), name.str(), family.str(), family.str());
}

llvm::Expected<std::string> findLauncherStub(StubKind kind, llvm::StringRef family, llvm::StringRef programDirectory) {
  llvm::StringRef name = fileName(kind);
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
