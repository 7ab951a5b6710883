// SPDX-License-Identifier: Apache-2.0
// Reads and checks the header of a GGUF file.
//
// Layout: magic, version, number of tensors, number of keys; keys with typed values; for every tensor its name,
// dimensions, type, and offset in the data; padding; the data, where every tensor begins at a multiple of
// general.alignment.
#include "frontends/gguf/GgufFile.h"

#include "frontends/gguf/GgufReader.h"

#include "llvm/ADT/bit.h"

#include <fmt/format.h>

#include <charconv>
#include <cstdlib>
#include <set>

namespace talc {

using nlohmann::json;

constexpr uint64_t maxKeys = 65536, maxKey = 65535, maxList = 1 << 24, maxTensors = 1'000'000, maxName = 63,
                   maxRank = 4, maxAlignment = 1 << 20;
constexpr const char *alignmentKey = "general.alignment";

namespace {

enum ValueType : uint32_t { U8, I8, U16, I16, U32, I32, F32, Bool, Text, List, U64, I64, F64 };

class HeaderReader {
public:
  explicit HeaderReader(const OpenFile &file) : file(file), in(file), valuesLeft(maxListValues(file.storedBytes())) {}

  std::string problem() const { return in.failure(); }

  bool read(GgufFile &result) {
    uint64_t tensors = 0, keys = 0;
    return readCounts(tensors, keys) && readMetadata(keys, result) && readTensors(tensors, result) &&
           placeTensors(result);
  }

private:
  bool readCounts(uint64_t &tensors, uint64_t &keys) {
    constexpr uint32_t magic = 0x46554747, oldest = 2, newest = 3;
    if (file.size() < 4 || in.number<uint32_t>() != magic)
      return in.fail("does not begin with 'GGUF'");
    auto version = in.number<uint32_t>();
    tensors = in.number<uint64_t>();
    keys = in.number<uint64_t>();
    if (in.failed())
      return false;
    if (version != 0 && (version & 0xffff) == 0)
      return in.fail("is big-endian; talc reads little-endian files");
    if (version < oldest || version > newest)
      return in.fail(fmt::format("has version {}, expected {} or {}", version, oldest, newest));
    if (keys > maxKeys)
      return in.fail(fmt::format("has {} keys, expected at most {}", keys, maxKeys));
    if (tensors > maxTensors)
      return in.fail(fmt::format("has {} tensors, expected at most {}", tensors, maxTensors));
    return true;
  }

  //===--- metadata -----------------------------------------------------------------------------------------------===//

  bool readMetadata(uint64_t count, GgufFile &result) {
    for (uint64_t i = 0; i < count; ++i) {
      std::string key = in.text();
      if (in.failed())
        return false;
      if (key.empty() || key.size() > maxKey)
        return in.fail(fmt::format("has a key of {} bytes, expected 1 to {}", key.size(), maxKey));
      auto type = in.number<uint32_t>();
      json value = type == List ? readList(key) : readValue(type, key);
      if (in.failed())
        return false;
      if (!result.metadata.emplace(key, std::move(value)).second)
        return in.fail(fmt::format("has the key {} twice", quotedText(key)));
      if (key == alignmentKey && type != U32)
        return in.fail(fmt::format("key '{}' is not a u32", alignmentKey));
    }
    return readAlignment(result);
  }

  bool readAlignment(const GgufFile &result) {
    auto it = result.metadata.find(alignmentKey);
    if (it != result.metadata.end())
      alignment = it->second.get<uint64_t>();
    return (llvm::has_single_bit(alignment) && alignment <= maxAlignment) ||
           in.fail(
               fmt::format("key '{}' is {}, expected a power of two up to {}", alignmentKey, alignment, maxAlignment));
  }

  json readValue(uint32_t type, const std::string &key) {
    switch (type) {
    case U8:
      return in.number<uint8_t>();
    case I8:
      return in.number<int8_t>();
    case U16:
      return in.number<uint16_t>();
    case I16:
      return in.number<int16_t>();
    case U32:
      return in.number<uint32_t>();
    case I32:
      return in.number<int32_t>();
    case F32:
      return shortest(in.number<float>());
    case Bool:
      return readBool(key);
    case Text:
      return in.text();
    case U64:
      return in.number<uint64_t>();
    case I64:
      return in.number<int64_t>();
    case F64:
      return in.number<double>();
    default:
      in.fail(fmt::format("key {} has the unknown type {}", quotedText(key), type));
      return nullptr;
    }
  }

  static double shortest(float value) {
    char text[64];
    char *end = std::to_chars(text, text + sizeof(text), value).ptr;
    double result = value;
    std::from_chars(text, end, result);
    return result;
  }

  json readBool(const std::string &key) {
    auto value = in.number<uint8_t>();
    if (value > 1)
      in.fail(fmt::format("key {} is neither true nor false but {}", quotedText(key), value));
    return value == 1;
  }

