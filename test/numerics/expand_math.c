// SPDX-License-Identifier: Apache-2.0
// Compares the functions of expand-math.mlir with those of libm in double precision, in units in the last place of f32.
//
//   exp, exp2  1 ulp on [-87.3, 88.37] and [-126, 127.5], never falling, NaN for NaN; the values at these borders
//              (about) for all arguments below and above
//   tanh       5 ulp everywhere, 1 and -1 beyond 10
//   erf        5 ulp everywhere, 1 and -1 beyond 5
#include <float.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum { lanes = 8, steps = 1 << 20 };
typedef void Vector(const float *from, float *to);
Vector vectorExp, vectorExp2, vectorTanh, vectorErf;

typedef struct {
  const char *name;
  Vector *function;
  double (*exact)(double);
  double low, high;  // where `bound` holds
  double bound;      // ulp
  double dense;      // [-dense, dense] is sampled evenly
} Function;

static int failures = 0;

static void fail(const Function *f, const char *what, double x, double found) {
  if (++failures <= 20)
    printf("%s(%.9g) = %.9g: %s\n", f->name, x, found, what);
}

// The distance of neighbouring floats at y.
static double ulp(double y) {
  int exponent;
  frexp(y, &exponent);
  return ldexp(1, exponent - FLT_MANT_DIG < -149 ? -149 : exponent - FLT_MANT_DIG);
}

static void check(const Function *f, const float *x, double *worst) {
  float y[lanes];
  f->function(x, y);
  for (int i = 0; i < lanes; ++i) {
    if (x[i] < f->low || x[i] > f->high)
      continue;
    double exact = f->exact(x[i]), error = fabs(y[i] - exact) / ulp(exact);
    if (!(error <= f->bound))
      fail(f, "beyond the bound", x[i], y[i]);
    if (error > *worst)
      *worst = error;
  }
}

// Floats of every magnitude and sign: equal steps through their bits.
static void checkAllMagnitudes(const Function *f, double *worst) {
  const uint32_t largest = 0x7f7fffff, stride = largest / steps;
  for (uint32_t start = 0; start < largest - lanes * stride; start += lanes * stride)
    for (uint32_t sign = 0; sign < 2; ++sign) {
      float x[lanes];
      for (uint32_t i = 0; i < lanes; ++i) {
        uint32_t bits = (start + i * stride) | sign << 31;
        memcpy(&x[i], &bits, sizeof(bits));
      }
      check(f, x, worst);
    }
}

static void checkDense(const Function *f, double *worst) {
  for (int start = 0; start < steps; start += lanes) {
    float x[lanes];
    for (int i = 0; i < lanes; ++i)
      x[i] = (float)(f->dense * (2.0 * (start + i) / steps - 1));
    check(f, x, worst);
  }
}

// Arguments beyond the range that matters give `below` and `above`, within a relative tolerance.
static void checkBeyond(const Function *f, double border, double below, double above, double tolerance) {
  const float x[lanes] = {(float)border, 1e4f, FLT_MAX, INFINITY, (float)-border, -1e4f, -FLT_MAX, -INFINITY};
  float y[lanes];
  f->function(x, y);
  for (int i = 0; i < lanes; ++i) {
    double expected = x[i] < 0 ? below : above;
    if (!(fabs(y[i] - expected) <= tolerance * fabs(expected)))
      fail(f, "not the value of large arguments", x[i], y[i]);
  }
}

static void checkMonotone(const Function *f) {
  float last = -INFINITY;
  for (int start = 0; start < steps; start += lanes) {
    float x[lanes], y[lanes];
    for (int i = 0; i < lanes; ++i)
      x[i] = (float)(f->dense * (2.0 * (start + i) / steps - 1));
    f->function(x, y);
    for (int i = 0; i < lanes; last = y[i++])
      if (!(y[i] >= last))
        fail(f, "falls", x[i], y[i]);
  }
}

// Exactly at zero, and for arguments around it that are not normal numbers.
static void checkZero(const Function *f, float atZero) {
  const float x[lanes] = {0, -0.0f, FLT_TRUE_MIN, -FLT_TRUE_MIN, 1e-40f, -1e-40f, FLT_MIN, -FLT_MIN};
  float y[lanes];
  double worst = 0;
  f->function(x, y);
  if (y[0] != atZero || y[1] != atZero)
    fail(f, "wrong at zero", 0, y[0]);
  check(f, x, &worst);
}

// NaN must not turn into a number, which would hide that a model overflowed.
static void checkNaN(const Function *f) {
  float x[lanes], y[lanes];
  for (int i = 0; i < lanes; ++i)
    x[i] = NAN;
  f->function(x, y);
  for (int i = 0; i < lanes; ++i)
    if (!isnan(y[i]))
      fail(f, "not NaN", x[i], y[i]);
}

int main(void) {
  const Function functions[] = {
      {"exp", vectorExp, exp, -87.3, 88.37, 1, 104},
      {"exp2", vectorExp2, exp2, -126, 127.5, 1, 150},
      {"tanh", vectorTanh, tanh, -FLT_MAX, FLT_MAX, 5, 12},
      {"erf", vectorErf, erf, -FLT_MAX, FLT_MAX, 5, 6},
  };
  for (int i = 0; i < 4; ++i) {
    const Function *f = &functions[i];
    double worst = 0;
    checkAllMagnitudes(f, &worst);
    checkDense(f, &worst);
    checkZero(f, i < 2 ? 1 : 0);
    printf("%-5s %.2f ulp\n", f->name, worst);
  }
  checkBeyond(&functions[0], 104, ldexp(1, -126), 2.406e38, 1e-3);
  checkBeyond(&functions[1], 150, ldexp(1, -126), exp2(127.5), 1e-6);
  for (int i = 0; i < 2; ++i) {
    checkMonotone(&functions[i]);
    checkNaN(&functions[i]);
  }
  checkBeyond(&functions[2], 10, -1, 1, 0);
  checkBeyond(&functions[3], 5, -1, 1, 0);
  return failures != 0;
}
