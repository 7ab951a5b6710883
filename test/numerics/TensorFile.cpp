// SPDX-License-Identifier: Apache-2.0
// The safetensors format: the header's length (8 bytes), a JSON header, the bytes of all tensors.
#include "test/numerics/TensorFile.h"

#include "llvm/Support/Endian.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"

#include <nlohmann/json.hpp>

#include <cstring>
#include <limits>

namespace talc::numerics {

using json = nlohmann::json;

FileTensor FileTensor::floats(std::vector<int64_t> shape, const std::vector<double> &values) {
  FileTensor result{"F32", std::move(shape), std::string(values.size() * sizeof(float), '\0')};
  for (size_t i = 0; i < values.size(); ++i) {
    float value = static_cast<float>(values[i]);
    std::memcpy(result.bytes.data() + i * sizeof(float), &value, sizeof(float));
  }
  return result;
}

int64_t FileTensor::elements() const {
  int64_t result = 1;
  for (int64_t size : shape)
    result *= size;
  return result;
}

template <typename Stored> static double load(const std::string &bytes, int64_t element) {
  Stored value;
  std::memcpy(&value, bytes.data() + element * sizeof(Stored), sizeof(Stored));
  return static_cast<double>(value);
}

double FileTensor::at(int64_t element) const {
  if (type == "F32")
    return load<float>(bytes, element);
  if (type == "F64")
    return load<double>(bytes, element);
  if (type == "I32")
    return load<int32_t>(bytes, element);
  if (type == "I64")
    return load<int64_t>(bytes, element);
  return std::numeric_limits<double>::quiet_NaN();
}

static int64_t elementBytes(const std::string &type) {
  if (type == "F64" || type == "I64")
    return 8;
  return type == "F32" || type == "I32" ? 4 : 0;
}

// Fills `tensor` from an entry of the header; false if the entry or its place in `data` is not valid.
static bool readEntry(const json &entry, llvm::StringRef data, FileTensor &tensor) {
  auto integers = [](const json &list, std::vector<int64_t> &out) {
    if (!list.is_array())
      return false;
    for (const json &item : list) {
      if (!item.is_number_unsigned() || item.get<uint64_t>() > uint64_t(1) << 31)
        return false;
      out.push_back(item.get<int64_t>());
    }
    return true;
  };
  std::vector<int64_t> place;
  if (!entry.is_object() || !entry.contains("dtype") || !entry["dtype"].is_string() || !entry.contains("shape") ||
      !entry.contains("data_offsets") || !integers(entry["shape"], tensor.shape) ||
      !integers(entry["data_offsets"], place) || place.size() != 2)
    return false;
  tensor.type = entry["dtype"].get<std::string>();
  int64_t size = static_cast<int64_t>(data.size());
  if (place[0] > place[1] || place[1] > size || place[1] - place[0] != tensor.elements() * elementBytes(tensor.type))
    return false;
  tensor.bytes = data.slice(place[0], place[1]).str();
  return true;
}

llvm::Expected<TensorFile> readTensors(llvm::StringRef path) {
  auto fail = [&](const std::string &what) { return llvm::createStringError(path.str() + ": " + what); };
  auto buffer = llvm::MemoryBuffer::getFile(path);
  if (!buffer)
    return fail(buffer.getError().message());
  llvm::StringRef bytes = (*buffer)->getBuffer();
  uint64_t length = bytes.size() < 8 ? 0 : llvm::support::endian::read64le(bytes.data());
  if (bytes.size() < 8 || length > bytes.size() - 8)
    return fail("is not a safetensors file");
  json header = json::parse(bytes.begin() + 8, bytes.begin() + 8 + length, nullptr, false);
  if (!header.is_object())
    return fail("has no valid header");
  TensorFile result;
  for (auto &[name, entry] : header.items())
    if (name != "__metadata__" && !readEntry(entry, bytes.drop_front(8 + length), result[name]))
      return fail("tensor '" + name + "' is not valid, or of a type that is not compared");
  return result;
}

llvm::Error writeTensors(llvm::StringRef path, const TensorFile &tensors) {
  json header = json::object();
  size_t offset = 0;
  for (const auto &[name, tensor] : tensors) {
    header[name] = {
        {"dtype", tensor.type}, {"shape", tensor.shape}, {"data_offsets", {offset, offset + tensor.bytes.size()}}};
    offset += tensor.bytes.size();
  }
  std::string text = header.dump();
  text.resize((text.size() + 7) / 8 * 8, ' ');
  std::error_code error;
  llvm::raw_fd_ostream file(path, error);
  if (error)
    return llvm::createStringError(path.str() + ": " + error.message());
  char length[8];
  llvm::support::endian::write64le(length, text.size());
  file.write(length, sizeof(length));
  file << text;
  for (const auto &entry : tensors)
    file << entry.second.bytes;
  file.close();
  return file.has_error() ? llvm::createStringError(path.str() + ": cannot be written") : llvm::Error::success();
}

}  // namespace talc::numerics
