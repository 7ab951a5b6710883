// SPDX-License-Identifier: Apache-2.0
// How values are stored in weights and states: one description for each format, and the table of all. No header of
// MLIR.
//
// A format stores `blockValues` neighbours of a row in `blockBytes` bytes; plain numbers are blocks of one value. Rows
// that lie side by side in lanes (the panels of #talc.pack) have their blocks side by side, too:
//
//   values [blocks, blockValues, lanes]   <->   bytes [blocks, lanes * blockBytes]
//
// A block consists of fields, each of some words of one size. In lanes, the words of a field lie side by side: word 0
// of all lanes, word 1 of all lanes, and then the next field; of one lane that is the block itself. A format stands in
// IR as an element type: f32, f16 and bf16 as MLIR's own, formats of blocks as !talc.stored<name>. Shapes always count
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

// Of a block, from byte `offset` on.
struct BlockField {
  int64_t offset, words, wordBytes;
};

// A block as a checkpoint has it: levels and scales in tables of their own. What each is, is the format's.
struct BlockParts {
  llvm::ArrayRef<int32_t> levels;       // of every value, or its code
  int32_t zero;                         // the level of zero
  llvm::ArrayRef<float> scales;         // of every `scaleValues` values
  llvm::ArrayRef<uint32_t> scaleCodes;  // the bits that they are stored in
  float factor;                         // of all scales
};

struct StorageFormat {
  std::string_view name;  // in options, in IR, in reports
  int64_t blockValues, blockBytes;
  bool exact;  // its bytes are those of the f32 themselves

  // The element type that stands for it; of a format of blocks `storedType`.
  mlir::Type (*type)(mlir::MLIRContext *context, const StorageFormat &format);
  // Whole blocks of `lanes` lanes, `count` values together. `bytes` may be unaligned.
  void (*decode)(const uint8_t *bytes, int64_t count, int64_t lanes, float *values);
  // Rounds as the format defines it, numbers to the nearest; false if a finite value became infinite, or if a block has
  // a value that is no finite number.
  bool (*encode)(const float *values, int64_t count, int64_t lanes, uint8_t *bytes);

  llvm::ArrayRef<BlockField> fields = {};  // of a format of blocks
  // Whether messages and completions list it; the others are for checkpoints that need them.
  bool listed = true;
  // How many values share a scale: of rounded rows, where several blocks may have the same one, and of a format that
  // checkpoints' levels and scales are stored in as they are; what makes a block of these.
  int64_t scaleValues = 0;
  void (*assemble)(const BlockParts &parts, uint8_t *block) = nullptr;
  // Whether values are small integers times scales, which kernels may multiply by rounded activations as integers.
  bool integers = false;
  // Whether a value is the upper half of its f32, so that a shift and a mask widen two neighbours.
  bool isUpperHalf = false;
  // Of whole blocks of a row, whose mean square is that of all its values: rounds them so that errors count by the
  // importance of their columns. Null: such numbers change nothing.
  bool (*encodeByImportance)(const float *values, int64_t count, const float *importance, float meanSquare,
                             uint8_t *bytes) = nullptr;

  // Values that are rounded together: a block, or several.
  int64_t jointValues() const { return std::max(blockValues, scaleValues); }
  // Of whole blocks.
  int64_t byteSize(int64_t values) const { return values / blockValues * blockBytes; }
  // Values in a row of `lanes` lanes that cannot be told apart: the lanes' blocks, or one plain number.
  int64_t unit(int64_t lanes) const { return blockValues == 1 ? 1 : blockValues * lanes; }
};

using FormatRef = const StorageFormat *;

// A block of only these bytes decodes to NaN in every format: it stands for values that the format cannot hold.
constexpr uint8_t noNumber = 0xff;

// All formats, in the order in which they are listed to the user.
llvm::ArrayRef<const StorageFormat *> storageFormats();

// Whether an element type is that of rounded activations: integers with their sums (RoundedRows.h), or bf16.
bool isQuantizedActivation(mlir::Type element);

// Null if there is none.
const StorageFormat *findStorageFormat(std::string_view name);
const StorageFormat *getStorageFormat(mlir::Type element);

// Of a weight or a buffer, whose elements are known to have a format.
const StorageFormat &elementFormat(mlir::ShapedType type);
// The bytes of a weight, or of a buffer; a dimension that is not known counts as one.
int64_t storedBytes(mlir::ShapedType type);
// Of panels [panels, depth, lanes] the lanes, else one.
int64_t getPanelLanes(mlir::ShapedType type);
// Whether rows are whole blocks.
bool hasWholeBlocks(mlir::ShapedType type);

// !talc.stored<name>
mlir::Type storedType(mlir::MLIRContext *context, const StorageFormat &format);

// One block of each lane, `stride` bytes apart, as it lies in lanes.
void interleaveBlocks(llvm::ArrayRef<BlockField> fields, const uint8_t *blocks, int64_t stride, int64_t lanes,
                      uint8_t *bytes);
// One lane's block of those.
void extractBlock(llvm::ArrayRef<BlockField> fields, const uint8_t *bytes, int64_t lane, int64_t lanes, uint8_t *block);

// For options and messages; "f32, f16 or bf16", with `last` as one more alternative.
std::vector<std::string> formatNames();
std::string formatAlternatives(std::string_view last = {});

}  // namespace talc
