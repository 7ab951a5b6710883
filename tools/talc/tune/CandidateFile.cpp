// SPDX-License-Identifier: Apache-2.0
// The runtime takes the first code that the machine runs. So that it takes another, a private view of the file is
// changed: pages of weights stay those of the file, which all views share.
#include "tools/talc/tune/CandidateFile.h"

#include "compiler/Compiler.h"
#include "compiler/Error.h"
#include "runtime/artifact/ArtifactFormat.h"
#include "tools/talc/Calibrate.h"
#include "tools/talc/ModelOptions.h"

#include "mlir/IR/MLIRContext.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Signals.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

namespace talc::tools {

CandidateFile::~CandidateFile() {
  if (file.empty())
    return;
  llvm::sys::fs::remove(file);
  llvm::sys::DontRemoveFileOnSignal(file);
}

static llvm::Error compileAll(const CompileOptions &options, const std::vector<std::string> &plans,
                              const std::string &path) {
  auto target = targets::parseTarget(options.target);
  if (!target)
    return target.takeError();
  mlir::DialectRegistry registry;
  registerDialects(registry);
  mlir::MLIRContext context(registry);
  // A candidate that does not fit a kernel is no news.
  mlir::ScopedDiagnosticHandler quiet(&context, [](mlir::Diagnostic &said) {
    return llvm::success(said.getSeverity() == mlir::DiagnosticSeverity::Warning);
  });
  llvm::Expected<ModelInput> input = loadCalibrated(options, context);
  if (!input)
    return input.takeError();
  CompileRequest request;
  request.targets.assign(plans.size() + 1, *target);
  request.plans = {""};
  request.plans.insert(request.plans.end(), plans.begin(), plans.end());
  request.weights = options.weights;
  request.generator = options.generator;
  request.compute = computeNamed(options.compute);
  request.source = options.model;
  request.output = path;
  request.programDirectory = options.programDirectory;
  request.cacheDirectory = usualCacheDirectory(options.cache);
  return talc::compile(*input->module, request);
}

std::string CandidateFile::compile(const CompileOptions &options, const std::vector<std::string> &plans) {
  llvm::SmallString<128> made;
  if (std::error_code error = llvm::sys::fs::createTemporaryFile("talc-tune", "", made))
    return errorText(ErrorCode::Output, "{}: cannot be made: {}; TMPDIR names another place", made.str().str(),
                     error.message());
  file = made.str().str();
  llvm::sys::RemoveFileOnSignal(file);
  llvm::Error error = compileAll(options, plans, file);
  return error ? llvm::toString(std::move(error)) : "";
}

// Of the artifact that begins at `bytes`: hides the code of the first candidates.
static void hideCode(unsigned char *bytes, uint64_t size, size_t candidates) {
  using namespace artifact;
  Header header;
  memcpy(&header, bytes, sizeof(header));
  uint64_t tableBytes = header.sectionCount * sizeof(Section);
  unsigned char *table = bytes + size - tableBytes - sizeof(uint64_t);
  for (uint32_t i = 0; i < header.sectionCount && candidates > 0; ++i) {
    Section section;
    memcpy(&section, table + i * sizeof(section), sizeof(section));
    if (section.kind != static_cast<uint32_t>(SectionKind::Code))
      continue;
    unsigned char *code = bytes + section.offset;
    strcpy(reinterpret_cast<char *>(code) + offsetof(CodeHeader, family), "none");
    section.hash = hashBytes(code, section.size);
    memcpy(table + i * sizeof(section), &section, sizeof(section));
    --candidates;
  }
  uint64_t hash = hashBytes(table, tableBytes);
  memcpy(table + tableBytes, &hash, sizeof(hash));
}

Status CandidateFile::open(const std::string &path, size_t candidate, Mapping &view, bench::ModelRun &run) {
  int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor >= 0) {
    off_t size = lseek(descriptor, 0, SEEK_END);
    view = Mapping::file(descriptor, 0, static_cast<uint64_t>(size));
    close(descriptor);
  }
  if (view.empty() || mprotect(view.data(), view.size(), PROT_READ | PROT_WRITE) != 0)
    return Status::failure(TALC_ERROR_FILE, "%s: cannot be mapped: %s", path.c_str(), strerror(errno));
  ArtifactBytes found;
  if (Status status = found.useMemory(view.data(), view.size()); status.failed())
    return status;
  hideCode(view.data() + (found.data() - view.data()), found.size(), candidate);
  return run.open(view.data(), view.size());
}

}  // namespace talc::tools
