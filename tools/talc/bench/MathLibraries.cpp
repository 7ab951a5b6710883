// SPDX-License-Identifier: Apache-2.0
// Opens libdnnl at run time; its interface is that of oneDNN's dnnl.h.
//
// Its threads are OpenMP's. Where two of them come to stand on one processor, each spins while the other one should
// work, until the scheduler's next turn, and a product of 1 ms takes ten. So every thread is bound to a processor of
// its own; the calling one, which talc's kernels use, too, only for as long as a product takes.
#include "tools/talc/bench/MathLibraries.h"

#include <cstdlib>
#include <dlfcn.h>
#include <sched.h>

namespace talc::bench {

// A product of two matrices of f32, or, which no header has, of bf16. Returns zero, or why there is none.
template <typename Number>
using DnnlGemm = int (*)(char transA, char transB, int64_t m, int64_t n, int64_t k, float alpha, const Number *a,
                         int64_t lda, const Number *b, int64_t ldb, float beta, float *c, int64_t ldc);

namespace {

// The calling thread on the first of its processors, which is where OpenMP takes it to be.
class FirstProcessor {
public:
  FirstProcessor() {
    cpu_set_t first;
    CPU_ZERO(&first);
    if (sched_getaffinity(0, sizeof(before), &before) != 0)
      return;
    for (int i = 0; i < CPU_SETSIZE && CPU_COUNT(&first) == 0; ++i)
      if (CPU_ISSET(i, &before))
        CPU_SET(i, &first);
    bound = sched_setaffinity(0, sizeof(first), &first) == 0;
  }
  ~FirstProcessor() {
    if (bound)
      sched_setaffinity(0, sizeof(before), &before);
  }
  FirstProcessor(const FirstProcessor &) = delete;
  FirstProcessor &operator=(const FirstProcessor &) = delete;

private:
  cpu_set_t before;
  bool bound = false;
};

}  // namespace

// With OpenMP, which reads its environment when it is loaded, and binds the thread that loads it.
static void *openOneDnn() {
  setenv("OMP_PROC_BIND", "true", 1);
  cpu_set_t before;
  bool known = sched_getaffinity(0, sizeof(before), &before) == 0;
  void *library = nullptr;
  for (const char *name : {"libdnnl.so.3", "libdnnl.so.2", "libdnnl.so"})
    if (!library)
      library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
  if (known)
    sched_setaffinity(0, sizeof(before), &before);
  return library;
}

// By the function of that name; nothing where it cannot multiply such numbers on this processor.
template <typename Number>
static std::vector<LibraryMatmul> oneDnnProduct(const char *name, const std::shared_ptr<MatmulOperandsOf<Number>> &m,
                                                int32_t threads) {
  void *library = openOneDnn();
  if (!library)
    return {};
  auto gemm = reinterpret_cast<DnnlGemm<Number>>(dlsym(library, name));
  auto setThreads = reinterpret_cast<void (*)(int)>(dlsym(library, "omp_set_num_threads"));
  if (!gemm || !setThreads)
    return {};
  auto multiply = [=] {
    FirstProcessor bound;
    setThreads(threads);
    return gemm('N', 'N', m->rows, m->columns, m->depth, 1, m->x.data(), m->depth, m->weight.data(), m->columns, 0,
                m->result.data(), m->columns);
  };
  if (multiply() != 0)
    return {};
  return {{"oneDNN", "", [=] { multiply(); }}};
}

std::vector<LibraryMatmul> f32Matmuls(int64_t rows, int64_t depth, int64_t columns, int32_t threads) {
  auto matrices = std::make_shared<Matrices>(rows, depth, columns);
  std::vector<LibraryMatmul> products = openBlasMatmul(matrices, threads);
  for (LibraryMatmul &product : oneDnnProduct("dnnl_sgemm", matrices, threads))
    products.push_back(std::move(product));
  return products;
}

std::vector<LibraryMatmul> bf16Matmuls(int64_t rows, int64_t depth, int64_t columns, int32_t threads) {
  return oneDnnProduct("dnnl_gemm_bf16bf16f32", std::make_shared<MatmulOperandsOf<Bf16>>(rows, depth, columns),
                       threads);
}

}  // namespace talc::bench