  // Values take at least one byte each, which bounds the memory for a short file.
  json readList(const std::string &key) {
    auto type = in.number<uint32_t>();
    auto count = in.number<uint64_t>();
    json list = json::array();
    if (type == List)
      in.fail(fmt::format("key {} is a list of lists", quotedText(key)));
    else if (count > maxList || count > in.remaining())
      in.fail(fmt::format("key {} is a list of {} values, where {} bytes are left; expected at most {}",
                          quotedText(key), count, in.remaining(), maxList));
    else if (count > valuesLeft)
      in.fail(fmt::format("key {} is a list of {} values, more than a file that stores {} bytes may have",
                          quotedText(key), count, file.storedBytes()));
    valuesLeft -= std::min(valuesLeft, count);
    for (uint64_t i = 0; i < count && !in.failed(); ++i)
      list.push_back(readValue(type, key));
    return list;
  }

  //===--- tensors ------------------------------------------------------------------------------------------------===//

  bool readTensors(uint64_t count, GgufFile &result) {
    std::set<std::string> names;
    for (uint64_t i = 0; i < count; ++i) {
      GgufTensor tensor{in.text(), nullptr, {}, 0, 0};
      if (in.failed())
        return false;
      if (tensor.name.empty() || tensor.name.size() > maxName)
        return in.fail(
            fmt::format("has a tensor whose name has {} bytes, expected 1 to {}", tensor.name.size(), maxName));
      if (!names.insert(tensor.name).second)
        return in.fail(fmt::format("has the tensor {} twice", quotedText(tensor.name)));
      if (!readShape(tensor) || !readType(tensor))
        return false;
      result.tensors.push_back(std::move(tensor));
    }
    return true;
  }

  bool refuse(const GgufTensor &tensor, const std::string &what) {
    return in.fail(fmt::format("tensor {} {}", quotedText(tensor.name), what));
  }

  bool readShape(GgufTensor &tensor) {
    auto rank = in.number<uint32_t>();
    if (rank > maxRank)
      return refuse(tensor, fmt::format("has {} dimensions, expected at most {}", rank, maxRank));
    for (uint32_t i = 0; i < rank; ++i)
      tensor.shape.insert(tensor.shape.begin(), in.number<int64_t>());
    if (in.failed())
      return false;
    int64_t values = 1;
    for (int64_t size : tensor.shape)
      if (size <= 0 || __builtin_mul_overflow(values, size, &values))
        return refuse(tensor, fmt::format("has the impossible shape {}", shapeText(tensor.shape)));
    return true;
  }

  bool readType(GgufTensor &tensor) {
    auto number = in.number<uint32_t>();
    tensor.offset = in.number<uint64_t>();
    if (in.failed())
      return false;
    tensor.type = ggufType(number);
    if (!tensor.type)
      return refuse(tensor, fmt::format("has the unknown type {}", number));
    int64_t blocks = 1, row = tensor.shape.empty() ? 1 : tensor.shape.back(), bytes = 0;
    if (row % tensor.type->blockValues != 0)
      return refuse(tensor, fmt::format("has rows of {} values, expected whole blocks of {} ({})", row,
                                        tensor.type->blockValues, tensor.type->name));
    for (int64_t size : tensor.shape)
      blocks *= size;
    blocks /= tensor.type->blockValues;
    if (__builtin_mul_overflow(blocks, tensor.type->blockBytes, &bytes))
      return refuse(tensor, fmt::format("has the shape {}, whose bytes exceed 2^63", shapeText(tensor.shape)));
    tensor.bytes = static_cast<uint64_t>(bytes);
    return true;
  }

  // Makes offsets count from the start of the file.
  bool placeTensors(GgufFile &result) {
    uint64_t data = aligned(in.position()), end = 0;
    for (GgufTensor &tensor : result.tensors) {
      if (tensor.offset != end)
        return refuse(tensor,
                      fmt::format("begins at data byte {}, expected {} (no holes and no overlap)", tensor.offset, end));
      if (data > file.size() || end > file.size() - data || tensor.bytes > file.size() - data - end)
        return refuse(tensor, "ends behind the end of the file; the file is truncated");
      tensor.offset += data;
      end = aligned(end + tensor.bytes);
    }
    return true;
  }

  // The maximum offset in a file, so that nothing overflows.
  uint64_t aligned(uint64_t place) const { return (place + alignment - 1) / alignment * alignment; }

  const OpenFile &file;
  GgufReader in;
  uint64_t alignment = 32;
  uint64_t valuesLeft;  // of all lists
};

}  // namespace

std::optional<GgufFile> readGguf(const OpenFile &file, const std::string &name, Diagnostics &diagnostics) {
  auto refuse = [&](const std::string &reason) {
    diagnostics.error(ImportError::TensorFile, fmt::format("{}: {}", name, reason));
    return std::nullopt;
  };
  if (file.isLfsPointer())
    return refuse(lfsPointerText);
  HeaderReader reader(file);
  GgufFile result;
  if (!reader.read(result))
    return refuse(reader.problem());
  return result;
}

}  // namespace talc
