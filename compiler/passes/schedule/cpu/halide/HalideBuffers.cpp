// SPDX-License-Identifier: Apache-2.0
// Words are stored as numbers of type index, which has 64 bits on processors.
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
    begin(firstWords[number], rank);
}

// Functions made without assertions do not look at the type.
void HalideBuffers::begin(int64_t first, int64_t rank) {
  Value zero = e.index(0), kind = e.index(rank * upper), dimensions = structAt(first + headWords);
  for (auto [word, value] : llvm::enumerate(Emitter::Values{zero, zero, zero, zero, kind, dimensions, zero}))
    if (word != addressWord)
      put(value, first + static_cast<int64_t>(word));
}

void HalideBuffers::put(Value value, int64_t word) {
  memref::StoreOp::create(e.b, e.loc, value, words, e.index(word));
}

// What a type does not say of its buffers, they do.
HalideBuffers::Places HalideBuffers::placesOf(Emitter &e, TypedValue<MemRefType> memory) {
  auto [strides, offset] = memory.getType().getStridesAndOffset();
  memref::ExtractStridedMetadataOp told;
  if (!haveKnownPlaces(memory.getType()))
    told = memref::ExtractStridedMetadataOp::create(e.b, e.loc, memory);
  Places places{{}, ShapedType::isDynamic(offset) ? told.getOffset() : e.index(offset)};
  for (auto [i, stride] : llvm::enumerate(strides))
    places.strides.push_back(ShapedType::isDynamic(stride) ? told.getStrides()[i] : e.index(stride));
  return places;
}

Value HalideBuffers::addressOf(TypedValue<MemRefType> memory, ValueRange at) {
  Places places = placesOf(e, memory);
  Value element = places.offset;
  for (auto [index, stride] : llvm::zip_equal(at, places.strides))
    element = e.add(element, e.mul(index, stride));
  Value base = memref::ExtractAlignedPointerAsIndexOp::create(e.b, e.loc, memory);
  return e.add(base, e.mul(element, elementFormat(memory.getType()).blockBytes));
}

Value HalideBuffers::structAt(int64_t word) {
  return e.add(memref::ExtractAlignedPointerAsIndexOp::create(e.b, e.loc, words), word * 8);
}

Value HalideBuffers::fill(size_t number, TypedValue<MemRefType> memory, ValueRange begin,
                          ArrayRef<Dimension> dimensions) {
  describe(number, dimensions);
  return place(number, memory, begin);
}

void HalideBuffers::describe(size_t number, ArrayRef<Dimension> dimensions) {
  for (auto [i, dimension] : llvm::enumerate(dimensions)) {
    int64_t word = firstWords[number] + headWords + dimensionWords * static_cast<int64_t>(i);
    put(e.mul(dimension.extent, upper), word);
    put(dimension.stride, word + 1);
  }
}

Value HalideBuffers::place(size_t number, TypedValue<MemRefType> memory, ValueRange begin) {
  put(addressOf(memory, begin), firstWords[number] + addressWord);
  return structAt(firstWords[number]);
}

bool haveKnownPlaces(MemRefType memory) {
  auto [strides, offset] = memory.getStridesAndOffset();
  return !ShapedType::isDynamic(offset) && llvm::none_of(strides, ShapedType::isDynamic);
}

}  // namespace talc
