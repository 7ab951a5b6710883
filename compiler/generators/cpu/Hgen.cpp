// SPDX-License-Identifier: Apache-2.0
// Description and answer are files in a fresh temporary directory. hgen is another program, and nothing that it does is
// trusted: it may be missing, crash, hang, or write something else than an object.
#include "compiler/generators/cpu/Hgen.h"

#include "compiler/Error.h"
#include "compiler/TemporaryDirectory.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Object/ELFObjectFile.h"
#include "llvm/Support/BLAKE3.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/Program.h"

#include <chrono>
#include <csignal>
#include <thread>

using namespace mlir;

namespace talc {

static constexpr std::chrono::milliseconds longest(30'000), pause(2);  // it takes a second at most
static constexpr uint64_t mostBytes = 16 << 20;                        // of a file of its answer

// Beside the command in a build, in its own folder in an installation; TALC_HGEN names another.
static llvm::Expected<std::string> findHgen() {
  if (auto path = llvm::sys::Process::GetEnv("TALC_HGEN"))
    return *path;
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

// Empty: it is missing, no file, or too long for what it should be.
static std::string readFileContent(const std::string &path) {
  llvm::sys::fs::file_status status;
  if (llvm::sys::fs::status(path, status) || !llvm::sys::fs::is_regular_file(status) || status.getSize() > mostBytes)
    return "";
  auto file = llvm::MemoryBuffer::getFile(path, /*IsText=*/false, /*RequiresNullTerminator=*/false);
  return file ? (*file)->getBuffer().str() : "";
}

std::string hgenBuild() {
  auto hgen = findHgen();
  if (!hgen) {
    llvm::consumeError(hgen.takeError());
    return "";
  }
  std::string bytes = readFileContent(*hgen);
  auto digest = llvm::BLAKE3::hash<16>(llvm::arrayRefFromStringRef(bytes));
  return bytes.empty() ? "" : llvm::toHex(digest, /*LowerCase=*/true);
}

static std::string describe(const HgenRequest &request) {
  std::string text = fmt::format("symbol {}\ntarget {}\n", request.symbol, request.processor);
  for (NamedAttribute entry : request.specification) {
    text += entry.getName().str() + " ";
    if (auto number = dyn_cast<IntegerAttr>(entry.getValue()))
      text += std::to_string(number.getInt());
    else
      text += cast<StringAttr>(entry.getValue()).str();
    text += "\n";
  }
  return text;
}

// LLVM's own limit of time is an alarm of the process, which suits one that waits for one other. Pauses are counted,
// not the clock, which goes on where both stand still, or wait for a processor. Returns what went wrong.
static std::string await(llvm::sys::ProcessInfo process) {
  std::string problem;
  for (auto remaining = longest; remaining.count() > 0; remaining -= pause) {
    llvm::sys::ProcessInfo ended = llvm::sys::Wait(process, /*SecondsToWait=*/0, &problem);
    if (ended.Pid == process.Pid && ended.ReturnCode == 0)
      return "";
    if (ended.Pid != 0 || !problem.empty())
      return ended.ReturnCode > 0 ? fmt::format("ended with status {}", ended.ReturnCode)
                                  : "was ended by a signal" + (problem.empty() ? "" : ": " + problem);
    std::this_thread::sleep_for(pause);
  }
  kill(process.Pid, SIGKILL);
  llvm::sys::Wait(process, std::nullopt);
  return fmt::format("gave no answer in {} seconds", longest.count() / 1000);
}

// Returns what went wrong.
static std::string run(const std::string &hgen, const TemporaryDirectory &directory) {
  std::string description = directory.file("description"), prefix = directory.file("made"),
              output = directory.file("output"), problem;
  std::optional<llvm::StringRef> streams[] = {"", output, output};
  bool failed = false;
  llvm::sys::ProcessInfo process = llvm::sys::ExecuteNoWait(hgen, {hgen, description, prefix}, std::nullopt, streams,
                                                            /*MemoryLimit=*/0, &problem, &failed);
  if (failed || process.Pid <= 0)
    return "cannot be started: " + problem;
  problem = await(process);
  std::string printed = problem.empty() ? "" : readFileContent(output);
  std::string line = llvm::StringRef(printed).take_front(500).split('\n').first.str();
  return line.empty() ? problem : problem + ": " + line;
}

static llvm::Triple::ArchType getArchitecture(llvm::StringRef processor) {
  return processor.starts_with("arm-64") ? llvm::Triple::aarch64 : llvm::Triple::x86_64;
}

// Defines the function, and refers to nothing else.
static bool isComplete(llvm::StringRef bytes, const HgenRequest &request) {
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
    defines |= !isUndefined && *name == request.symbol;
  }
  return defines && (*file)->isRelocatableObject() && (*file)->getArch() == getArchitecture(request.processor);
}

// LLVM's comments in assembly tell them.
static int64_t spillsIn(llvm::StringRef assembly) {
  return static_cast<int64_t>(assembly.count("-byte Spill"));
}

llvm::Expected<GeneratedCode> runHgen(const HgenRequest &request) {
  auto hgen = findHgen();
  if (!hgen)
    return hgen.takeError();
  auto directory = TemporaryDirectory::make();
  if (!directory)
    return directory.takeError();
  if (llvm::Error error = writeTemporary((*directory)->file("description"), describe(request)))
    return std::move(error);
  std::string problem = run(*hgen, **directory), object = readFileContent((*directory)->file("made.o"));
  if (problem.empty() && !isComplete(object, request))
    problem = fmt::format("its answer is not an object for {} that defines it and is complete", request.processor);
  if (!problem.empty())
    return makeError(ErrorCode::Generator, "{}: for {}: {}; --generator=mlir does without it", *hgen, request.symbol,
                     problem);
  GeneratedCode code{{object.begin(), object.end()}, "", readFileContent((*directory)->file("made.s"))};
  code.loops =
      readFileContent((*directory)->file("made.loops")) + "\n" + readFileContent((*directory)->file("made.stmt"));
  code.spills = spillsIn(code.assembly);
  return code;
}

}  // namespace talc
