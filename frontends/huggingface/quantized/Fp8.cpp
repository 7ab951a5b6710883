// SPDX-License-Identifier: Apache-2.0
// FP8 as DeepSeek and Qwen ship it, and with one scale for a tensor: e4m3 numbers times scales, rounded once to the
// model's type. In spite of its name weight_scale_inv multiplies.
//
//   M.weight F8_E4M3 [N, K]   M.weight_scale_inv [N / rows, K / columns], or M.weight_scale of one number
#include "frontends/ModelConfig.h"
#include "frontends/huggingface/quantized/KnownKeys.h"
#include "frontends/huggingface/quantized/Quantization.h"

#include "llvm/Support/MathExtras.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace talc {

using Kind = CodeTable::Kind;

namespace {

class Fp8 : public Quantization {
public:
  Fp8(int64_t blockRows, int64_t blockColumns) : blockRows(blockRows), blockColumns(blockColumns) {}

  bool covers(const QuantizedParts &parts) const override {
    const CheckpointTensor *tensor = parts.find("");
    return tensor && tensor->entry.type == "F8_E4M3";
  }

  std::optional<WeightOrigin> find(QuantizedParts &parts) const override {
    int64_t n = parts.rows, k = parts.columns;
    if (!parts.isMatrix()) {
      parts.refuse("is not a matrix, and talc reads only matrices in FP8");
      return std::nullopt;
    }
    int64_t rows = blockRows ? blockRows : n, columns = blockColumns ? blockColumns : k;
    std::vector<int64_t> grid = {static_cast<int64_t>(llvm::divideCeil(n, rows)),
                                 static_cast<int64_t>(llvm::divideCeil(k, columns))};
    std::vector<std::vector<int64_t>> shapes = {grid};
    if (grid[0] * grid[1] == 1)
      shapes.insert(shapes.end(), {{}, {1}});
    auto *numbers = parts.need("", {"F8_E4M3"}, {{n, k}});
    auto *scales = numbers ? parts.need(parts.has("_scale_inv") ? "_scale_inv" : "_scale",
                                        {"F32", "BF16", "F16", "F8_E8M0", "U8"}, shapes)
                           : nullptr;
    if (!scales)
      return std::nullopt;
    CodeTable table = parts.floats(*scales, grid[1]);
    bool isSingle = grid[0] * grid[1] == 1;
    if (!parts.checkScales(*scales, table.kind,
                           isSingle ? QuantizedParts::Sign::Positive : QuantizedParts::Sign::NotNegative))
      return std::nullopt;
    FormatRef rounded = findStorageFormat("bf16");
    return QuantizedWeight{
        rounded, parts.floats(*numbers, k), table, rows, columns, parts.findBlockFormat("fp8", columns, rounded)};
  }

  std::vector<std::string_view> ignored() const override {
    return {".input_scale", ".activation_scale", ".k_scale", ".v_scale", ".q_scale"};
  }

private:
  const int64_t blockRows, blockColumns;  // 0: all
};

}  // namespace

QuantizationPtr readFp8(const QuantizationKeys &keys, Diagnostics &diagnostics) {
  const nlohmann::json &object = keys.object;
  const ModelConfig &config = keys.config;
  using V = KnownValues;
  constexpr int64_t maxBlockSize = 1 << 20;
  checkKnownKeys(object, config,
                 {{"quant_method", V::Any},
                  {"fmt", V::Text},
                  {"weight_block_size", V::Any},
                  {"activation_scheme", V::Text},
                  {"scale_fmt", V::Text},
                  {"expert_dtype", V::Text},
                  {"dequantize", V::Flag},
                  {"modules_to_not_convert", V::Texts},
                  {"modules_to_convert", V::Texts},
                  {"ignored_layers", V::Texts}},
                 UnknownKeys::Warned, diagnostics);
  checkName(config, "fmt", {"e4m3", "float8_e4m3fn"});
  checkName(config, "activation_scheme", {"dynamic", "static", "none"});
  checkName(config, "scale_fmt", {"float", "ue8m0"});
  checkName(config, "expert_dtype", {"fp8"});
  auto sizes = config.has("weight_block_size") ? object["weight_block_size"] : nlohmann::json();
  bool isPair = sizes.is_array() && sizes.size() == 2;
  for (size_t i = 0; isPair && i < 2; ++i)
    isPair = sizes[i].is_number_integer() && sizes[i] >= 1 && sizes[i] <= maxBlockSize;
  if (!sizes.is_null() && !isPair)
    config.invalid("weight_block_size", fmt::format("is not a pair of numbers from 1 to {}", maxBlockSize));
  if (config.failed())
    return nullptr;
  if (config.text("activation_scheme", "dynamic") != "none")
    diagnostics.warning("config.json: quantization_config: activations are not rounded to FP8, weights are as they are "
                        "in the files");
  return std::make_unique<Fp8>(isPair ? sizes[0].get<int64_t>() : 0, isPair ? sizes[1].get<int64_t>() : 0);
}

}  // namespace talc
