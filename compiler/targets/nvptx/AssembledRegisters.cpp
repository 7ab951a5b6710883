// SPDX-License-Identifier: Apache-2.0
// Nothing needs ptxas; where it is, it knows better than a count of live ranges.
#include "compiler/targets/nvptx/AssembledRegisters.h"

#include "llvm/ADT/ScopeExit.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/raw_ostream.h"

using llvm::StringRef;

namespace talc::nvptx {

// "ptxas info    : Used 242 registers, used 1 barriers, ..."
static std::optional<int64_t> registersIn(StringRef report) {
  int64_t registers = 0;
  if (report.split("Used ").second.consumeInteger(10, registers))
    return std::nullopt;
  return registers;
}

std::optional<int64_t> assembledRegisters(StringRef ptx, const std::string &chip) {
  auto program = llvm::sys::findProgramByName("ptxas");
  llvm::SmallString<128> text, report;
  if (!program || llvm::sys::fs::createTemporaryFile("talc", "ptx", text))
    return std::nullopt;
  llvm::scope_exit removeText([&] { llvm::sys::fs::remove(text); });
  if (llvm::sys::fs::createTemporaryFile("talc", "txt", report))
    return std::nullopt;
  llvm::scope_exit removeReport([&] { llvm::sys::fs::remove(report); });
  std::error_code error;
  llvm::raw_fd_ostream stream(text, error);
  stream << ptx;
  stream.close();
  if (error || stream.has_error())
    return std::nullopt;
  std::string card = "--gpu-name=" + chip;
  std::optional<StringRef> files[] = {StringRef(), StringRef(report), StringRef(report)};
  if (llvm::sys::ExecuteAndWait(*program, {*program, "-v", card, "-o", "/dev/null", text}, std::nullopt, files) != 0)
    return std::nullopt;
  auto found = llvm::MemoryBuffer::getFile(report);
  return found ? registersIn((*found)->getBuffer()) : std::nullopt;
}

}  // namespace talc::nvptx
