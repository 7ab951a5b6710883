// SPDX-License-Identifier: Apache-2.0
// The interface to the weights of a model definition: a checkpoint, or a generator of random values.
#pragma once

#include "dialects/talc/formats/StorageFormat.h"

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace talc {

// The order of a weight's values in a file.
struct StoredOrder {
  enum class Kind {
    AsIs,
    Transposed,  // the file has [K, N] for [N, K]
    Pairs,       // in groups of `group` rows, rows i and group/2 + i are neighbors: #talc.half_split
    PlusOne,     // every value plus 1: #talc.plus<-1>
  };
  Kind kind = Kind::AsIs;
  int64_t group = 0;
};

// Row-major values in a file, from byte `offset` on. The path is relative to the model's directory.
struct StoredWeight {
  std::string file;
  int64_t offset;
  const StorageFormat &format;
  StoredOrder order = {};
};

// Element i is mean + deviation * u(seed, i), u of variance 1 (see #talc.random).
struct RandomWeight {
  int64_t seed;
  double mean, deviation;
};

struct FilledWeight {
  double value;
};

// Numbers of a few bits in a file: #talc.codes.
struct CodeTable {
  enum class Kind { Natural, Integer, E2M1, E4M3, E8M0, F16, BF16, F32 };
  enum class Order { Along, Down, Swapped };

  std::string file;
  int64_t offset;
  Kind kind;
  int64_t bits;
  int64_t stride;  // in bits
  Order order = Order::Along;
  bool transposed = false;
};

// A matrix of codes and scales: #talc.quantized.
struct QuantizedWeight {
  FormatRef rounded;  // f32, f16 or bf16
  CodeTable codes, scales;
  int64_t rows, columns;       // of the block that shares a scale
  FormatRef format = rounded;  // the storage format that represents these values exactly
  int64_t center = 0;
  std::optional<CodeTable> zeros = {}, groups = {}, factor = {};
  bool divides = false;
};

// Scales that are 8-bit indices of a table, times factors for runs of them, plus an offset.
struct ScaleCodes {
  CodeTable table, factors;
  int64_t run;
  float offset;
};

// A matrix of codes, or of indices of a table, with a scale for every run of elements: #talc.lookup. All tables are one
// row.
struct LookupWeight {
  FormatRef rounded;  // f32, f16 or bf16
  CodeTable codes, scales;
  int64_t run;
  std::vector<float> table = {};
  FormatRef scaleFormat = nullptr;  // to which scales are rounded before they multiply
  std::optional<ScaleCodes> scaleCodes = {};
  std::optional<float> factor = {};
};

using WeightOrigin = std::variant<StoredWeight, RandomWeight, FilledWeight, QuantizedWeight, LookupWeight>;

class WeightSource {
public:
  virtual ~WeightSource() = default;

  virtual bool has(const std::string &name) const = 0;

  // Finds the weight `name`, or reports an error. `why` explains the expected shape to the user.
  virtual std::optional<WeightOrigin> find(const std::string &name, const std::vector<int64_t> &shape,
                                           const std::string &why) = 0;

  // Whether two names stand for one tensor. `isTied`: whether they do according to the configuration. Files have the
  // last word: two tensors are one if and only if they have the same bytes, and a missing tensor can only be the other
  // one.
  virtual bool tied(const std::string &first, const std::string &second, bool isTied) = 0;

  // Says that the model has no use for a tensor, which files may have.
  virtual void passOver(const std::string & /*name*/) {}
};

}  // namespace talc
