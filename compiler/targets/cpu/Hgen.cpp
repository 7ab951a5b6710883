// SPDX-License-Identifier: Apache-2.0
// Description and answer are files in a fresh temporary directory. hgen is another program, and nothing that it does is
// believed: it may be missing, crash, hang, or leave what is no object.
#include "compiler/targets/cpu/Hgen.h"

#include "compiler/Error.h"
#include "compiler/targets/cpu/TemporaryDirectory.h"

#include "llvm/Object/ELFObjectFile.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/Program.h"
#include "llvm/TargetParser/Triple.h"

using namespace mlir;

namespace talc::cpu {

static constexpr unsigned mostSeconds = 60;

// Beside the command in a build, in its own folder in an installation; TALC_HGEN names another.
static llvm::Expected<std::string> findHgen() {
  if (auto given = llvm::sys::Process::GetEnv("TALC_HGEN"))
    return *given;
  static int here;
  std::string command = llvm::sys::fs::getMainExecutable(nullptr, &here);
  llvm::StringRef folder = llvm::sys::path::parent_path(command);
  for (const char *place : {".", "../lib/talc"}) {
    llvm::SmallString<128> path(folder);
    llvm::sys::path::append(path, place, "hgen");
    if (llvm::sys::fs::can_execute(path))
      return path.str().str();
  }
  return makeError(
      ErrorCode::Generator,
      "{}/hgen: is missing: talc was built without Halide; install libhalide14-0-dev and build talc again, "
      "or leave out --generator=halide",
      folder.str());
}

// Halide's name of the processor.
static std::string halideTarget(const CpuFacts &cpu) {
  if (llvm::Triple(cpu.triple).isAArch64())
    return "arm-64-linux";
  return cpu.vectorLanes > 8 ? "x86-64-linux-sse41-avx-avx2-fma-f16c-avx512-avx512_skylake"
                             : "x86-64-linux-sse41-avx-avx2-fma-f16c";
}

static std::string describe(llvm::StringRef symbol, DictionaryAttr product, const CpuFacts &cpu) {
  std::string text = fmt::format("symbol {}\ntarget {}\n", symbol.str(), halideTarget(cpu));
  for (NamedAttribute entry : product) {
    text += entry.getName().str() + " ";
    if (auto number = dyn_cast<IntegerAttr>(entry.getValue()))
      text += std::to_string(number.getInt());
    else
      text += cast<StringAttr>(entry.getValue()).str();
    text += "\n";
  }
  return text;
}

// The first line that it printed.
static std::string firstLine(const std::string &path) {
  auto printed = llvm::MemoryBuffer::getFile(path);
  return printed ? (*printed)->getBuffer().take_front(500).split('\n').first.str() : "";
}

static llvm::Error run(const std::string &hgen, llvm::StringRef symbol, const TemporaryDirectory &directory) {
  std::string description = directory.file("description"), prefix = directory.file("made"),
              output = directory.file("output"), problem;
  std::optional<llvm::StringRef> streams[] = {"", output, output};
  int status = llvm::sys::ExecuteAndWait(hgen, {hgen, description, prefix}, std::nullopt, streams, mostSeconds,
                                         /*MemoryLimit=*/0, &problem);
  if (status == 0)
    return llvm::Error::success();
  if (problem.empty())
    problem = status < 0 ? "was ended by a signal" : fmt::format("ended with status {}", status);
  if (std::string line = firstLine(output); !line.empty())
    problem += ": " + line;
  return makeError(ErrorCode::Generator, "{}: for {}: {}; --generator=mlir does without it", hgen, symbol.str(),
                   problem);
}

// Defines the function, and refers to nothing else.
static bool isComplete(llvm::StringRef bytes, llvm::StringRef symbol, const CpuFacts &cpu) {
  auto file = llvm::object::ObjectFile::createObjectFile({bytes, "hgen"});
  if (!file) {
    llvm::consumeError(file.takeError());
    return false;
  }
  bool defines = false;
  for (const llvm::object::SymbolRef &one : (*file)->symbols()) {
    llvm::Expected<uint32_t> flags = one.getFlags();
    llvm::Expected<llvm::StringRef> name = one.getName();
    if (!flags || !name) {
      llvm::consumeError(llvm::joinErrors(flags.takeError(), name.takeError()));
      return false;
    }
    bool isUndefined = *flags & llvm::object::SymbolRef::SF_Undefined;
    if (isUndefined && !name->empty() && *name != "_GLOBAL_OFFSET_TABLE_")
      return false;
    defines |= !isUndefined && *name == symbol;
  }
  return defines && (*file)->isRelocatableObject() && (*file)->getArch() == llvm::Triple(cpu.triple).getArch();
}

llvm::Expected<targets::ObjectCode> makeByHalide(llvm::StringRef symbol, DictionaryAttr product, const CpuFacts &cpu) {
  auto hgen = findHgen();
  if (!hgen)
    return hgen.takeError();
  auto directory = TemporaryDirectory::make();
  if (!directory)
    return directory.takeError();
  if (llvm::Error error = writeTemporary((*directory)->file("description"), describe(symbol, product, cpu)))
    return std::move(error);
  if (llvm::Error error = run(*hgen, symbol, **directory))
    return std::move(error);
  auto made = llvm::MemoryBuffer::getFile((*directory)->file("made.o"), false, false);
  llvm::StringRef bytes = made ? (*made)->getBuffer() : "";
  if (!isComplete(bytes, symbol, cpu))
    return makeError(ErrorCode::Generator,
                     "{}: for {}: its answer is no object for {} machines that defines it and is complete; "
                     "--generator=mlir does without it",
                     *hgen, symbol.str(), cpu.needs.family);
  return targets::ObjectCode{{bytes.bytes_begin(), bytes.bytes_end()}, {}};
}

}  // namespace talc::cpu
