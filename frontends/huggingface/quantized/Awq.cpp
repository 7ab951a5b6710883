// SPDX-License-Identifier: Apache-2.0
// AWQ: matrices of four bits with a scale and a zero point for every group. Its two layouts:
//
//   gemm   M.qweight I32 [K, N / 8]   M.qzeros I32 [groups, N / 8]   M.scales F16 [groups, N]   columns of 8 swapped
//   gemv   M.qweight I32 [N, K / 8]   M.qzeros I32 [N, Z]            M.scales F16 [N, 8 Z]      Z: a padded number
#include "frontends/ModelConfig.h"
#include "frontends/huggingface/quantized/KnownKeys.h"
#include "frontends/huggingface/quantized/Quantization.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

#include <fmt/format.h>

namespace talc {

using Kind = CodeTable::Kind;

namespace {

class Awq : public Quantization {
public:
  Awq(int64_t groupSize, bool hasZeros, bool isGemv) : groupSize(groupSize), hasZeros(hasZeros), isGemv(isGemv) {}

  bool covers(const QuantizedParts &parts) const override { return parts.has(".qweight"); }

  std::optional<WeightOrigin> find(QuantizedParts &parts) const override {
    int64_t n = parts.rows, k = parts.columns, size = groupSize < 0 ? k : groupSize;
    if (!parts.isMatrix() || n % 8 != 0 || k % 8 != 0 || k % size != 0) {
      parts.refuse(fmt::format("is {} by {}, expected a matrix of multiples of 8 with whole groups of {}", n, k, size));
      return std::nullopt;
    }
    int64_t groups = k / size, padded = paddedWords(groups, size);
    auto *packedCodes = parts.need(".qweight", {"I32"}, {isGemv ? std::vector{n, k / 8} : std::vector{k, n / 8}});
    auto *scales = parts.need(".scales", {"F16"}, {isGemv ? std::vector{n, 8 * padded} : std::vector{groups, n}});
    auto *zeros = hasZeros
                      ? parts.need(".qzeros", {"I32"}, {isGemv ? std::vector{n, padded} : std::vector{groups, n / 8}})
                      : nullptr;
    if (!packedCodes || !scales || (hasZeros && !zeros) ||
        !parts.checkScales(*scales, Kind::F16, QuantizedParts::Sign::Any))
      return std::nullopt;
    if (!hasZeros && !checkNoZeros(parts))
      return std::nullopt;
    QuantizedWeight weight{scaleFormat(*scales), nibbles(*packedCodes, isGemv ? k : n),
                           parts.floats(*scales, isGemv ? 8 * padded : n, !isGemv), 1, size};
    if (zeros)
      weight.zeros = nibbles(*zeros, isGemv ? 8 * padded : n);
    else
      weight.center = middle;
    weight.format = parts.findBlockFormat(zeros ? "int4z" : "int4", size, weight.rounded);
    return weight;
  }

private:
  static constexpr int64_t middle = 8;

  // Zero points that the configuration does not speak of change nothing, or are a mistake.
  static bool checkNoZeros(QuantizedParts &parts) {
    const CheckpointTensor *zeros = parts.find(".qzeros");
    if (!zeros || zeros->entry.type != "I32" ||
        llvm::all_of(parts.words(*zeros), [](uint32_t word) { return word == 0x11111111 * middle; }))
      return true;
    parts.refuse(*zeros,
                 "holds zero points, but the configuration says that there are none: key 'zero_point' is false");
    return false;
  }

  // The words of zero points in a row.
  static int64_t paddedWords(int64_t groups, int64_t size) {
    int64_t words = llvm::divideCeil(groups, 8);
    return size >= 128 ? words : llvm::alignTo(words, size == 64 ? 2 : 4);
  }

  CodeTable nibbles(const CheckpointTensor &tensor, int64_t columns) const {
    CodeTable table = QuantizedParts::codes(tensor, Kind::Natural, 4, columns * 4);
    table.order = isGemv ? CodeTable::Order::Along : CodeTable::Order::Swapped;
    table.transposed = !isGemv;
    return table;
  }

  const int64_t groupSize;
  const bool hasZeros, isGemv;
};

}  // namespace

static void checkKeys(const nlohmann::json &object, const ModelConfig &config, Diagnostics &diagnostics) {
  using V = KnownValues;
  checkKnownKeys(object, config,
                 {{"quant_method", V::Any},
                  {"bits", V::Any},
                  {"w_bit", V::Any},
                  {"group_size", V::Any},
                  {"q_group_size", V::Any},
                  {"zero_point", V::Any},
                  {"version", V::Any},
                  {"format", V::Text},
                  {"backend", V::Text},
                  {"sym", V::Flag},
                  {"desc_act", V::Flag},
                  {"modules_to_not_convert", V::Texts},
                  {"modules_to_fuse", V::Object},
                  {"do_fuse", V::Flag},
                  {"fuse_max_seq_len", V::Number},
                  {"exllama_config", V::Object},
                  {"dynamic", V::Object},
                  {"meta", V::Object},
                  {"lm_head", V::Flag},
                  {"pack_dtype", V::Text}},
                 UnknownKeys::Warned, diagnostics);
  checkName(config, "backend", {"autoawq", "llm-awq", "auto"});
  checkName(config, "pack_dtype", {"int32"});
  if (auto dynamic = object.find("dynamic"); dynamic != object.end() && dynamic->is_object() && !dynamic->empty())
    config.unsupported("dynamic", "gives modules settings of their own, which talc knows of GPTQ alone");
}

QuantizationPtr readAwq(const QuantizationKeys &keys, Diagnostics &diagnostics) {
  const nlohmann::json &object = keys.object;
  const ModelConfig &config = keys.config;
  checkKeys(object, config, diagnostics);
  const char *bitsKey = config.has("w_bit") ? "w_bit" : "bits",
             *groupKey = config.has("q_group_size") ? "q_group_size" : "group_size";
  if (int64_t bits = config.integer(bitsKey, 4, {1, 8}); bits != 4)
    config.unsupported(bitsKey, fmt::format("is {}, expected 4", bits));
  int64_t group = config.integer(groupKey, 128, {-1, 1 << 20});
  if (group != -1 && group != 32 && group != 64 && group != 128)
    config.unsupported(groupKey, fmt::format("is {}, expected -1, 32, 64 or 128", group));
  std::string version = config.has("version") ? config.text("version", "") : config.text("format", "gemm");
  for (char &c : version)
    c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  bool isGemm = version == "gemm" || version == "exllama" || version == "ipex";
  if (!isGemm && version != "gemv")
    config.unsupported("version", "is none of gemm, gemv, exllama and ipex");
  bool zeros = config.flag("zero_point", true);
  if (config.failed())
    return nullptr;
  return std::make_unique<Awq>(group, zeros, !isGemm);
}

}  // namespace talc
