// SPDX-License-Identifier: Apache-2.0
// The tensors of a checkpoint that make up one weight, checked.
#pragma once

#include "frontends/Diagnostics.h"
#include "frontends/WeightSource.h"
#include "frontends/huggingface/SafetensorsFile.h"

#include <functional>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

namespace talc {

class ModelDirectory;

struct CheckpointTensor {
  std::string file;
  SafetensorsEntry entry;
};

class QuantizedParts {
public:
  using Lookup = std::function<const CheckpointTensor *(const std::string &name)>;

  // `weight`: the name of a matrix of this shape, or of concatenated matrices. Keeps all references.
  QuantizedParts(std::string weight, const std::vector<int64_t> &shape, const Lookup &lookup,
                 const ModelDirectory &directory, Diagnostics &diagnostics);

  const int64_t rows, columns;
  bool isMatrix() const { return isSingle; }
  // The weight's name without ".weight".
  std::string module() const;
  Diagnostics &diagnostics;

  // Returns null if there is none.
  const CheckpointTensor *find(std::string_view suffix) const;
  bool has(std::string_view suffix) const { return find(suffix); }
  // Reports an error and returns null unless there is one of these types and one of these shapes.
  const CheckpointTensor *need(std::string_view suffix, std::initializer_list<std::string_view> types,
                               std::vector<std::vector<int64_t>> shapes);
  // All tensors that need() has returned.
  const std::vector<const CheckpointTensor *> &used() const { return usedTensors; }

  // The numbers of a floating-point tensor with this many columns.
  static CodeTable floats(const CheckpointTensor &tensor, int64_t columns, bool transposed = false);
  static CodeTable codes(const CheckpointTensor &tensor, CodeTable::Kind kind, int64_t bits, int64_t stride);

  // Reports scales that are not finite numbers, and those below zero or zero if they must not be.
  enum class Sign { Any, NotNegative, Positive };
  bool checkScales(const CheckpointTensor &tensor, CodeTable::Kind kind, Sign sign) const;
  // The words of an I32 tensor of at most 2^28. Reports an error and returns none if they cannot be read.
  std::vector<uint32_t> words(const CheckpointTensor &tensor) const;
  // The bytes of a tensor of at most `limit`; likewise.
  std::string bytes(const CheckpointTensor &tensor, uint64_t limit) const;
  std::vector<float> numbers(const CheckpointTensor &tensor, CodeTable::Kind kind) const;

  // The format KIND_N_TYPE with the largest blocks that divide groups and rows; else `rounded`.
  FormatRef findBlockFormat(std::string_view kind, int64_t group, FormatRef rounded) const;

  // Reports a wrong value.
  void refuse(const CheckpointTensor &tensor, const std::string &reason) const;
  // Reports that the parts contradict each other or the configuration.
  void refuse(const std::string &reason) const;

private:
  std::string partName(std::string_view suffix) const;

  const std::string weight;
  const bool isSingle;
  const Lookup &lookup;
  const ModelDirectory &directory;
  std::vector<const CheckpointTensor *> usedTensors;
};

// The kind of numbers of a safetensors type; none except for F16, BF16, F32 and F8_E4M3.
std::optional<CodeTable::Kind> numberKind(std::string_view type);
// F16 or BF16 or F32 as a format.
FormatRef scaleFormat(const CheckpointTensor &scales);

}  // namespace talc
