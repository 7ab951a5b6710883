// SPDX-License-Identifier: Apache-2.0
// Reads and checks the header of a safetensors file.
//
// Layout: u64 length of the header, the header, the tensors' data. The header is a JSON object that maps names to
// {"dtype": "F32", "shape": [2, 3], "data_offsets": [begin, end]}, offsets counting from the end of the header. It is
// read as a stream of JSON events, so that memory is bounded by what is kept.
#include "frontends/huggingface/SafetensorsFile.h"

#include "frontends/Json.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <unordered_set>

namespace talc {

constexpr uint64_t maxHeader = 100'000'000, maxTensors = 1'000'000, maxName = 65536, maxRank = 16;

namespace {

struct DataType {
  std::string_view name;
  uint64_t bits;                 // of a value
  std::string_view format = {};  // in which talc stores such values, if it does
};

}  // namespace

static constexpr DataType dataTypes[] = {
    {"F32", 32, "f32"}, {"F16", 16, "f16"}, {"BF16", 16, "bf16"}, {"BOOL", 8},        {"U8", 8},          {"I8", 8},
    {"F8_E5M2", 8},     {"F8_E4M3", 8},     {"F8_E8M0", 8},       {"F8_E4M3FNUZ", 8}, {"F8_E5M2FNUZ", 8}, {"I16", 16},
    {"U16", 16},        {"I32", 32},        {"U32", 32},          {"C64", 64},        {"F64", 64},        {"I64", 64},
    {"U64", 64},        {"F4", 4},          {"F6_E2M3", 6},       {"F6_E3M2", 6}};

// Returns null for an unknown type.
static const DataType *dataType(std::string_view name) {
  auto *match = std::find_if(std::begin(dataTypes), std::end(dataTypes), [&](auto &type) { return type.name == name; });
  return match == std::end(dataTypes) ? nullptr : match;
}

const StorageFormat *safetensorsFormat(std::string_view dtype) {
  const DataType *type = dataType(dtype);
  return type ? findStorageFormat(type->format) : nullptr;
}

std::string safetensorsFormats() {
  std::vector<std::string_view> names;
  for (const DataType &type : dataTypes)
    if (!type.format.empty())
      names.push_back(type.name);
  std::string_view last = names.back();
  names.pop_back();
  return fmt::format("{} or {}", fmt::join(names, ", "), last);
}

namespace {

// Follows the JSON of a header. States: before the object, in it, in a tensor, in one of a tensor's lists, in
// __metadata__.
class HeaderReader : public nlohmann::json_sax<nlohmann::json> {
public:
  explicit HeaderReader(std::string_view text) : text(text) {}

  std::vector<SafetensorsEntry> entries;
  std::string problem;

  bool null() override { return unexpected("null"); }
  bool boolean(bool) override { return unexpected("a boolean"); }
  bool number_integer(number_integer_t) override { return unexpected("a negative number"); }
  bool number_float(number_float_t, const string_t &) override {
    return unexpected("a fraction or too large a number");
  }
  bool binary(binary_t &) override { return unexpected("binary data"); }

  bool number_unsigned(number_unsigned_t value) override {
    if (place == Place::Shape)
      return addDimension(value);
    if (place != Place::Offsets)
      return unexpected("a number");
    if (offsetCount == 2)
      return fail("has more than two data_offsets");
    offsets[offsetCount++] = value;
    return true;
  }

  bool string(string_t &value) override {
    if (place == Place::Metadata)
      return true;
    if (place != Place::Tensor || field != "dtype")
      return unexpected("a string");
    entries.back().type = value;
    return true;
  }

  bool key(string_t &name) override {
    if (place == Place::Header)
      return startTensor(name);
    if (place == Place::Metadata)
      return metadataKeys.insert(name).second || fail(fmt::format("has the key {} twice", quotedText(name)));
    field = name;
    int keyBit = name == "dtype" ? 1 : name == "shape" ? 2 : name == "data_offsets" ? 4 : 0;
    if (keyBit == 0)
      return fail(fmt::format("has the unknown key {}", quotedText(name)));
    if (fields & keyBit)
      return fail(fmt::format("has the key {} twice", quotedText(name)));
    fields |= keyBit;
    return true;
  }

  bool start_object(size_t) override {
    if (place == Place::Outside)
      return enter(Place::Header);
    if (place == Place::Header)
      return enter(current == "__metadata__" ? Place::Metadata : Place::Tensor);
    return unexpected("an object");
  }

  bool end_object() override {
    if (place == Place::Tensor && !endTensor())
      return false;
    return enter(place == Place::Header ? Place::Outside : Place::Header);
  }

  bool start_array(size_t) override {
    if (place == Place::Tensor && field == "shape")
      return enter(Place::Shape);
    if (place == Place::Tensor && field == "data_offsets")
      return enter(Place::Offsets);
    return unexpected("a list");
  }

  bool end_array() override { return enter(Place::Tensor); }

  bool parse_error(size_t position, const std::string &, const nlohmann::detail::exception &) override {
    problem = "the header " + jsonErrorText(text, position);
    return false;
  }

private:
  enum class Place { Outside, Header, Tensor, Shape, Offsets, Metadata };

  bool enter(Place next) {
    place = next;
    return true;
  }

  bool fail(std::string_view what) {
    problem = place == Place::Header || place == Place::Outside
                  ? fmt::format("the header {}", what)
                  : fmt::format("tensor {} {}", quotedText(current), what);
    return false;
  }

