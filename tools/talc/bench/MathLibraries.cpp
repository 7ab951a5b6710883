// SPDX-License-Identifier: Apache-2.0
// Opens OpenBLAS and oneDNN at run time and takes the fastest code that they have for this CPU.
//
// OpenBLAS chooses its kernels for the CPU that it detects when it is loaded. An old version falls back to kernels
// without AVX on a new CPU, some virtual machines hide their CPU, and OPENBLAS_CORETYPE may name kernels for another
// purpose. So names are tried, each in a process of its own, before the library is loaded here.
//
// oneDNN's interface is that of its header dnnl.h. Its threads belong to OpenMP. Where two of them share a core, each
// spins until the scheduler's next turn while the other one should work, and a matmul takes ten times as long. So every
// thread is bound to a core of its own; the calling thread, which talc's kernels use too, only during a matmul.
#include "tools/talc/bench/MathLibraries.h"

#include "runtime/device/cpu/Cpu.h"
#include "tools/talc/bench/Timing.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <memory>
#include <sched.h>
#include <sys/wait.h>
#include <tuple>
#include <unistd.h>

namespace talc::bench {

namespace {

// The upper half of an f32.
struct Bf16 {
  uint16_t bits = 0;

  Bf16() = default;
  explicit Bf16(float value) {
    uint32_t word = 0;
    memcpy(&word, &value, sizeof(word));
    bits = static_cast<uint16_t>(word >> 16);
  }
};

// Random operands of a matmul, and its result.
template <typename Number> struct MatmulOperands {
  int64_t m, k, n;
  std::vector<Number> x, weight;
  std::vector<float> result;

  MatmulOperands(int64_t m, int64_t k, int64_t n) : m(m), k(k), n(n), x(m * k), weight(k * n), result(m * n) {
    uint32_t state = 1;
    for (auto *values : {&x, &weight})
      for (Number &value : *values) {
        state = state * 1664525u + 1013904223u;
        value = Number(static_cast<float>(state >> 8) * 0x1p-24f - 0.5f);
      }
  }
};

using F32Operands = std::shared_ptr<MatmulOperands<float>>;

}  // namespace

using Sgemm = void (*)(int order, int transA, int transB, int m, int n, int k, float alpha, const float *a, int lda,
                       const float *b, int ldb, float beta, float *c, int ldc);
using Sgemv = void (*)(int order, int trans, int m, int n, float alpha, const float *a, int lda, const float *x,
                       int incx, float beta, float *y, int incy);

static constexpr const char *coreTypeVariable = "OPENBLAS_CORETYPE";

static void *openOpenBlas(int flags) {
  for (const char *name : {"libopenblas.so.0", "libopenblas.so"})
    if (void *library = dlopen(name, RTLD_NOW | RTLD_LOCAL | flags))
      return library;
  return nullptr;
}

template <typename Function> static Function find(void *library, const char *name) {
  return reinterpret_cast<Function>(dlsym(library, name));
}

// Returns null if the library lacks a function.
static std::function<void()> makeOpenBlasMatmul(void *library, const F32Operands &operands, int32_t threads) {
  constexpr int rowMajor = 101, notTransposed = 111, transposed = 112;
  auto setThreads = find<void (*)(int)>(library, "openblas_set_num_threads");
  auto sgemm = find<Sgemm>(library, "cblas_sgemm");
  auto sgemv = find<Sgemv>(library, "cblas_sgemv");
  if (!setThreads || !sgemm || !sgemv)
    return nullptr;
  return [=] {
    setThreads(threads);
    const float *x = operands->x.data(), *weight = operands->weight.data();
    float *result = operands->result.data();
    int m = static_cast<int>(operands->m), k = static_cast<int>(operands->k), n = static_cast<int>(operands->n);
    if (m == 1)
      return sgemv(rowMajor, transposed, k, n, 1, weight, n, x, 1, 0, result, 1);
    sgemm(rowMajor, notTransposed, notTransposed, m, n, k, 1, x, k, weight, n, 0, result, n);
  };
}

static void setOpenBlasKernel(const char *kernel) {
  if (*kernel)
    setenv(coreTypeVariable, kernel, 1);
  else
    unsetenv(coreTypeVariable);
}

// The shortest of some matmuls on one thread, in a new process; infinite without the library.
static double measureKernel(const char *kernel, const F32Operands &operands) {
  constexpr int minRuns = 3;
  constexpr double minSeconds = 0.1;
  setOpenBlasKernel(kernel);
  void *library = openOpenBlas(0);
  std::function<void()> run = library ? makeOpenBlasMatmul(library, operands, 1) : nullptr;
  double best = HUGE_VAL;
  Stopwatch all(0);
  for (int i = 0; run && (i < minRuns || all.seconds() < minSeconds); ++i) {
    Stopwatch watch(1);
    run();
    if (i > 0)  // the first one warms up
      best = std::min(best, watch.seconds());
  }
  return best;
}

// Infinite if the library does not run with these kernels.
static double measureKernelInChild(const char *kernel, const F32Operands &operands) {
  int pipeEnds[2];
  if (pipe(pipeEnds) != 0)
    return HUGE_VAL;
  pid_t child = fork();
  if (child == 0) {
    double seconds = measureKernel(kernel, operands);
    _exit(write(pipeEnds[1], &seconds, sizeof(seconds)) == sizeof(seconds) ? 0 : 1);
  }
  close(pipeEnds[1]);
  double seconds = HUGE_VAL;
  if (child > 0 && read(pipeEnds[0], &seconds, sizeof(seconds)) != sizeof(seconds))
    seconds = HUGE_VAL;
  close(pipeEnds[0]);
  if (child > 0)
    waitpid(child, nullptr, 0);
  return seconds;
}

// The name is empty for the library's own choice, which others must beat by more than noise.
static std::string fastestKernel(const F32Operands &operands) {
  std::vector<const char *> names;
  if (detectCpuLevel() >= CpuLevel::X86_64_v3)
    names.push_back("Haswell");
  if (detectCpuLevel() >= CpuLevel::X86_64_v4)
    names.push_back("SkylakeX");
  constexpr double gain = 0.97;
  const char *fastest = "";
  double best = measureKernelInChild(fastest, operands);
  for (const char *candidate : names)
    if (double seconds = measureKernelInChild(candidate, operands); seconds < gain * best) {
      best = seconds;
      fastest = candidate;
    }
  return fastest;
}

// Empty if OpenBLAS is not installed.
static std::vector<LibraryMatmul> openBlasMatmul(const F32Operands &operands, int32_t threads) {
  if (!openOpenBlas(RTLD_NOLOAD))
    setOpenBlasKernel(fastestKernel(operands).c_str());
  void *library = openOpenBlas(0);
  std::function<void()> run = library ? makeOpenBlasMatmul(library, operands, threads) : nullptr;
  if (!run)
    return {};
  auto coreName = find<const char *(*)()>(library, "openblas_get_corename");
  return {{"OpenBLAS", "f32", coreName ? coreName() : "", run}};
}

// A matmul of f32, or of bf16, which no header declares. Returns zero or an error.
template <typename Number>
using DnnlGemm = int (*)(char transA, char transB, int64_t m, int64_t n, int64_t k, float alpha, const Number *a,
                         int64_t lda, const Number *b, int64_t ldb, float beta, float *c, int64_t ldc);

namespace {

// Binds the calling thread to the first of its CPUs, where OpenMP expects it.
class BindToFirstCpu {
public:
  BindToFirstCpu() {
    cpu_set_t first;
    CPU_ZERO(&first);
    if (sched_getaffinity(0, sizeof(previous), &previous) != 0)
      return;
    for (int i = 0; i < CPU_SETSIZE && CPU_COUNT(&first) == 0; ++i)
      if (CPU_ISSET(i, &previous))
        CPU_SET(i, &first);
    bound = sched_setaffinity(0, sizeof(first), &first) == 0;
  }
  ~BindToFirstCpu() {
    if (bound)
      sched_setaffinity(0, sizeof(previous), &previous);
  }
  BindToFirstCpu(const BindToFirstCpu &) = delete;
  BindToFirstCpu &operator=(const BindToFirstCpu &) = delete;

private:
  cpu_set_t previous;
  bool bound = false;
};

}  // namespace

// Also loads OpenMP, which then reads its environment and binds the calling thread.
static void *openOneDnn() {
  setenv("OMP_PROC_BIND", "true", 1);
  cpu_set_t previous;
  bool isKnown = sched_getaffinity(0, sizeof(previous), &previous) == 0;
  void *library = nullptr;
  for (const char *name : {"libdnnl.so.3", "libdnnl.so.2", "libdnnl.so"})
    if (!library)
      library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
  if (isKnown)
    sched_setaffinity(0, sizeof(previous), &previous);
  return library;
}

// Empty if the function `name` does not exist or does not support this CPU.
template <typename Number>
static std::vector<LibraryMatmul> oneDnnMatmul(const char *name, const char *type,
                                               const std::shared_ptr<MatmulOperands<Number>> &operands,
                                               int32_t threads) {
  void *library = openOneDnn();
  if (!library)
    return {};
  auto gemm = reinterpret_cast<DnnlGemm<Number>>(dlsym(library, name));
  auto setThreads = reinterpret_cast<void (*)(int)>(dlsym(library, "omp_set_num_threads"));
  if (!gemm || !setThreads)
    return {};
  auto multiply = [=] {
    BindToFirstCpu bound;
    setThreads(threads);
    auto [m, k, n] = std::tuple(operands->m, operands->k, operands->n);
    return gemm('N', 'N', m, n, k, 1, operands->x.data(), k, operands->weight.data(), n, 0, operands->result.data(), n);
  };
  if (multiply() != 0)
    return {};
  return {{"oneDNN", type, "", [=] { multiply(); }}};
}

std::vector<LibraryMatmul> f32Matmuls(int64_t m, int64_t k, int64_t n, int32_t threads) {
  auto operands = std::make_shared<MatmulOperands<float>>(m, k, n);
  std::vector<LibraryMatmul> matmuls = openBlasMatmul(operands, threads);
  for (LibraryMatmul &matmul : oneDnnMatmul("dnnl_sgemm", "f32", operands, threads))
    matmuls.push_back(std::move(matmul));
  return matmuls;
}

std::vector<LibraryMatmul> bf16Matmuls(int64_t m, int64_t k, int64_t n, int32_t threads) {
  return oneDnnMatmul("dnnl_gemm_bf16bf16f32", "bf16", std::make_shared<MatmulOperands<Bf16>>(m, k, n), threads);
}

}  // namespace talc::bench
