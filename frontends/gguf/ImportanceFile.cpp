// SPDX-License-Identifier: Apache-2.0
// Reads and checks both kinds. Source: tools/imatrix/imatrix.cpp of llama.cpp.
//
//   GGUF   general.type = "imatrix"; for a matrix NAME the tensors NAME.in_sum2 [experts, columns] and NAME.counts
//          [experts]: sums of squares, and over how many tokens
//   older  i32 entries; each: i32 length, name, i32 calls, i32 values, the values in f32: sums of means over `calls`
//          parts of the text; then perhaps i32 of the last part, i32 length, name of the text
#include "frontends/gguf/Gguf.h"

#include "frontends/NamedFile.h"
#include "frontends/gguf/GgufArchitectures.h"
#include "frontends/gguf/GgufFile.h"
#include "frontends/gguf/GgufReader.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace talc {

static bool isImportance(float value) {
  return std::isfinite(value) && value >= 0;
}

//===--- GGUF
//------------------------------------------------------------------------------------------------------===//

namespace {

class GgufImportance {
public:
  GgufImportance(const OpenFile &file, const std::string &name, Diagnostics &diagnostics)
      : file(file), name(name), diagnostics(diagnostics), bytesLeft(maxRead(file.storedBytes())) {}

  bool read(ImportanceTable &table) {
    auto header = readGguf(file, name, diagnostics);
    if (!header)
      return false;
    auto type = header->metadata.find("general.type");
    if (type == header->metadata.end() || type->second != "imatrix")
      return refuse(ImportError::TensorFile,
                    "is a GGUF file whose key 'general.type' is not imatrix; --calibrate takes a text or "
                    "an importance matrix");
    std::map<std::string, const GgufTensor *> tensors;
    for (const GgufTensor &tensor : header->tensors)
      tensors[tensor.name] = &tensor;
    for (const auto &[key, tensor] : tensors)
      if (llvm::StringRef matrix = key; matrix.consume_back(".in_sum2"))
        if (!readMatrix(matrix.str(), *tensor, tensors, table))
          return false;
    return !table.empty() || refuse(ImportError::TensorMissing, "has no tensor '*.in_sum2'");
  }

private:
  bool refuse(ImportError code, const std::string &what) {
    diagnostics.error(code, fmt::format("{}: {}", name, what));
    return false;
  }

  bool readMatrix(const std::string &matrix, const GgufTensor &sums,
                  const std::map<std::string, const GgufTensor *> &tensors, ImportanceTable &table) {
    auto counts = tensors.find(matrix + ".counts");
    if (counts == tensors.end())
      return refuse(ImportError::TensorMissing,
                    fmt::format("has tensor {}, but not {}", quotedText(sums.name), quotedText(matrix + ".counts")));
    std::vector<float> values, tokens;
    if (!readValues(sums, values) || !readValues(*counts->second, tokens))
      return false;
    if (values.size() % tokens.size() != 0)
      return refuse(ImportError::TensorShape,
                    fmt::format("tensor {} has {} values, expected a multiple of the {} of {}", quotedText(sums.name),
                                values.size(), tokens.size(), quotedText(counts->second->name)));
    size_t columns = values.size() / tokens.size();
    for (size_t i = 0; i < values.size(); ++i) {  // an expert that no token passed says nothing
      values[i] = tokens[i / columns] > 0 ? values[i] / tokens[i / columns] : 1;
      if (!isImportance(values[i]))
        return refuse(ImportError::TensorValue, fmt::format("tensor {} has a mean that is {}, expected numbers >= 0",
                                                            quotedText(sums.name), values[i]));
    }
    table[matrix] = std::move(values);
    return true;
  }

  bool readValues(const GgufTensor &tensor, std::vector<float> &values) {
    if (tensor.type->name != "F32")
      return refuse(ImportError::TensorType,
                    fmt::format("tensor {} has type {}, expected F32", quotedText(tensor.name), tensor.type->name));
    if (tensor.bytes > bytesLeft)
      return refuse(ImportError::TensorFile, fmt::format("tensor {} has {} bytes, most of them in holes of the file",
                                                         quotedText(tensor.name), tensor.bytes));
    bytesLeft -= tensor.bytes;
    values.resize(tensor.bytes / sizeof(float));
    if (!file.read(tensor.offset, values.data(), tensor.bytes))
      return refuse(ImportError::TensorFile, "cannot be read");
    for (float value : values)
      if (!isImportance(value))
        return refuse(ImportError::TensorValue,
                      fmt::format("tensor {} has the value {}, expected numbers >= 0", quotedText(tensor.name), value));
    return true;
  }

  const OpenFile &file;
  const std::string &name;
  Diagnostics &diagnostics;
  uint64_t bytesLeft;  // that values may take
};

//===--- older files
//-----------------------------------------------------------------------------------------------===//

class OlderImportance {
public:
  explicit OlderImportance(const OpenFile &file) : in(file), bytesLeft(maxRead(file.storedBytes())) {}

