// SPDX-License-Identifier: Apache-2.0
// Nothing needs ptxas; where it is, it knows better than a count of live ranges.
#include "compiler/targets/nvptx/PtxasRegisters.h"

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
  std::string text = (*directory)->file("ptx"), report = (*directory)->file("report");
  if (llvm::Error error = writeTemporary(text, ptx)) {
    llvm::consumeError(std::move(error));
    return std::nullopt;
  }
  std::string card = "--gpu-name=" + chip;
  std::optional<StringRef> files[] = {StringRef(), StringRef(report), StringRef(report)};
  if (llvm::sys::ExecuteAndWait(*program, {*program, "-v", card, "-o", "/dev/null", text}, std::nullopt, files) != 0)
    return std::nullopt;
  auto found = llvm::MemoryBuffer::getFile(report);
  return found ? registersIn((*found)->getBuffer()) : std::nullopt;
}

}  // namespace talc::nvptx
