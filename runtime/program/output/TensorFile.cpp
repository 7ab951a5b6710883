// SPDX-License-Identifier: Apache-2.0
// safetensors: length of the header (uint64), header (JSON), values. https://github.com/huggingface/safetensors
#include "runtime/program/output/Output.h"

namespace talc::program {

std::string safetensorsHeader(const std::string &name, const std::vector<size_t> &rows, size_t width) {
  std::string header = "{";
  size_t offset = 0;
  for (size_t i = 0; i < rows.size(); ++i) {
    size_t end = offset + rows[i] * width * sizeof(float);
    header += (i ? ",\"" : "\"") + name + (rows.size() == 1 ? "" : "." + std::to_string(i)) +
              "\":{\"dtype\":\"F32\",\"shape\":[" + std::to_string(rows[i]) + "," + std::to_string(width) +
              "],\"data_offsets\":[" + std::to_string(offset) + "," + std::to_string(end) + "]}";
    offset = end;
  }
  header += "}";
  header.resize((header.size() + 7) / 8 * 8, ' ');  // aligns the values
  uint64_t length = header.size();
  return std::string(reinterpret_cast<const char *>(&length), sizeof(length)) + header;
}

Status TensorFile::create(const std::string &path, const std::string &name, const std::vector<size_t> &rows,
                          size_t width) {
  if (Status status = file.create(path); status.failed())
    return status;
  std::string header = safetensorsHeader(name, rows, width);
  return file.write(header.data(), header.size());
}

}  // namespace talc::program
