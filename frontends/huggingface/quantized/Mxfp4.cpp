// SPDX-License-Identifier: Apache-2.0
// MXFP4 as gpt-oss ships it: the matrices of experts, one below the other, as e2m1 numbers with an e8m0 scale for 32.
//
//   M_blocks U8 [experts, N, K / 32, 16], element 2 i in the lower half of byte i   M_scales U8 [experts, N, K / 32]
#include "frontends/ModelConfig.h"
#include "frontends/huggingface/quantized/KnownKeys.h"
#include "frontends/huggingface/quantized/Quantization.h"

#include <fmt/format.h>

namespace talc {

using Kind = CodeTable::Kind;

namespace {

class Mxfp4 : public Quantization {
public:
  bool covers(const QuantizedParts &parts) const override { return parts.has("_blocks"); }

  std::optional<WeightOrigin> find(QuantizedParts &parts) const override {
    constexpr int64_t size = 32;
    int64_t k = parts.columns;
    const CheckpointTensor *any = parts.find("_blocks");
    int64_t experts = any->entry.shape.empty() ? 0 : any->entry.shape.front();
    if (experts < 1 || parts.rows % experts != 0 || k % size != 0) {
      parts.refuse(fmt::format("has {} rows of {} values, expected whole blocks of {} for {} experts", parts.rows, k,
                               size, experts));
      return std::nullopt;
    }
    int64_t rows = parts.rows / experts, blocks = k / size;
    auto *numbers = parts.need("_blocks", {"U8"}, {{experts, rows, blocks, size / 2}});
    auto *scales = parts.need("_scales", {"U8"}, {{experts, rows, blocks}});
    if (!numbers || !scales || !parts.checkScales(*scales, Kind::E8M0, QuantizedParts::Sign::NotNegative))
      return std::nullopt;
    return QuantizedWeight{
        findStorageFormat("bf16"), parts.codes(*numbers, Kind::E2M1, 4, k * 4), parts.floats(*scales, blocks), 1, size,
        findStorageFormat("mxfp4")};
  }
};

}  // namespace

QuantizationPtr readMxfp4(const QuantizationKeys &keys, Diagnostics &diagnostics) {
  const nlohmann::json &object = keys.object;
  const ModelConfig &config = keys.config;
  using V = KnownValues;
  checkKnownKeys(object, config,
                 {{"quant_method", V::Any}, {"modules_to_not_convert", V::Texts}, {"dequantize", V::Flag}},
                 UnknownKeys::Warned, diagnostics);
  return std::make_unique<Mxfp4>();
}

}  // namespace talc
