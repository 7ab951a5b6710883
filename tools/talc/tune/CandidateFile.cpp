// SPDX-License-Identifier: Apache-2.0
// The runtime takes the first code that the machine runs. So that it takes another, a private view of the file is
// changed before the next one is opened: each reads heads of code when it is opened, and only then.
#include "tools/talc/tune/CandidateFile.h"

#include "compiler/Compiler.h"
#include "compiler/Error.h"
#include "runtime/artifact/ArtifactFormat.h"
#include "tools/talc/ModelInput.h"
#include "tools/talc/ModelOptions.h"

#include "mlir/IR/MLIRContext.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

namespace talc::tools {

static llvm::Error compileAll(const CompileOptions &options, const std::vector<std::string> &plans,
                              const std::string &path) {
  auto target = targets::parseTarget(options.target);
  if (!target)
    return target.takeError();
  mlir::DialectRegistry registry;
  registerDialects(registry);
  mlir::MLIRContext context(registry);
  // A candidate that does not fit a kernel is expected.
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
  request.compute = parseCompute(options.compute);
  request.source = options.model;
  request.output = path;
  request.programDirectory = options.programDirectory;
  request.cacheDirectory = defaultCacheDirectory(options.cache);
  return talc::compile(*input->module, request);
}

std::string CandidateFile::compile(const CompileOptions &options, const std::vector<std::string> &plans) {
  auto temporary = TemporaryDirectory::make();
  if (!temporary)
    return llvm::toString(temporary.takeError());
  directory = std::move(*temporary);
  file = directory->file("candidates");
  llvm::Error error = compileAll(options, plans, file);
  return error ? llvm::toString(std::move(error)) : "";
}

Status CandidateFile::map() {
  int descriptor = ::open(file.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor >= 0) {
    off_t size = lseek(descriptor, 0, SEEK_END);
    view = Mapping::file(descriptor, 0, static_cast<uint64_t>(size));
    close(descriptor);
  }
  if (view.empty())
    return Status::failure(TALC_ERROR_FILE, "%s: cannot be mapped: %s", file.c_str(), strerror(errno));
  madvise(view.data(), view.size(), MADV_HUGEPAGE);  // as the runtime maps files
  return {};
}

// Replaces bytes of the view; all other pages stay those of the file, as they are in a program.
static bool replace(unsigned char *place, const void *bytes, size_t size) {
  uint64_t page = systemPageSize();
  auto address = reinterpret_cast<uintptr_t>(place), first = address & -page;
  if (mprotect(reinterpret_cast<void *>(first), address + size - first, PROT_READ | PROT_WRITE) != 0)
    return false;
  memcpy(place, bytes, size);
  return true;
}

// Its code is for machines that do not exist from now on.
Status CandidateFile::hideCode(size_t candidate) {
  using namespace artifact;
  ArtifactBytes artifactBytes;
  if (Status status = artifactBytes.useMemory(view.data(), view.size()); status.failed())
    return status;
  unsigned char *bytes = view.data() + (artifactBytes.data() - view.data());
  Header header;
  memcpy(&header, bytes, sizeof(header));
  uint64_t tableBytes = header.sectionCount * sizeof(Section);
  unsigned char *place = bytes + artifactBytes.size() - tableBytes - sizeof(uint64_t);
  std::vector<Section> table(header.sectionCount);
  memcpy(table.data(), place, tableBytes);
  for (Section &section : table) {
    if (section.kind != static_cast<uint32_t>(SectionKind::Code) || candidate-- > 0)
      continue;
    unsigned char *code = bytes + section.offset;
    static constexpr char none[] = "none";
    bool replaced = replace(code + offsetof(CodeHeader, family), none, sizeof(none));
    section.hash = hashBytes(code, section.size);
    uint64_t hash = hashBytes(reinterpret_cast<const unsigned char *>(table.data()), tableBytes);
    if (replaced && replace(place, table.data(), tableBytes) && replace(place + tableBytes, &hash, sizeof(hash)))
      return {};
    return Status::failure(TALC_ERROR_MEMORY, "%s: cannot be changed in memory: %s", file.c_str(), strerror(errno));
  }
  return {};
}

Status CandidateFile::open(const std::vector<size_t> &candidates, const std::string &device,
                           std::vector<bench::ModelRun> &runs) {
  if (Status status = map(); status.failed())
    return status;
  size_t hidden = 0;
  for (size_t i = 0; i < candidates.size(); ++i) {
    for (; hidden < candidates[i]; ++hidden)
      if (Status status = hideCode(hidden); status.failed())
        return status;
    if (Status status = runs[i].open(view.data(), view.size(), device); status.failed())
      return status;
  }
  return {};
}

}  // namespace talc::tools
