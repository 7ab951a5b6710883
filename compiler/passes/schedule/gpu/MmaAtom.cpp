// SPDX-License-Identifier: Apache-2.0
// Implements the MMA instructions.
#include "compiler/passes/schedule/gpu/MmaAtom.h"

#include "mlir/Dialect/NVGPU/IR/NVGPUDialect.h"

using namespace mlir;

namespace talc {

namespace {

class MmaSync final : public MmaAtom {
public:
  using Layout = MmaSyncM16N8K16;

  StringRef name() const override { return "m16n8k16"; }
  Shape shape() const override { return {Layout::m, Layout::n, Layout::k}; }
  int64_t threads() const override { return Layout::threads; }
  bool accepts(Type element) const override { return isa<Float16Type, BFloat16Type>(element); }
  Source sourceOfA() const override { return Source::registers; }
  Source sourceOfB() const override { return Source::registers; }
  bool isAsynchronous() const override { return false; }

  VectorType fragmentA(Type element) const override { return VectorType::get({4, 2}, element); }
  VectorType fragmentB(Type element) const override { return VectorType::get({2, 2}, element); }
  VectorType accumulator(MLIRContext *context) const override {
    return VectorType::get({2, 2}, Float32Type::get(context));
  }

  Value multiply(OpBuilder &b, Location loc, Value a, Value bOperand, Value sum) const override {
    return nvgpu::MmaSyncOp::create(b, loc, a, bOperand, sum, ArrayRef<int64_t>{Layout::m, Layout::n, Layout::k});
  }
};

}  // namespace

const MmaAtom &mmaSyncM16N8K16() {
  static const MmaSync atom;
  return atom;
}

}  // namespace talc
