// SPDX-License-Identifier: Apache-2.0
// Opens libopenblas and libdnnl at run time; their interfaces are those of CBLAS and of oneDNN's dnnl.h.
#include "tools/talc/bench/MathLibraries.h"

#include "runtime/device/cpu/Cpu.h"

#include <cstdlib>
#include <dlfcn.h>
#include <memory>

namespace talc::bench {

namespace {

struct Matrices {
  int64_t rows, depth, columns;
  std::vector<float> x, weight, result;

  Matrices(int64_t rows, int64_t depth, int64_t columns)
      : rows(rows), depth(depth), columns(columns), x(rows * depth), weight(depth * columns), result(rows * columns) {
    uint32_t state = 1;
    for (auto *values : {&x, &weight})
      for (float &value : *values) {
        state = state * 1664525u + 1013904223u;
        value = static_cast<float>(state >> 8) * 0x1p-24f - 0.5f;
      }
  }
};

using Sgemm = void (*)(int order, int transA, int transB, int m, int n, int k, float alpha, const float *a, int lda,
                       const float *b, int ldb, float beta, float *c, int ldc);
using Sgemv = void (*)(int order, int trans, int m, int n, float alpha, const float *a, int lda, const float *x,
                       int incx, float beta, float *y, int incy);
using DnnlSgemm = int (*)(char transA, char transB, int64_t m, int64_t n, int64_t k, float alpha, const float *a,
                          int64_t lda, const float *b, int64_t ldb, float beta, float *c, int64_t ldc);

}  // namespace

static void *openFirst(std::initializer_list<const char *> names) {
  for (const char *name : names)
    if (void *library = dlopen(name, RTLD_NOW | RTLD_LOCAL))
      return library;
  return nullptr;
}

template <typename Function> static Function find(void *library, const char *name) {
  return reinterpret_cast<Function>(dlsym(library, name));
}

// An OpenBLAS older than the processor does not know it and falls back to code without AVX, so it is told the kind.
// Who sets the variable decides.
static void nameProcessor() {
  bool wide = detectCpuLevel() >= CpuLevel::X86_64_v4;
  setenv("OPENBLAS_CORETYPE", wide ? "SkylakeX" : "Haswell", /*overwrite=*/0);
}

static void addOpenBlas(std::shared_ptr<Matrices> m, int32_t threads, std::vector<LibraryProduct> &products) {
  nameProcessor();
  void *library = openFirst({"libopenblas.so.0", "libopenblas.so"});
  if (!library)
    return;
  constexpr int rowMajor = 101, asIs = 111, transposed = 112;
  auto setThreads = find<void (*)(int)>(library, "openblas_set_num_threads");
  auto sgemm = find<Sgemm>(library, "cblas_sgemm");
  auto sgemv = find<Sgemv>(library, "cblas_sgemv");
  if (!setThreads || !sgemm || !sgemv)
    return;
  products.push_back({"OpenBLAS", [=] {
                        setThreads(threads);
                        int rows = static_cast<int>(m->rows), depth = static_cast<int>(m->depth);
                        int columns = static_cast<int>(m->columns);
                        if (rows == 1)
                          return sgemv(rowMajor, transposed, depth, columns, 1, m->weight.data(), columns, m->x.data(),
                                       1, 0, m->result.data(), 1);
                        sgemm(rowMajor, asIs, asIs, rows, columns, depth, 1, m->x.data(), depth, m->weight.data(),
                              columns, 0, m->result.data(), columns);
                      }});
}

static void addOneDnn(std::shared_ptr<Matrices> m, int32_t threads, std::vector<LibraryProduct> &products) {
  void *library = openFirst({"libdnnl.so.3", "libdnnl.so.2", "libdnnl.so"});
  if (!library)
    return;
  auto sgemm = find<DnnlSgemm>(library, "dnnl_sgemm");
  auto setThreads = find<void (*)(int)>(library, "omp_set_num_threads");
  if (!sgemm || !setThreads)
    return;
  products.push_back({"oneDNN", [=] {
                        setThreads(threads);
                        sgemm('N', 'N', m->rows, m->columns, m->depth, 1, m->x.data(), m->depth, m->weight.data(),
                              m->columns, 0, m->result.data(), m->columns);
                      }});
}

std::vector<LibraryProduct> libraryProducts(int64_t rows, int64_t depth, int64_t columns, int32_t threads) {
  std::vector<LibraryProduct> products;
  auto matrices = std::make_shared<Matrices>(rows, depth, columns);
  addOpenBlas(matrices, threads, products);
  addOneDnn(matrices, threads, products);
  return products;
}

}  // namespace talc::bench