  bool unexpected(std::string_view what) { return fail(fmt::format("holds {} where the format has none", what)); }

  bool startTensor(const std::string &name) {
    if (name.size() > maxName)
      return fail(fmt::format("has a name of {} bytes, expected at most {}", name.size(), maxName));
    if (!names.insert(name).second)
      return fail(fmt::format("has the key {} twice", quotedText(name)));
    current = name;
    if (name == "__metadata__")
      return true;
    if (entries.size() == maxTensors)
      return fail(fmt::format("names more than {} tensors", maxTensors));
    entries.push_back({name, {}, {}, 0, 0});
    fields = 0;
    offsetCount = 0;
    return true;
  }

  bool addDimension(uint64_t value) {
    if (entries.back().shape.size() == maxRank)
      return fail(fmt::format("has more than {} dimensions", maxRank));
    if (value > INT64_MAX)
      return fail("has a dimension beyond 2^63");
    entries.back().shape.push_back(static_cast<int64_t>(value));
    return true;
  }

  bool endTensor() {
    SafetensorsEntry &entry = entries.back();
    if (fields != 7 || entry.type.empty() || offsetCount != 2)
      return fail("lacks dtype, shape or data_offsets [begin, end]");
    if (offsets[0] > offsets[1])
      return fail(fmt::format("has data_offsets [{}, {}], whose end lies before the begin", offsets[0], offsets[1]));
    entry.offset = offsets[0];
    entry.bytes = offsets[1] - offsets[0];
    return checkSize(entry);
  }

  bool checkSize(const SafetensorsEntry &entry) {
    const DataType *type = dataType(entry.type);
    if (!type)
      return fail(fmt::format("has the unknown dtype {}", quotedText(entry.type)));
    uint64_t bits = type->bits;
    bool overflow = false;
    for (int64_t size : entry.shape)
      overflow |= __builtin_mul_overflow(bits, static_cast<uint64_t>(size), &bits);
    if (overflow)
      return fail(fmt::format("has the shape {}, whose size in bits exceeds 2^64", shapeText(entry.shape)));
    if (bits % 8 != 0)
      return fail(fmt::format("has {} bits of data, expected whole bytes", bits));
    if (bits / 8 == entry.bytes)
      return true;
    return fail(fmt::format("has {} bytes of data, expected {} for {} {}", entry.bytes, bits / 8, entry.type,
                            shapeText(entry.shape)));
  }

  std::string_view text;
  Place place = Place::Outside;
  std::string current, field;
  int fields = 0;  // of the current tensor: 1 dtype, 2 shape, 4 data_offsets
  std::array<uint64_t, 2> offsets{};
  int offsetCount = 0;
  std::unordered_set<std::string> names, metadataKeys;
};

}  // namespace

// The tensors' data must fill the file from the end of the header on. Makes offsets count from the start of the file.
static std::string placeData(std::vector<SafetensorsEntry> &entries, uint64_t dataBegin, uint64_t fileSize) {
  std::sort(entries.begin(), entries.end(), [](const SafetensorsEntry &a, const SafetensorsEntry &b) {
    return std::tie(a.offset, a.bytes) < std::tie(b.offset, b.bytes);
  });
  uint64_t end = 0;
  for (SafetensorsEntry &entry : entries) {
    if (entry.offset != end)
      return fmt::format("tensor {} begins at data byte {}, expected {} (no holes and no overlap)",
                         quotedText(entry.name), entry.offset, end);
    if (entry.bytes > fileSize - dataBegin - end)
      return fmt::format("tensor {} ends behind the end of the file; the file is truncated", quotedText(entry.name));
    entry.offset += dataBegin;
    end += entry.bytes;
  }
  if (dataBegin + end != fileSize)
    return fmt::format("has {} bytes after the last tensor", fileSize - dataBegin - end);
  return {};
}

std::optional<std::vector<SafetensorsEntry>> readSafetensors(const OpenFile &file, const std::string &name,
                                                             Diagnostics &diagnostics) {
  auto refuse = [&](const std::string &reason) {
    diagnostics.error(ImportError::TensorFile, fmt::format("{}: {}", name, reason));
    return std::nullopt;
  };
  unsigned char lengthBytes[8];
  if (!file.read(0, lengthBytes, 8))
    return refuse("has fewer than 8 bytes; the file is truncated");
  uint64_t length = 0;
  for (int i = 7; i >= 0; --i)
    length = length << 8 | lengthBytes[i];
  if (file.isLfsPointer())
    return refuse(lfsPointerText);
  if (length > maxHeader)
    return refuse(fmt::format("the header has {} bytes, expected at most {}", length, maxHeader));
  if (file.size() < 8 || length > file.size() - 8)
    return refuse(fmt::format("the header has {} bytes, but the file only {}; it is truncated", length, file.size()));
  std::string header(length, '\0');
  if (!file.read(8, header.data(), length))
    return refuse("the header cannot be read");
  if (header.empty() || header[0] != '{')
    return refuse("the header does not begin with '{'");
  HeaderReader reader(header);
  if (!nlohmann::json::sax_parse(header, &reader))
    return refuse(reader.problem);
  std::string problem = placeData(reader.entries, 8 + length, file.size());
  if (!problem.empty())
    return refuse(problem);
  return std::move(reader.entries);
}

}  // namespace talc
