// SPDX-License-Identifier: Apache-2.0
// Finds and checks the tensors of a quantized weight, and reads those that have to be looked into.
#include "frontends/huggingface/quantized/QuantizedParts.h"

#include "dialects/talc/formats/SmallFloats.h"
#include "frontends/ModelDirectory.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringRef.h"

#include <fmt/format.h>

#include <cmath>

namespace talc {

using Kind = CodeTable::Kind;

static int64_t product(const std::vector<int64_t> &shape) {
  int64_t result = 1;
  for (int64_t size : shape)
    result *= size;
  return result;
}

QuantizedParts::QuantizedParts(std::string weight, const std::vector<int64_t> &shape, const Lookup &lookup,
                               const ModelDirectory &directory, Diagnostics &diagnostics)
    : rows(shape.empty() ? 1 : product(shape) / std::max<int64_t>(1, shape.back())),
      columns(shape.empty() ? 1 : shape.back()), diagnostics(diagnostics), weight(std::move(weight)),
      isSingle(shape.size() == 2), lookup(lookup), directory(directory) {}

std::string QuantizedParts::partName(std::string_view suffix) const {
  bool replaces = !suffix.empty() && suffix.front() == '.';
  return (replaces ? module() : weight) + std::string(suffix);
}

std::string QuantizedParts::module() const {
  llvm::StringRef base = weight;
  base.consume_back(".weight");
  return base.str();
}

const CheckpointTensor *QuantizedParts::find(std::string_view suffix) const {
  return lookup(partName(suffix));
}

const CheckpointTensor *QuantizedParts::need(std::string_view suffix, std::initializer_list<std::string_view> types,
                                             std::vector<std::vector<int64_t>> shapes) {
  const CheckpointTensor *tensor = find(suffix);
  if (!tensor) {
    diagnostics.error(ImportError::TensorMissing,
                      fmt::format("{}: quantized weight {} lacks tensor {}", directory.path(), quotedText(weight),
                                  quotedText(partName(suffix))));
    return nullptr;
  }
  const SafetensorsEntry &entry = tensor->entry;
  if (!llvm::is_contained(types, entry.type)) {
    diagnostics.error(ImportError::TensorType,
                      fmt::format("{}: tensor {} has dtype {}, expected {}", tensor->file, quotedText(entry.name),
                                  entry.type, fmt::join(types, " or ")));
    return nullptr;
  }
  if (!llvm::is_contained(shapes, entry.shape)) {
    auto texts = llvm::map_range(shapes, [](const std::vector<int64_t> &shape) { return shapeText(shape); });
    diagnostics.error(ImportError::TensorShape,
                      fmt::format("{}: tensor {} has shape {}, expected {}", tensor->file, quotedText(entry.name),
                                  shapeText(entry.shape), fmt::join(texts, " or ")));
    return nullptr;
  }
  usedTensors.push_back(tensor);
  return tensor;
}

void QuantizedParts::refuse(const CheckpointTensor &tensor, const std::string &reason) const {
  diagnostics.error(ImportError::TensorValue,
                    fmt::format("{}: tensor {} {}", tensor.file, quotedText(tensor.entry.name), reason));
}

void QuantizedParts::refuse(const std::string &reason) const {
  diagnostics.error(ImportError::TensorShape,
                    fmt::format("{}: quantized weight {} {}", directory.path(), quotedText(weight), reason));
}

//===--- tables -------------------------------------------------------------------------------------------------===//

std::optional<Kind> numberKind(std::string_view type) {
  static constexpr std::pair<std::string_view, Kind> kinds[] = {
      {"F16", Kind::F16}, {"BF16", Kind::BF16}, {"F32", Kind::F32}, {"F8_E4M3", Kind::E4M3}, {"F8_E8M0", Kind::E8M0}};
  for (auto [name, kind] : kinds)
    if (name == type)
      return kind;
  return std::nullopt;
}

static int64_t bitWidth(Kind kind) {
  return kind == Kind::F32 ? 32 : kind == Kind::F16 || kind == Kind::BF16 ? 16 : kind == Kind::E2M1 ? 4 : 8;
}

CodeTable QuantizedParts::codes(const CheckpointTensor &tensor, Kind kind, int64_t bits, int64_t stride) {
  return {tensor.file, static_cast<int64_t>(tensor.entry.offset), kind, bits, stride};
}

CodeTable QuantizedParts::floats(const CheckpointTensor &tensor, int64_t columns, bool transposed) {
  Kind kind = numberKind(tensor.entry.type).value_or(Kind::E8M0);  // U8
  CodeTable table = codes(tensor, kind, bitWidth(kind), columns * bitWidth(kind));
  table.transposed = transposed;
  return table;
}

FormatRef scaleFormat(const CheckpointTensor &scales) {
  return safetensorsFormat(scales.entry.type);
}

FormatRef QuantizedParts::findBlockFormat(std::string_view kind, int64_t group, FormatRef rounded) const {
  for (int64_t size : {256, 128, 64, 32})
    if (group % size == 0 && columns % size == 0)
      if (FormatRef format = findStorageFormat(fmt::format("{}_{}_{}", kind, size, rounded->name)))
        return format;
  return rounded;
}

//===--- values -------------------------------------------------------------------------------------------------===//

std::vector<uint32_t> QuantizedParts::words(const CheckpointTensor &tensor) const {
  constexpr uint64_t maxBytes = uint64_t(1) << 30;
  std::vector<uint32_t> result;
  OpenFile file = directory.openFile(tensor.file, diagnostics);
  if (tensor.entry.bytes <= maxBytes)
    result.resize(tensor.entry.bytes / sizeof(uint32_t));
  if (!result.empty() && file && file.read(tensor.entry.offset, result.data(), result.size() * sizeof(uint32_t)))
    return result;
  refuse(tensor, "cannot be read, or is too large");
  return {};
}

static float decode(Kind kind, const uint8_t *bytes) {
  uint32_t word = 0;
  std::memcpy(&word, bytes, bitWidth(kind) / 8);
  switch (kind) {
  case Kind::F32:
    return floatFromBits(word);
  case Kind::F16:
    return halfToFloat(static_cast<uint16_t>(word));
  case Kind::BF16:
    return bf16ToFloat(static_cast<uint16_t>(word));
  case Kind::E4M3:
    return e4m3ToFloat(word);
  default:
    return e8m0ToFloat(word);
  }
}

// Calls visit(number) for all numbers of a tensor until it returns false; false if the tensor cannot be read.
static bool eachNumber(const OpenFile &file, const SafetensorsEntry &entry, Kind kind,
                       const std::function<bool(float)> &visit) {
  constexpr uint64_t chunk = 1 << 16;
  const uint64_t size = bitWidth(kind) / 8;
  std::vector<uint8_t> bytes(chunk);
  for (uint64_t done = 0; done < entry.bytes;) {
    uint64_t count = std::min(chunk, entry.bytes - done);
    if (!file.read(entry.offset + done, bytes.data(), count))
      return false;
    for (uint64_t at = 0; at + size <= count; at += size)
      if (!visit(decode(kind, bytes.data() + at)))
        return true;
    done += count;
  }
  return true;
}

std::string QuantizedParts::bytes(const CheckpointTensor &tensor, uint64_t limit) const {
  OpenFile file = directory.openFile(tensor.file, diagnostics);
  std::string result(tensor.entry.bytes <= limit ? tensor.entry.bytes : 0, '\0');
  if (!result.empty() && file && file.read(tensor.entry.offset, result.data(), result.size()))
    return result;
  refuse(tensor, "cannot be read, or is too large");
  return {};
}

std::vector<float> QuantizedParts::numbers(const CheckpointTensor &tensor, Kind kind) const {
  std::vector<float> result;
  OpenFile file = directory.openFile(tensor.file, diagnostics);
  bool isRead = file && eachNumber(file, tensor.entry, kind, [&](float number) {
                  result.push_back(number);
                  return true;
                });
  if (!isRead)
    refuse(tensor, "cannot be read");
  return isRead ? result : std::vector<float>();
}

bool QuantizedParts::checkScales(const CheckpointTensor &tensor, Kind kind, Sign sign) const {
  OpenFile file = directory.openFile(tensor.file, diagnostics);
  std::optional<float> wrong;
  bool isRead = file && eachNumber(file, tensor.entry, kind, [&](float scale) {
                  bool good = std::isfinite(scale) && (sign == Sign::Any || !std::signbit(scale)) &&
                              (sign != Sign::Positive || scale > 0);
                  if (!good)
                    wrong = scale;
                  return good;
                });
  if (!isRead)
    refuse(tensor, "cannot be read");
  else if (wrong)
    refuse(tensor, fmt::format("holds the scale {}, expected {}", *wrong,
                               sign == Sign::Any           ? "finite numbers"
                               : sign == Sign::NotNegative ? "finite numbers that are not negative"
                                                           : "a finite number > 0"));
  return isRead && !wrong;
}

}  // namespace talc