  std::string problem() const { return in.failure(); }

  bool read(ImportanceTable &table) {
    auto entries = in.number<int32_t>();
    if (entries < 1)
      return in.fail(fmt::format("has {} entries, expected at least 1", entries));
    for (int32_t i = 0; i < entries && !in.failed(); ++i)
      readEntry(table);
    if (!in.failed() && in.remaining() > 0)
      readText();
    return !in.failed();
  }

private:
  bool readEntry(ImportanceTable &table) {
    constexpr int32_t longestName = 65535;
    auto length = in.number<int32_t>();
    if (!in.failed() && (length < 1 || length > longestName))
      return in.fail(fmt::format("has a name of {} bytes, expected 1 to {}", length, longestName));
    std::string name = in.bytes(length);
    auto calls = in.number<int32_t>();
    auto count = in.number<int32_t>();
    if (in.failed())
      return false;
    if (count < 1 || static_cast<uint64_t>(count) > in.remaining() / sizeof(float))
      return in.fail(fmt::format("{} has {} values where {} bytes are left", quotedText(name), count, in.remaining()));
    if (static_cast<uint64_t>(count) * sizeof(float) > bytesLeft)
      return in.fail(fmt::format("{} has {} values, most of them in holes of the file", quotedText(name), count));
    bytesLeft -= static_cast<uint64_t>(count) * sizeof(float);
    std::vector<float> values(count);
    for (float &value : values) {
      value = in.number<float>() / static_cast<float>(std::max(calls, 1));
      if (!isImportance(value))
        return in.fail(fmt::format("{} has the value {}, expected numbers >= 0", quotedText(name), value));
    }
    return table.emplace(name, std::move(values)).second || in.fail(fmt::format("has {} twice", quotedText(name)));
  }

  // Describes what was read.
  bool readText() {
    in.number<int32_t>();
    if (in.remaining() == 0)
      return !in.failed();
    auto length = in.number<int32_t>();
    return !in.failed() && (length >= 0 && static_cast<uint64_t>(length) == in.remaining()
                                ? true
                                : in.fail(fmt::format("has {} bytes behind its entries, of which talc does not know "
                                                      "what they are",
                                                      in.remaining())));
  }

  GgufReader in;
  uint64_t bytesLeft;  // that values may take
};

}  // namespace

// Numbers of entries are small: of four bytes, some are zero.
bool isImportanceFile(const std::string &path) {
  char first[4] = {' ', ' ', ' ', ' '};
  std::string problem;
  if (OpenFile file = openNamedFile(path, problem);
      !file || !file.read(0, first, std::min<uint64_t>(sizeof(first), file.size())))
    return false;
  return std::string_view(first, 4) == "GGUF" || std::string_view(first, 4).find('\0') != std::string_view::npos;
}

std::optional<ImportanceTable> readImportance(const std::string &path, Diagnostics &diagnostics) {
  const std::string name = llvm::sys::path::filename(path).str();
  std::string problem;
  OpenFile file = openNamedFile(path, problem);
  uint32_t magic = 0;
  if (!file || !file.read(0, &magic, sizeof(magic))) {
    diagnostics.error(ImportError::TensorFile,
                      name + ": is not an importance matrix; it " + (problem.empty() ? "is truncated" : problem));
    return std::nullopt;
  }
  ImportanceTable table;
  constexpr uint32_t gguf = 0x46554747;
  if (magic == gguf)
    return GgufImportance(file, name, diagnostics).read(table) ? std::optional(std::move(table)) : std::nullopt;
  OlderImportance older(file);
  if (older.read(table))
    return table;
  diagnostics.error(ImportError::TensorFile,
                    fmt::format("{}: is not an importance matrix; it {}", name, older.problem()));
  return std::nullopt;
}

// A symbol NAME.weight, or NAME.weight.stored if the file has GGUF's order and not the family's.
std::vector<float> lookupImportance(const ImportanceTable &table, const std::string &weight, int64_t columns,
                                    bool isTransposed) {
  llvm::StringRef name = weight;
  bool isGgufOrder = name.consume_back(".stored");
  name.consume_back(".weight");
  for (const GgufTensorName &place : ggufTensorNames(name.str() + ".weight")) {
    auto it = table.find(place.name);
    bool isTurned = !isGgufOrder && place.order == StoredOrder::Kind::Transposed;
    if (it == table.end() || isTurned != isTransposed)
      continue;
    const std::vector<float> &all = it->second;
    if (place.expert < 0)
      return all;
    size_t first = place.expert * columns;
    if (first + columns <= all.size())
      return {all.begin() + first, all.begin() + first + columns};
  }
  return {};
}

}  // namespace talc
