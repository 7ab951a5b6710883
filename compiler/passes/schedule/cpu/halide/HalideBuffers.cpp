// SPDX-License-Identifier: Apache-2.0
// Words are stored as values of type index, which has 64 bits on CPUs.
#include "compiler/passes/schedule/cpu/halide/HalideBuffers.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;

namespace talc {

static constexpr int64_t headWords = 7, addressWord = 2, dimensionWords = 2, upper = int64_t(1) << 32;

HalideBuffers::HalideBuffers(Emitter &e, ArrayRef<int64_t> ranks) : e(e) {
  int64_t count = 0;
  for (int64_t rank : ranks) {
    firstWords.push_back(count);
    count += headWords + dimensionWords * rank;
  }
  words = memref::AllocaOp::create(e.b, e.loc, MemRefType::get({count}, e.b.getIndexType()));
  for (auto [number, rank] : llvm::enumerate(ranks))
    writeHeader(firstWords[number], rank);
}

// The type stays zero: functions that are made without assertions do not read it.
void HalideBuffers::writeHeader(int64_t first, int64_t rank) {
  Value zero = e.index(0), kind = e.index(rank * upper), dimensions = wordAddress(first + headWords);
  for (auto [word, value] : llvm::enumerate(Emitter::Values{zero, zero, zero, zero, kind, dimensions, zero}))
    if (word != addressWord)
      store(value, first + static_cast<int64_t>(word));
}

void HalideBuffers::store(Value value, int64_t word) {
  memref::StoreOp::create(e.b, e.loc, value, words, e.index(word));
}

// Strides and offset that are not part of the type come from the buffer's descriptor.
HalideBuffers::Layout HalideBuffers::getLayout(Emitter &e, TypedValue<MemRefType> memory) {
  auto [strides, offset] = memory.getType().getStridesAndOffset();
  memref::ExtractStridedMetadataOp descriptor;
  if (!hasStaticLayout(memory.getType()))
    descriptor = memref::ExtractStridedMetadataOp::create(e.b, e.loc, memory);
  Layout layout{{}, ShapedType::isDynamic(offset) ? descriptor.getOffset() : e.index(offset)};
  for (auto [i, stride] : llvm::enumerate(strides))
    layout.strides.push_back(ShapedType::isDynamic(stride) ? descriptor.getStrides()[i] : e.index(stride));
  return layout;
}

Value HalideBuffers::elementAddress(TypedValue<MemRefType> memory, ValueRange at) {
  Layout layout = getLayout(e, memory);
  Value element = layout.offset;
  for (auto [i, stride] : llvm::zip_equal(at, layout.strides))
    element = e.add(element, e.mul(i, stride));
  Value base = memref::ExtractAlignedPointerAsIndexOp::create(e.b, e.loc, memory);
  return e.add(base, e.mul(element, elementFormat(memory.getType()).blockBytes));
}

Value HalideBuffers::wordAddress(int64_t word) {
  return e.add(memref::ExtractAlignedPointerAsIndexOp::create(e.b, e.loc, words), word * 8);
}

Value HalideBuffers::fill(size_t index, TypedValue<MemRefType> memory, ValueRange begin,
                          ArrayRef<Dimension> dimensions) {
  describe(index, dimensions);
  return setAddress(index, memory, begin);
}

void HalideBuffers::describe(size_t index, ArrayRef<Dimension> dimensions) {
  for (auto [i, dimension] : llvm::enumerate(dimensions)) {
    int64_t word = firstWords[index] + headWords + dimensionWords * static_cast<int64_t>(i);
    store(e.mul(dimension.extent, upper), word);
    store(dimension.stride, word + 1);
  }
}

Value HalideBuffers::setAddress(size_t index, TypedValue<MemRefType> memory, ValueRange begin) {
  store(elementAddress(memory, begin), firstWords[index] + addressWord);
  return wordAddress(firstWords[index]);
}

bool hasStaticLayout(MemRefType memory) {
  auto [strides, offset] = memory.getStridesAndOffset();
  return !ShapedType::isDynamic(offset) && llvm::none_of(strides, ShapedType::isDynamic);
}

}  // namespace talc
