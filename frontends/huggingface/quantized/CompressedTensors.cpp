// SPDX-License-Identifier: Apache-2.0
// compressed-tensors: a scheme for each group of modules.
//
//   pack-quantized        M.weight_packed I32 [N, words]      M.weight_scale [N, groups]   M.weight_zero_point,
//   M.weight_g_idx int-quantized         M.weight I8 [N, K]                  M.weight_scale, M.weight_zero_point I8
//   float-quantized       M.weight F8_E4M3 [N, K]             M.weight_scale: of a tensor, rows, groups or blocks
//   mxfp8-quantized       M.weight F8_E4M3 [N, K]             M.weight_scale U8 [N, K / 32]
//   mxfp4-pack-quantized  M.weight_packed U8 [N, K / 2]       M.weight_scale U8 [N, K / 32]
//   nvfp4-pack-quantized  M.weight_packed U8 [N, K / 2]       M.weight_scale F8_E4M3 [N, K / 16], M.weight_global_scale
//
// Values are rounded to the type of the scales, those of nvfp4 to bf16. nvfp4 divides its scales by the tensor's: where
// a product with the inverse has the same values, blocks hold that.
#include "frontends/huggingface/quantized/CompressedScheme.h"

#include "frontends/ModelConfig.h"
#include "frontends/huggingface/quantized/KnownKeys.h"
#include "frontends/huggingface/quantized/Quantization.h"

#include "dialects/talc/formats/SmallFloats.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#pragma STDC FP_CONTRACT OFF

namespace talc {

using Kind = CodeTable::Kind;
using Sign = QuantizedParts::Sign;

namespace {

// The rows and columns that share a scale.
struct Grid {
  int64_t rows, columns;
};

class CompressedTensors : public Quantization {
public:
  explicit CompressedTensors(std::vector<CompressedScheme> schemes) : schemes(std::move(schemes)) {}

  bool covers(const QuantizedParts &parts) const override {
    const CheckpointTensor *plain = parts.find("");
    return parts.has("_packed") || (plain && (plain->entry.type == "I8" || plain->entry.type == "F8_E4M3"));
  }

  std::optional<WeightOrigin> find(QuantizedParts &parts) const override;

  std::vector<std::string_view> ignored() const override {
    return {".input_scale",       ".input_zero_point", ".input_global_scale",
            ".weight_shape",      ".k_scale",          ".output_scale",
            ".output_zero_point", ".v_scale",          ".q_scale"};
  }

private:
  std::optional<QuantizedWeight> findIntegers(QuantizedParts &parts, const CompressedScheme &scheme) const;
  std::optional<QuantizedWeight> findFp8(QuantizedParts &parts, const CompressedScheme &scheme) const;
  std::optional<QuantizedWeight> findFp4(QuantizedParts &parts, const CompressedScheme &scheme) const;
  static std::optional<Grid> makeGrid(QuantizedParts &parts, const CompressedScheme &scheme);
  static const CheckpointTensor *needScales(QuantizedParts &parts, Grid grid,
                                            std::initializer_list<std::string_view> types);
  static bool checkShape(QuantizedParts &parts);
  static bool checkNoZeros(QuantizedParts &parts, const CompressedScheme &scheme);
  bool addZeros(QuantizedParts &parts, const CompressedScheme &scheme, Grid grid, QuantizedWeight &weight) const;
  bool addGroups(QuantizedParts &parts, Grid grid, QuantizedWeight &weight) const;

