// SPDX-License-Identifier: Apache-2.0
// Operands and accumulators of a tile, which microkernels share, and the choice of a microkernel.
#include "compiler/passes/schedule/cpu/matmul/Microkernel.h"

#include "compiler/passes/schedule/cpu/matmul/KQuantUnpack.h"
#include "dialects/Invariant.h"
#include "dialects/talc/formats/QuantizedActivations.h"

using namespace mlir;

namespace talc {

//===--- dequantized panels -------------------------------------------------------------------------------------===//

Value DequantizedPanels::load(Emitter &e, Value word, Value lane) const {
  auto type = VectorType::get({e.lanes}, e.b.getI32Type());
  return vector::LoadOp::create(e.b, e.loc, type, words, ValueRange{word, lane});
}
Value DequantizedPanels::loadFloat(Emitter &e, Value word, Value lane) const {
  return vector::BitCastOp::create(e.b, e.loc, e.vectorType(), load(e, word, lane));
}
void DequantizedPanels::store(Emitter &e, Value vector, Value word, Value lane) const {
  auto type = VectorType::get({e.lanes}, e.b.getI32Type());
  Value bits = vector::BitCastOp::create(e.b, e.loc, type, vector);
  vector::StoreOp::create(e.b, e.loc, bits, words, ValueRange{word, lane});
}

//===--- accumulators -------------------------------------------------------------------------------------------===//

// A mask: no lanes before the weight's first k, else all. Null: k is known to be the first.
Value TileAccumulators::validLanes(Value k) const {
  Value position = e.add(firstK, k);
  if (getConstantIntValue(position) == 0)
    return {};
  return e.firstLanes(e.min(e.mul(position, e.lanes), e.index(e.lanes)));
}

Value TileAccumulators::load(const Address &address, Value lanes) const {
  return lanes ? e.load(memory, {address.row, address.column}, lanes) : e.splat(0);
}

Emitter::Values TileAccumulators::load() const {
  Emitter::Values sums;
  Value lanes = validLanes(e.index(0));
  for (const Address &address : addresses)
    sums.push_back(load(address, lanes));
  return sums;
}

void TileAccumulators::store(ValueRange sums) const {
  for (auto [sum, address] : llvm::zip(sums, addresses))
    e.store(sum, memory, {address.row, address.column});
}

// LLVM does not promote masked loads to registers that live through a whole loop.
void TileAccumulators::update(Value k, llvm::function_ref<Value(size_t index, Value sum)> body) const {
  Value lanes = validLanes(k);
  for (auto [i, address] : llvm::enumerate(addresses))
    e.store(body(i, load(address, lanes)), memory, {address.row, address.column});
}

//===--- microkernels -------------------------------------------------------------------------------------------===//

void Microkernel::dequantize(const MatmulContext &, const TileOperands &) const {
  endByDefect("this microkernel has dequantized panels");
}

// Activations are quantized for one of the weights that they meet: other weights are converted to f32.
std::unique_ptr<const Microkernel> Microkernel::select(ShapedType x, ShapedType weight, const IsaTraits &traits) {
  const StorageFormat &format = elementFormat(weight);
  Type element = x.getElementType();
  if (!isQuantizedActivation(element))
    return makeF32Microkernel(format, traits);
  if (isa<FloatType>(element)) {
    bool inPairs = traits.bf16Pairs && weight.getElementType() == element && weight.getDimSize(1) % 2 == 0;
    return inPairs ? makeBf16Microkernel(format, traits) : makeF32Microkernel(format, traits);
  }
  if (!multipliesActivations(format, weight.getDimSize(1), getStorageFormat(element)))
    return makeF32Microkernel(format, traits);
  return findKQuantUnpacker(format.name) ? makeKQuantMicrokernel(format, traits) : makeInt8Microkernel(format, traits);
}

}  // namespace talc
