// SPDX-License-Identifier: Apache-2.0
// Storage formats of weights and KV caches: a description of each, and the table of all. It includes no header of MLIR.
//
// A format stores `blockValues` neighbors of a row in a quant block of `blockBytes` bytes; floats are blocks of one
// value. Rows that are the lanes of a panel (#talc.pack) have their blocks interleaved:
//
//   values [blocks, blockValues, lanes]   <->   bytes [blocks, lanes * blockBytes]
//
// A block consists of fields, each with a number of words of one size. In a panel, the words of a field are adjacent:
// word 0 of all lanes, word 1 of all lanes, and then the next field; with one lane that is the block itself. In IR a
// format is an element type: f32, f16 and bf16 of MLIR, other formats as !talc.stored<name>. Shapes always count
// values.
#pragma once

#include "llvm/ADT/ArrayRef.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace mlir {
class MLIRContext;
class ShapedType;
class Type;
}  // namespace mlir

namespace talc {

// A field of a block, which begins at byte `offset`.
struct BlockField {
  int64_t offset, words, wordBytes;
};

// A block as a checkpoint stores it, in separate tables of codes and scales. Their types depend on the format.
struct BlockParts {
  llvm::ArrayRef<int32_t> codes;        // of every value
  int32_t zeroPoint;                    // the code of zero
  llvm::ArrayRef<float> scales;         // one for every `scaleValues` values
  llvm::ArrayRef<uint32_t> scaleCodes;  // the bits that they are stored in
  float factor;                         // of all scales
};

struct StorageFormat {
  std::string_view name;  // in options, in IR, in reports
  int64_t blockValues, blockBytes;
  bool exact;  // it stores f32 as they are

  // The element type of the format in IR; `storedType` for formats of quant blocks.
  mlir::Type (*type)(mlir::MLIRContext *context, const StorageFormat &format);
  // Decodes whole blocks of `lanes` lanes, `count` values in all. `bytes` may be unaligned.
  void (*decode)(const uint8_t *bytes, int64_t count, int64_t lanes, float *values);
  // Quantizes as the format defines it, floats to the nearest value; false if a finite value became infinite, or if a
  // block has a value that is not finite.
  bool (*encode)(const float *values, int64_t count, int64_t lanes, uint8_t *bytes);

  llvm::ArrayRef<BlockField> fields = {};  // of a quant block
  // Whether messages and completions list it; the others are for checkpoints that need them.
  bool listed = true;
  // The number of values that share a scale, for quantized activations, where several blocks may have the same one, and
  // for formats that store codes and scales of a checkpoint unchanged; `assemble` makes a block of these.
  int64_t scaleValues = 0;
  void (*assemble)(const BlockParts &parts, uint8_t *block) = nullptr;
  // Whether values are integer codes with scales, which kernels may multiply by quantized activations as integers.
  bool integers = false;
  // Whether a value is the upper half of its f32, so that a shift and a mask convert two neighbors.
  bool isUpperHalf = false;
  // Quantizes whole blocks of a row such that errors are weighted by the importance of their columns; `meanSquare` is
  // that of all values of the row. Null if the importance makes no difference.
  bool (*encodeByImportance)(const float *values, int64_t count, const float *importance, float meanSquare,
                             uint8_t *bytes) = nullptr;
  // Whether a size such as 4.5bit may choose it, if it is listed. Others are for those who name them: the weights of a
  // size must not change because talc learned a format.
  bool forSizes = true;

  // The number of values that are quantized together: those of one block, or several.
  int64_t jointValues() const { return std::max(blockValues, scaleValues); }
  // The bytes of `values` values, which are whole blocks.
  int64_t byteSize(int64_t values) const { return values / blockValues * blockBytes; }
  // The number of values of a panel with `lanes` lanes that can only be decoded together.
  int64_t unit(int64_t lanes) const { return blockValues == 1 ? 1 : blockValues * lanes; }
};

using FormatRef = const StorageFormat *;

// A block of only these bytes decodes to NaN in every format. It marks values that the format cannot represent.
constexpr uint8_t noNumber = 0xff;

// All formats, in the order in which they are listed to the user.
llvm::ArrayRef<const StorageFormat *> storageFormats();

// Whether an element type is one of quantized activations: int8 codes with sums (QuantizedActivations.h), or bf16.
bool isQuantizedActivation(mlir::Type element);

// They return null if there is no such format.
const StorageFormat *findStorageFormat(std::string_view name);
const StorageFormat *getStorageFormat(mlir::Type element);

// The format of a weight or a buffer, which must have one.
const StorageFormat &elementFormat(mlir::ShapedType type);
// The bytes of a weight or a buffer; a dynamic dimension counts as one.
int64_t storedBytes(mlir::ShapedType type);
// The lanes of panels [panels, depth, lanes]; 1 for other shapes.
int64_t getPanelLanes(mlir::ShapedType type);
// Whether rows consist of whole blocks.
bool hasWholeBlocks(mlir::ShapedType type);

// !talc.stored<name>
mlir::Type storedType(mlir::MLIRContext *context, const StorageFormat &format);

// Interleaves one block of each lane; the blocks are `stride` bytes apart.
void interleaveBlocks(llvm::ArrayRef<BlockField> fields, const uint8_t *blocks, int64_t stride, int64_t lanes,
                      uint8_t *bytes);
// Extracts the block of one lane from interleaved blocks.
void extractBlock(llvm::ArrayRef<BlockField> fields, const uint8_t *bytes, int64_t lane, int64_t lanes, uint8_t *block);

// For options and messages; "f32, f16 or bf16", with `last` as another alternative.
std::vector<std::string> formatNames();
std::string formatAlternatives(std::string_view last = {});

}  // namespace talc
