// SPDX-License-Identifier: Apache-2.0
// Runs ptxas, which nothing else needs: it knows better than a count of live registers.
#include "compiler/targets/nvptx/PtxRegisters.h"

#include "compiler/TemporaryDirectory.h"

#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Program.h"

using llvm::StringRef;

namespace talc::nvptx {

// "ptxas info    : Used 242 registers, used 1 barriers, ..."
static std::optional<int64_t> registersIn(StringRef report) {
  int64_t registers = 0;
  if (report.split("Used ").second.consumeInteger(10, registers))
    return std::nullopt;
  return registers;
}

std::optional<int64_t> ptxasRegisters(StringRef ptx, const std::string &chip) {
  auto program = llvm::sys::findProgramByName("ptxas");
  if (!program)
    return std::nullopt;
  auto directory = TemporaryDirectory::make();
  if (!directory) {
    llvm::consumeError(directory.takeError());
    return std::nullopt;
  }
  std::string ptxFile = (*directory)->file("ptx"), report = (*directory)->file("report");
  if (llvm::Error error = writeTemporary(ptxFile, ptx)) {
    llvm::consumeError(std::move(error));
    return std::nullopt;
  }
  std::string gpuOption = "--gpu-name=" + chip;
  std::optional<StringRef> files[] = {StringRef(), StringRef(report), StringRef(report)};
  if (llvm::sys::ExecuteAndWait(*program, {*program, "-v", gpuOption, "-o", "/dev/null", ptxFile}, std::nullopt,
                                files) != 0)
    return std::nullopt;
  auto output = llvm::MemoryBuffer::getFile(report);
  return output ? registersIn((*output)->getBuffer()) : std::nullopt;
}

}  // namespace talc::nvptx
