// SPDX-License-Identifier: Apache-2.0
// Stage package: writes code, weights and runtime to one file, or one of the texts and objects before that.
#include "compiler/ModuleCode.h"

#include "compiler/DiagnosticCollector.h"
#include "compiler/Error.h"
#include "compiler/artifact/ArtifactWriter.h"
#include "compiler/artifact/LauncherElf.h"
#include "compiler/artifact/OutputFile.h"
#include "dialects/Invariant.h"
#include "dialects/talc/ModelName.h"
#include "dialects/talc/ModuleKeys.h"
#include "dialects/talc/TalcDialect.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/TargetParser/Host.h"
#include "llvm/TargetParser/Triple.h"

#include <algorithm>

using namespace mlir;

namespace talc {

// A DriverProgram is linked dynamically, since it loads a driver.
enum class StubKind { Program, DriverProgram, Library, Object };

// The file name; without its ending it is the build target.
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
  endByDefect("all kinds are above");
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

// Looks where a build and an installation put the stub, relative to the directory of the talc command. `family`: the
// machines that it runs on, as artifacts name it, in a folder of that name; empty: talc's own machine.
static llvm::Expected<std::string> findLauncherStub(StubKind kind, llvm::StringRef family,
                                                    llvm::StringRef programDirectory) {
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

// The family of machines, if it is not this machine's own architecture. Empty for code that any machine loads. Families
// are named like LLVM's architectures.
static std::string foreignFamily(llvm::ArrayRef<targets::TargetPtr> targets) {
  std::string hostArch = llvm::Triple(llvm::sys::getProcessTriple()).getArchName().str();
  std::replace(hostArch.begin(), hostArch.end(), '_', '-');
  for (const targets::TargetPtr &target : targets)
    if (std::string family = target->hostFamily(); !family.empty())
      return family == hostArch ? "" : family;
  return "";
}

static StubKind selectStub(const CompileRequest &request) {
  if (request.emit != EmitKind::Program)
    return request.emit == EmitKind::Library ? StubKind::Library : StubKind::Object;
  bool driver = llvm::any_of(request.targets, [](const targets::TargetPtr &target) { return target->usesDriver(); });
  return driver ? StubKind::DriverProgram : StubKind::Program;
}

// Makes the arena large enough for all targets, in the plan of the first module.
static void shareArena(llvm::ArrayRef<ModuleCode> codes) {
  ModuleOp first = codes.front().module();
  auto plan = first->getAttrOfType<DictionaryAttr>(planAttr);
  if (!plan)
    return;
  NamedAttrList shared(plan);
  for (const ModuleCode &code : codes)
    for (const char *figure :
         {planKeys::arenaBytesPerToken, planKeys::arenaBytesFixed, planKeys::arenaBytesPerThread}) {
      auto size = code.module()->getAttrOfType<DictionaryAttr>(planAttr).getAs<IntegerAttr>(figure);
      auto maxSize = dyn_cast_or_null<IntegerAttr>(shared.get(figure));
      if (size && maxSize && size.getInt() > maxSize.getInt())
        shared.set(figure, size);
    }
  first->setAttr(planAttr, shared.getDictionary(first.getContext()));
}

static llvm::Error writeModel(llvm::ArrayRef<ModuleCode> codes, const CompileRequest &request) {
  bool program = request.emit == EmitKind::Program;
  auto stub = findLauncherStub(selectStub(request), foreignFamily(request.targets), request.programDirectory);
  if (!stub)
    return stub.takeError();
  std::string openName = program ? "" : openFunctionName(request.output);
  if (openName.size() > maxOpenNameLength())
    return makeError(ErrorCode::Output,
                     "{}: its function would be called {}, which is {} letters, expected at most {}; "
                     "write to a file with a shorter name",
                     request.output, openName, openName.size(), maxOpenNameLength());
  shareArena(codes);
  ModuleOp module = codes.front().module();
  ArtifactParts parts{module, {}, request.tokenizer, *stub, openName, request.emit != EmitKind::Object};
  for (const ModuleCode &code : codes) {
    auto linked = code.link();
    if (!linked)
      return linked.takeError();
    parts.code.push_back(std::move(*linked));
  }
  request.listener.beginPart("weights");
  parts.onProgress = request.listener.share;
  if (program)
    return writeArtifact(parts, request.output);
  auto header = writeLibraryHeader(module, request.output);
  if (!header)
    return header.takeError();
  if (llvm::Error error = writeArtifact(parts, request.output))
    return error;
  return (*header)->commit();
}

static llvm::Error write(llvm::ArrayRef<ModuleCode> codes, const CompileRequest &request) {
  const ModuleCode &code = codes.front();
  switch (request.emit) {
  case EmitKind::Ir:
    return printModule(code.module(), request.output);
  case EmitKind::Listing: {
    auto text = code.listing(request.listing);
    return text ? writeText(*text, request.output) : text.takeError();
  }
  case EmitKind::Code: {
    auto object = code.linkRelocatable();
    return object ? writeBytes(*object, request.output) : object.takeError();
  }
  case EmitKind::Program:
  case EmitKind::Library:
  case EmitKind::Object:
    return writeModel(codes, request);
  }
}

llvm::Error writeOutput(llvm::ArrayRef<ModuleCode> codes, const CompileRequest &request) {
  ModuleOp module = codes.front().module();
  DiagnosticCollector lines(*module.getContext());
  request.listener.beginStage("package");
  llvm::Error error = write(codes, request);
  request.listener.beginStage("");
  return error && !lines.empty() ? llvm::joinErrors(lines.takeError(modelName(module)), std::move(error))
                                 : std::move(error);
}

}  // namespace talc