  const std::vector<CompressedScheme> schemes;
};

}  // namespace

std::optional<WeightOrigin> CompressedTensors::find(QuantizedParts &parts) const {
  if (!parts.isMatrix()) {
    parts.refuse("is not a matrix, and talc reads only matrices of compressed-tensors");
    return std::nullopt;
  }
  const CompressedScheme *scheme = findScheme(schemes, parts.module());
  if (!scheme) {
    parts.refuse("belongs to none of the configuration's config_groups, or their targets cannot be told apart");
    return std::nullopt;
  }
  switch (scheme->kind) {
  case CompressedScheme::Kind::Packed:
  case CompressedScheme::Kind::Integers:
    return findIntegers(parts, *scheme);
  case CompressedScheme::Kind::Fp8:
  case CompressedScheme::Kind::Mxfp8:
    return findFp8(parts, *scheme);
  case CompressedScheme::Kind::Mxfp4:
  case CompressedScheme::Kind::Nvfp4:
    return findFp4(parts, *scheme);
  }
  return std::nullopt;
}

std::optional<Grid> CompressedTensors::makeGrid(QuantizedParts &parts, const CompressedScheme &scheme) {
  switch (scheme.strategy) {
  case CompressedScheme::Strategy::Tensor:
    return Grid{parts.rows, parts.columns};
  case CompressedScheme::Strategy::Channel:
    return Grid{1, parts.columns};
  case CompressedScheme::Strategy::Block:
    return Grid{scheme.blockRows, scheme.blockColumns};
  case CompressedScheme::Strategy::Group:
    break;
  }
  if (parts.columns % scheme.groupSize == 0)
    return Grid{1, scheme.groupSize};
  parts.refuse(fmt::format("has rows of {} values, which are not whole groups of {}", parts.columns, scheme.groupSize));
  return std::nullopt;
}

// The shape of one scale, or of one per row, may lack dimensions.
const CheckpointTensor *CompressedTensors::needScales(QuantizedParts &parts, Grid grid,
                                                      std::initializer_list<std::string_view> types) {
  std::vector<int64_t> shape = {static_cast<int64_t>(llvm::divideCeil(parts.rows, grid.rows)),
                                static_cast<int64_t>(llvm::divideCeil(parts.columns, grid.columns))};
  std::vector<std::vector<int64_t>> shapes = {shape};
  if (shape[1] == 1)
    shapes.push_back({shape[0]});
  if (shape[0] == 1 && shape[1] == 1)
    shapes.emplace_back();
  auto *scales = parts.need("_scale", types, shapes);
  bool isSingle = shape[0] * shape[1] == 1;
  Kind kind = scales ? numberKind(scales->entry.type).value_or(Kind::E8M0) : Kind::F32;
  return scales && parts.checkScales(*scales, kind, isSingle ? Sign::Positive : Sign::NotNegative) ? scales : nullptr;
}

//===--- integers -------------------------------------------------------------------------------------------------===//

// Rows and columns, which the words of packed rows alone do not tell.
bool CompressedTensors::checkShape(QuantizedParts &parts) {
  if (!parts.has("_shape"))
    return true;
  auto *shape = parts.need("_shape", {"I64", "I32"}, {{2}});
  std::vector<uint32_t> words = shape ? parts.words(*shape) : std::vector<uint32_t>();
  if (words.empty())
    return false;
  uint64_t found[2] = {words[0], words[1]};
  for (size_t i = 0; words.size() == 4 && i < 2; ++i)
    found[i] = words[2 * i] | uint64_t(words[2 * i + 1]) << 32;
  if (found[0] == static_cast<uint64_t>(parts.rows) && found[1] == static_cast<uint64_t>(parts.columns))
    return true;
  parts.refuse(*shape, fmt::format("holds [{}, {}], expected [{}, {}]", static_cast<int64_t>(found[0]),
                                   static_cast<int64_t>(found[1]), parts.rows, parts.columns));
  return false;
}

std::optional<QuantizedWeight> CompressedTensors::findIntegers(QuantizedParts &parts,
                                                               const CompressedScheme &scheme) const {
  int64_t n = parts.rows, k = parts.columns, bits = scheme.bits;
  bool isPacked = scheme.kind == CompressedScheme::Kind::Packed;
  auto grid = makeGrid(parts, scheme);
  int64_t words = (k * bits + 31) / 32;
  auto *packedCodes = isPacked ? parts.need("_packed", {"I32"}, {{n, words}}) : parts.need("", {"I8"}, {{n, k}});
  auto *scales = grid && packedCodes ? needScales(parts, *grid, {"F16", "BF16", "F32"}) : nullptr;
  if (!scales || (isPacked && !checkShape(parts)))
    return std::nullopt;
  CodeTable table = isPacked ? parts.codes(*packedCodes, Kind::Natural, bits, words * 32)
                             : parts.codes(*packedCodes, Kind::Integer, 8, k * 8);
  int64_t groups = llvm::divideCeil(k, grid->columns);
  QuantizedWeight weight{scaleFormat(*scales), table, parts.floats(*scales, groups), grid->rows, grid->columns};
  weight.center = isPacked ? int64_t(1) << (bits - 1) : 0;
  if (!addZeros(parts, scheme, *grid, weight) || !addGroups(parts, *grid, weight))
    return std::nullopt;
  std::string kind = fmt::format("int{}{}", isPacked ? bits : 8, weight.zeros ? "z" : "");
  if (!weight.groups)
    weight.format = parts.findBlockFormat(kind, grid->columns, weight.rounded);
  return weight;
}

// Zero points of a symmetric scheme change nothing or are a mistake. A packed zero point is the middle code.
bool CompressedTensors::checkNoZeros(QuantizedParts &parts, const CompressedScheme &scheme) {
  const CheckpointTensor *zeros = parts.find("_zero_point");
  if (!zeros || zeros->entry.type != "I32")
    return true;
  uint32_t middles = 0;
  for (int64_t bit = scheme.bits - 1; bit < 32; bit += scheme.bits)
    middles |= uint32_t(1) << bit;
  if (llvm::all_of(parts.words(*zeros), [&](uint32_t word) { return word == 0 || word == middles; }))
    return true;
  parts.refuse(*zeros, "holds zero points, but the configuration says that there are none: key 'symmetric' is true");
  return false;
}

// Packed ones lie down the columns; those of a tensor or of int-quantized weights are plain.
bool CompressedTensors::addZeros(QuantizedParts &parts, const CompressedScheme &scheme, Grid grid,
                                 QuantizedWeight &weight) const {
  if (scheme.symmetric)
    return checkNoZeros(parts, scheme);
  int64_t bits = scheme.bits, rows = llvm::divideCeil(parts.rows, grid.rows),
          groups = llvm::divideCeil(parts.columns, grid.columns);
  bool isPacked = scheme.kind == CompressedScheme::Kind::Packed && grid.rows == 1;
  if (isPacked) {
    auto *zeros = parts.need("_zero_point", {"I32"}, {{(rows * bits + 31) / 32, groups}});
    if (!zeros)
      return false;
    weight.zeros = parts.codes(*zeros, Kind::Natural, bits, groups * 32);
    weight.zeros->order = CodeTable::Order::Down;
    weight.center = 0;
    return true;
  }
  auto *zeros = parts.need("_zero_point", {"I8"}, {{rows, groups}, {rows}, {}});
  if (!zeros)
    return false;
  if (zeros->entry.bytes != static_cast<uint64_t>(rows * groups)) {
    parts.refuse("has another number of zero points than of scales");
    return false;
  }
  weight.zeros = parts.codes(*zeros, Kind::Integer, 8, groups * 8);
  return true;
}

// A group for every column, each as often as the others.
bool CompressedTensors::addGroups(QuantizedParts &parts, Grid grid, QuantizedWeight &weight) const {
  if (!parts.has("_g_idx"))
    return true;
  auto *tensor = parts.need("_g_idx", {"I32"}, {{parts.columns}});
  std::vector<uint32_t> groups = tensor ? parts.words(*tensor) : std::vector<uint32_t>();
  if (groups.empty())
    return false;
  if (llvm::all_of(groups, [](uint32_t group) { return group == UINT32_MAX; }))
    return true;  // in the order of columns
  std::vector<int64_t> counts(llvm::divideCeil(parts.columns, grid.columns));
  bool inOrder = true;
  for (size_t column = 0; column < groups.size(); ++column) {
    if (groups[column] >= counts.size() || ++counts[groups[column]] > grid.columns) {
      parts.refuse(*tensor, fmt::format("puts column {} into group {}, expected each of {} groups {} times", column,
                                        static_cast<int32_t>(groups[column]), counts.size(), grid.columns));
      return false;
    }
    inOrder &= groups[column] == column / grid.columns;
  }
  if (!inOrder)
    weight.groups = parts.codes(*tensor, Kind::Natural, 32, parts.columns * 32);
  return true;
}

//===--- small floats ---------------------------------------------------------------------------------------------===//

std::optional<QuantizedWeight> CompressedTensors::findFp8(QuantizedParts &parts, const CompressedScheme &scheme) const {
  bool isMx = scheme.kind == CompressedScheme::Kind::Mxfp8;
  auto grid = isMx ? std::optional(Grid{1, 32}) : makeGrid(parts, scheme);
  auto *numbers = parts.need("", {"F8_E4M3"}, {{parts.rows, parts.columns}});
  if (!grid || !numbers)
    return std::nullopt;
  auto *scales = isMx ? needScales(parts, *grid, {"U8", "F8_E8M0"}) : needScales(parts, *grid, {"F16", "BF16", "F32"});
  if (!scales)
    return std::nullopt;
  FormatRef rounded = isMx ? findStorageFormat("bf16") : scaleFormat(*scales);
  int64_t groups = llvm::divideCeil(parts.columns, grid->columns);
  return QuantizedWeight{rounded,
                         parts.floats(*numbers, parts.columns),
                         parts.floats(*scales, groups),
                         grid->rows,
                         grid->columns,
                         parts.findBlockFormat("fp8", grid->columns, rounded)};
}

// Whether x / factor and x * (1 / factor) make the same values of all numbers and scales.
static bool multiplies(float factor) {
  float inverse = 1 / factor;
  for (uint32_t scale = 0; scale < 0x7f; ++scale)
    for (uint32_t code = 1; code < 8; ++code) {
      float number = e2m1ToFloat(code), x = e4m3ToFloat(scale);
      if (floatToBf16(number * (x / factor)) != floatToBf16(number * (x * inverse)))
        return false;
    }
  return true;
}

std::optional<QuantizedWeight> CompressedTensors::findFp4(QuantizedParts &parts, const CompressedScheme &scheme) const {
  int64_t n = parts.rows, k = parts.columns;
  bool isMx = scheme.kind == CompressedScheme::Kind::Mxfp4;
  int64_t size = isMx ? 32 : 16;
  if (k % size != 0) {
    parts.refuse(fmt::format("has rows of {} values, which are not whole groups of {}", k, size));
    return std::nullopt;
  }
  auto *numbers = parts.need("_packed", {"U8"}, {{n, k / 2}});
  auto *scales = !numbers ? nullptr
                 : isMx   ? needScales(parts, {1, size}, {"U8", "F8_E8M0"})
                          : needScales(parts, {1, size}, {"F8_E4M3"});
  if (!scales)
    return std::nullopt;
  FormatRef rounded = findStorageFormat("bf16");
  QuantizedWeight weight{rounded, parts.codes(*numbers, Kind::E2M1, 4, k * 4), parts.floats(*scales, k / size), 1,
                         size};
  if (isMx) {
    weight.format = findStorageFormat("mxfp4");
    return weight;
  }
  auto *factor = parts.need("_global_scale", {"F32"}, {{1}, {}});
  if (!factor || !parts.checkScales(*factor, Kind::F32, Sign::Positive))
    return std::nullopt;
  float divisor = parts.numbers(*factor, Kind::F32).front();
  if (!std::isfinite(448 / divisor)) {
    parts.refuse(*factor, fmt::format("holds {}, by which scales cannot be divided", divisor));
    return std::nullopt;
  }
  weight.factor = parts.floats(*factor, 1);
  weight.divides = true;
  if (multiplies(divisor))
    weight.format = parts.findBlockFormat("nvfp4", k, rounded);
  return weight;
}

//===--- the configuration ----------------------------------------------------------------------------------------===//

QuantizationPtr readCompressedTensors(const QuantizationKeys &keys, Diagnostics &diagnostics) {
  const nlohmann::json &object = keys.object;
  const ModelConfig &config = keys.config;
  using V = KnownValues;
  checkKnownKeys(object, config,
                 {{"quant_method", V::Any},
                  {"format", V::Any},
                  {"quantization_status", V::Any},
                  {"config_groups", V::Any},
                  {"ignore", V::Texts},
                  {"kv_cache_scheme", V::Object},
                  {"global_compression_ratio", V::Number},
                  {"sparsity_config", V::Object},
                  {"transform_config", V::Object},
                  {"moe_sparsity_config", V::Object},
                  {"version", V::Text}},
                 UnknownKeys::Warned, diagnostics);
  if (std::string status = config.text("quantization_status", "compressed"); status != "compressed")
    config.unsupported("quantization_status", "is " + quotedText(status) +
                                                  ", expected compressed: other checkpoints have plain weights, which "
                                                  "their programs round");
  for (const char *key : {"sparsity_config", "transform_config", "moe_sparsity_config"})
    if (auto it = object.find(key);
        it != object.end() && it->is_object() && !it->empty() && it->value("format", nlohmann::json()) != "dense")
      config.unsupported(key, "changes the weights, and talc does not know how");
  std::vector<CompressedScheme> schemes = readSchemes(object, config, diagnostics);
  if (config.failed())
    return nullptr;
  if (llvm::any_of(schemes, [](const CompressedScheme &scheme) { return scheme.roundsActivations; }))
    diagnostics.warning("config.json: quantization_config: activations are not rounded, weights are as they are in the "
                        "files");
  if (config.has("kv_cache_scheme"))
    diagnostics.warning("config.json: quantization_config: the KV cache is not rounded as kv_cache_scheme says");
  return std::make_unique<CompressedTensors>(std::move(schemes));
}

}  // namespace talc
