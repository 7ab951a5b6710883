// SPDX-License-Identifier: Apache-2.0
// OpenBLAS at its best: with those of its kernels that are the fastest here.
//
// When it is loaded it takes kernels for the processor that it believes to find. One that is older than the processor
// falls back to kernels without AVX, some virtual machines hide what they are, and OPENBLAS_CORETYPE may name kernels
// for another purpose; so names are tried, each in a process of its own, before the library is loaded here.
#include "runtime/device/cpu/Cpu.h"
#include "tools/talc/bench/MathLibraries.h"
#include "tools/talc/bench/Stopwatch.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <dlfcn.h>
#include <sys/wait.h>
#include <unistd.h>

namespace talc::bench {

using Sgemm = void (*)(int order, int transA, int transB, int m, int n, int k, float alpha, const float *a, int lda,
                       const float *b, int ldb, float beta, float *c, int ldc);
using Sgemv = void (*)(int order, int trans, int m, int n, float alpha, const float *a, int lda, const float *x,
                       int incx, float beta, float *y, int incy);

static constexpr const char *variable = "OPENBLAS_CORETYPE";

static void *openLibrary(int flags) {
  for (const char *name : {"libopenblas.so.0", "libopenblas.so"})
    if (void *library = dlopen(name, RTLD_NOW | RTLD_LOCAL | flags))
      return library;
  return nullptr;
}

template <typename Function> static Function find(void *library, const char *name) {
  return reinterpret_cast<Function>(dlsym(library, name));
}

// Null: the library lacks a function.
static std::function<void()> productOf(void *library, const MatmulOperandsPtr &m, int32_t threads) {
  constexpr int rowMajor = 101, asIs = 111, transposed = 112;
  auto setThreads = find<void (*)(int)>(library, "openblas_set_num_threads");
  auto sgemm = find<Sgemm>(library, "cblas_sgemm");
  auto sgemv = find<Sgemv>(library, "cblas_sgemv");
  if (!setThreads || !sgemm || !sgemv)
    return nullptr;
  return [=] {
    setThreads(threads);
    int rows = static_cast<int>(m->rows), depth = static_cast<int>(m->depth), columns = static_cast<int>(m->columns);
    if (rows == 1)
      return sgemv(rowMajor, transposed, depth, columns, 1, m->weight.data(), columns, m->x.data(), 1, 0,
                   m->result.data(), 1);
    sgemm(rowMajor, asIs, asIs, rows, columns, depth, 1, m->x.data(), depth, m->weight.data(), columns, 0,
          m->result.data(), columns);
  };
}

static void setKernel(const char *kernel) {
  if (*kernel)
    setenv(variable, kernel, 1);
  else
    unsetenv(variable);
}

// The best of some products on one thread, in a process that has just been made; infinite without the library.
static double measureHere(const char *kernel, const MatmulOperandsPtr &matrices) {
  constexpr int least = 3;
  constexpr double enough = 0.1;
  setKernel(kernel);
  void *library = openLibrary(0);
  std::function<void()> run = library ? productOf(library, matrices, 1) : nullptr;
  double best = HUGE_VAL;
  Stopwatch all(0);
  for (int i = 0; run && (i < least || all.seconds() < enough); ++i) {
    Stopwatch watch(1);
    run();
    if (i > 0)  // the first one warms up
      best = std::min(best, watch.seconds());
  }
  return best;
}

// Infinite where the library does not run with it.
static double secondsWith(const char *kernel, const MatmulOperandsPtr &matrices) {
  int ends[2];
  if (pipe(ends) != 0)
    return HUGE_VAL;
  pid_t child = fork();
  if (child == 0) {
    double seconds = measureHere(kernel, matrices);
    _exit(write(ends[1], &seconds, sizeof(seconds)) == sizeof(seconds) ? 0 : 1);
  }
  close(ends[1]);
  double seconds = HUGE_VAL;
  if (child > 0 && read(ends[0], &seconds, sizeof(seconds)) != sizeof(seconds))
    seconds = HUGE_VAL;
  close(ends[0]);
  if (child > 0)
    waitpid(child, nullptr, 0);
  return seconds;
}

// Empty: its own choice, which the others have to beat by more than noise.
static std::string fastestKernel(const MatmulOperandsPtr &matrices) {
  std::vector<const char *> names;
  if (detectCpuLevel() >= CpuLevel::X86_64_v3)
    names.push_back("Haswell");
  if (detectCpuLevel() >= CpuLevel::X86_64_v4)
    names.push_back("SkylakeX");
  constexpr double gain = 0.97;
  const char *fastest = "";
  double best = secondsWith(fastest, matrices);
  for (const char *candidate : names)
    if (double seconds = secondsWith(candidate, matrices); seconds < gain * best) {
      best = seconds;
      fastest = candidate;
    }
  return fastest;
}

std::vector<LibraryMatmul> openBlasMatmul(const MatmulOperandsPtr &matrices, int32_t threads) {
  if (!openLibrary(RTLD_NOLOAD))
    setKernel(fastestKernel(matrices).c_str());
  void *library = openLibrary(0);
  std::function<void()> run = library ? productOf(library, matrices, threads) : nullptr;
  if (!run)
    return {};
  auto coreName = find<const char *(*)()>(library, "openblas_get_corename");
  return {{"OpenBLAS", coreName ? coreName() : "", run}};
}

}  // namespace talc::bench
