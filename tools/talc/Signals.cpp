// SPDX-License-Identifier: Apache-2.0
// LLVM installs its handlers when the first file is named to it; here they are installed at once, and set right.
#include "tools/talc/ExitStatus.h"

#include "compiler/TemporaryDirectory.h"
#include "compiler/artifact/weights/MappedFile.h"

#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/Signals.h"

#include <alloca.h>
#include <atomic>
#include <csignal>
#include <initializer_list>
#include <new>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>
#include <utility>
#include <vector>

namespace talc::tools {

static void removeUnfinished() {
  TemporaryDirectory::removeAll();
  llvm::sys::RunInterruptHandlers();  // removes files
}

// Set by who ends the process.
static std::atomic_flag ending = ATOMIC_FLAG_INIT;

// Prints the parts of a line and ends the process. Allocates nothing; handlers of signals may call it. Of several
// threads the first speaks, and the others wait for the end.
[[noreturn]] static void endWith(std::initializer_list<const char *> parts) {
  while (ending.test_and_set())
    pause();
  for (llvm::StringRef part : parts)
    for (ssize_t count = 0; !part.empty() && count >= 0; part = part.drop_front(std::max<ssize_t>(count, 0)))
      count = write(STDERR_FILENO, part.data(), part.size());
  removeUnfinished();
  _exit(1);
}

[[noreturn]] static void endWithoutMemory() {
  endWith({"error[T0408]: talc: the system refused memory; free some, or raise its limit (ulimit -v)\n"});
}

static void refusedAllocation(void *, const char *, bool) {
  endWithoutMemory();
}

static void fatalError(void *, const char *reason, bool) {
  if (llvm::StringRef(reason).contains("pthread_create"))
    endWith({"error[T0408]: talc: the system refused a thread: ", reason, "\n"});
  endWith({"error[T0900]: talc: ", reason, "; this is a defect of talc, please report it\n"});
}

// A mapped file ends before the place that was read.
static void endOfFile(int number, siginfo_t *info, void *) {
  if (const char *path = MappedFile::pathAt(info->si_addr))
    endWith({"error[T0502]: ", path, ": became shorter while it was read; compile when it is complete\n"});
  removeUnfinished();
  signal(number, SIG_DFL);
  raise(number);
}

// LLVM's handlers let a second signal end the process before the first one's files are gone: timeout sends two, and so
// do impatient users. So all is removed here first, and what comes meanwhile, in this thread or another, is ignored.
static void (*handleByLlvm)(int, siginfo_t *, void *) = nullptr;

static void askedToEnd(int number, siginfo_t *info, void *context) {
  if (ending.test_and_set())
    return;
  removeUnfinished();
  handleByLlvm(number, info, context);
}

static void endOfPipe() {
  TemporaryDirectory::removeAll();
  _exit(128 + SIGPIPE);
}

// Grows the stack by `bytes`, of which only a page is used.
__attribute__((noinline)) static void growStack(size_t bytes) {
  auto *lowest = static_cast<volatile char *>(alloca(bytes));
  lowest[0] = 0;
}

// LLVM is deeply recursive in places. A stack that the system lets grow no further is a crash, so half of it is taken
// at once; the arguments may have a quarter. Threads have stacks of their own.
static void prepareStack() {
  constexpr rlim_t wanted = 8 << 20, needed = 512 << 10;
  rlimit limit = {wanted, wanted};
  if (getrlimit(RLIMIT_STACK, &limit) == 0 && limit.rlim_cur < wanted) {
    limit.rlim_cur = std::min(limit.rlim_max, wanted);
    if (setrlimit(RLIMIT_STACK, &limit) != 0 || limit.rlim_cur < needed)
      endWith({"error[T0408]: talc: needs a stack of 512 KiB, more than the limit (ulimit -s)\n"});
  }
  size_t half = std::min(limit.rlim_cur, wanted) / 2;
  void *asMuch = mmap(nullptr, half, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (asMuch == MAP_FAILED)
    endWithoutMemory();
  munmap(asMuch, half);
  growStack(half);
  pthread_attr_t attributes;
  if (pthread_attr_init(&attributes) == 0) {
    pthread_attr_setstacksize(&attributes, wanted);
    pthread_setattr_default_np(&attributes);
    pthread_attr_destroy(&attributes);
  }
}

static void prepareHandlers() {
  signal(SIGXFSZ, SIG_IGN);
  // nohup and shells without job control have some ignored; LLVM would take them for deadly.
  std::vector<std::pair<int, struct sigaction>> ignored;
  for (int number : {SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGPIPE, SIGXFSZ}) {
    struct sigaction action;
    if (sigaction(number, nullptr, &action) == 0 && action.sa_handler == SIG_IGN)
      ignored.emplace_back(number, action);
  }
  llvm::sys::SetOneShotPipeSignalFunction(endOfPipe);
  llvm::sys::SetInterruptFunction(nullptr);  // installs the handlers
  for (int number : {SIGHUP, SIGINT, SIGTERM}) {
    struct sigaction action;
    sigaction(number, nullptr, &action);
    handleByLlvm = std::exchange(action.sa_sigaction, askedToEnd);
    action.sa_flags = SA_SIGINFO | SA_ONSTACK;
    sigfillset(&action.sa_mask);  // a flood of them would fill the stack
    sigaction(number, &action, nullptr);
  }
  for (const auto &[number, action] : ignored)
    sigaction(number, &action, nullptr);
  struct sigaction bus = {};
  bus.sa_sigaction = endOfFile;
  bus.sa_flags = SA_SIGINFO;
  sigaction(SIGBUS, &bus, nullptr);
}

void prepareSignals() {
  prepareStack();
  prepareHandlers();
  std::set_new_handler(endWithoutMemory);
  llvm::install_bad_alloc_error_handler(refusedAllocation);
  llvm::install_fatal_error_handler(fatalError);
}

}  // namespace talc::tools
