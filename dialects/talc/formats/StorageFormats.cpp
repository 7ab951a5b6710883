// SPDX-License-Identifier: Apache-2.0
// The table of storage formats.
#include "dialects/talc/formats/StorageFormat.h"

#include "dialects/Invariant.h"
#include "dialects/talc/TalcDialect.h"

#include "llvm/ADT/STLExtras.h"

#include <fmt/format.h>

#include <cstring>

using namespace mlir;

namespace talc {

// A file for each, or for those that share what they are made of.
extern const StorageFormat f32Format, f16Format, bf16Format;
extern const StorageFormat q8_0Format, q4_0Format, q4_1Format, q5_0Format, q5_1Format;
extern const StorageFormat q2_kFormat, q3_kFormat, q4_kFormat, q5_kFormat, q6_kFormat;
extern const StorageFormat iq4_nlFormat, iq4_xsFormat;
extern const StorageFormat mxfp4Format, nvfp4Format;
// Variants of one definition, all in its file.
extern const llvm::ArrayRef<StorageFormat> scaledFp4Formats, fp8Formats, groupedIntegerFormats, activationFormats;

// A function, not a constant: constants of other files may not be there yet when this file's are made.
static const std::vector<const StorageFormat *> &table() {
  static const std::vector<const StorageFormat *> all = [] {
    std::vector<const StorageFormat *> formats = {&f32Format,  &f16Format,    &bf16Format,   &q8_0Format,  &q6_kFormat,
                                                  &q5_kFormat, &q5_1Format,   &q5_0Format,   &q4_kFormat,  &q4_1Format,
                                                  &q4_0Format, &iq4_nlFormat, &iq4_xsFormat, &mxfp4Format, &nvfp4Format,
                                                  &q3_kFormat, &q2_kFormat};
    for (llvm::ArrayRef<StorageFormat> variants :
         {activationFormats, fp8Formats, groupedIntegerFormats, scaledFp4Formats})
      for (const StorageFormat &format : variants)
        formats.push_back(&format);
    return formats;
  }();
  return all;
}

llvm::ArrayRef<const StorageFormat *> storageFormats() {
  return table();
}

const StorageFormat *findStorageFormat(std::string_view name) {
  auto it = llvm::find_if(table(), [&](const StorageFormat *format) { return format->name == name; });
  return it == table().end() ? nullptr : *it;
}

const StorageFormat *getStorageFormat(Type element) {
  if (auto stored = dyn_cast<StoredType>(element))
    return stored.getFormat();
  auto it = llvm::find_if(
      table(), [&](const StorageFormat *format) { return format->type(element.getContext(), *format) == element; });
  return it == table().end() ? nullptr : *it;
}

bool isQuantizedActivation(Type element) {
  const StorageFormat *format = getStorageFormat(element);
  return element.isBF16() ||
         llvm::any_of(activationFormats, [&](const StorageFormat &rows) { return &rows == format; });
}

const StorageFormat &elementFormat(ShapedType type) {
  const StorageFormat *format = getStorageFormat(type.getElementType());
  require(format, "elements have a storage format");
  return *format;
}

int64_t storedBytes(ShapedType type) {
  int64_t values = 1;
  for (int64_t size : type.getShape())
    values *= ShapedType::isDynamic(size) ? 1 : size;
  return elementFormat(type).byteSize(values);
}

int64_t getPanelLanes(ShapedType type) {
  return type.getRank() == 3 ? type.getDimSize(2) : 1;
}

bool hasWholeBlocks(ShapedType type) {
  int64_t block = elementFormat(type).jointValues();
  return block == 1 || (type.getRank() >= 2 && type.getDimSize(1) % block == 0);
}

Type storedType(MLIRContext *context, const StorageFormat &format) {
  return StoredType::get(context, &format);
}

void interleaveBlocks(llvm::ArrayRef<BlockField> fields, const uint8_t *blocks, int64_t stride, int64_t lanes,
                      uint8_t *bytes) {
  for (const BlockField &field : fields)
    for (int64_t word = 0; word < field.words; ++word)
      for (int64_t lane = 0; lane < lanes; ++lane, bytes += field.wordBytes)
        std::memcpy(bytes, blocks + lane * stride + field.offset + word * field.wordBytes, field.wordBytes);
}

void extractBlock(llvm::ArrayRef<BlockField> fields, const uint8_t *bytes, int64_t lane, int64_t lanes,
                  uint8_t *block) {
  for (const BlockField &field : fields)
    for (int64_t word = 0; word < field.words; ++word)
      std::memcpy(block + field.offset + word * field.wordBytes,
                  bytes + field.offset * lanes + (word * lanes + lane) * field.wordBytes, field.wordBytes);
}

std::vector<std::string> formatNames() {
  std::vector<std::string> names;
  for (const StorageFormat *format : table())
    if (format->listed)
      names.emplace_back(format->name);
  return names;
}

std::string formatAlternatives(std::string_view last) {
  std::vector<std::string> names = formatNames();
  if (last.empty()) {
    std::string final = names.back();
    names.pop_back();
    return fmt::format("{} or {}", fmt::join(names, ", "), final);
  }
  return fmt::format("{} or {}", fmt::join(names, ", "), last);
}

}  // namespace talc
