// SPDX-License-Identifier: Apache-2.0
// GPTQ: matrices [K, N] of a few bits, whose rows belong to groups; zero points are stored one too low by files of the
// first format. With desc_act the rows of a group do not lie together: such weights are stored as the numbers that they
// mean, in the type of their scales.
//
//   M.qweight I32 [K * bits / 32, N]   M.qzeros I32 [groups, N * bits / 32]   M.scales [groups, N]   M.g_idx I32 [K]
#include "frontends/huggingface/quantized/GptqSettings.h"
#include "frontends/huggingface/quantized/Quantization.h"

#include "llvm/ADT/STLExtras.h"

#include <fmt/format.h>

namespace talc {

using Kind = CodeTable::Kind;

namespace {

class Gptq : public Quantization {
public:
  explicit Gptq(GptqConfig config) : config(std::move(config)) {}

  bool covers(const QuantizedParts &parts) const override { return parts.has(".qweight"); }
  std::optional<WeightOrigin> find(QuantizedParts &parts) const override;

private:
  const GptqSettings *findSettings(QuantizedParts &parts) const;
  std::optional<WeightOrigin> findMatrix(QuantizedParts &parts, const GptqSettings &settings) const;
  bool readZeros(QuantizedParts &parts, const CheckpointTensor &tensor, const GptqSettings &settings,
                 QuantizedWeight &weight) const;
  static bool readGroups(QuantizedParts &parts, int64_t size, const GptqSettings &settings, QuantizedWeight &weight);

  const GptqConfig config;
};

}  // namespace

// Whether codes and scales have the shapes that follow from the settings.
static bool fits(const QuantizedParts &parts, const GptqSettings &settings) {
  int64_t k = parts.columns, size = settings.groupSize < 0 ? k : settings.groupSize;
  auto rows = [&](std::string_view suffix) {
    const CheckpointTensor *tensor = parts.find(suffix);
    return tensor && !tensor->entry.shape.empty() ? tensor->entry.shape.front() : -1;
  };
  return rows(".qweight") == k * settings.bits / 32 && rows(".scales") == (k + size - 1) / size;
}

// Several entries of `dynamic` may match: the first one holds, but JSON objects have no order. The tensors tell.
const GptqSettings *Gptq::findSettings(QuantizedParts &parts) const {
  const std::string module = parts.module();
  bool isNamed = false;
  const GptqSettings *matching = nullptr;
  for (const GptqOverride &entry : config.dynamic) {
    if (!entry.pattern.matches(module))
      continue;
    isNamed = true;
    if (entry.isQuantized && (!matching || fits(parts, entry.settings)))
      matching = &entry.settings;
  }
  if (isNamed && !matching)
    parts.refuse("is quantized, but the configuration says that it is not: key 'dynamic'");
  return isNamed ? matching : &config.all;
}

std::optional<WeightOrigin> Gptq::find(QuantizedParts &parts) const {
  const GptqSettings *settings = findSettings(parts);
  return settings ? findMatrix(parts, *settings) : std::nullopt;
}

std::optional<WeightOrigin> Gptq::findMatrix(QuantizedParts &parts, const GptqSettings &settings) const {
  const int64_t bits = settings.bits;
  int64_t n = parts.rows, k = parts.columns, size = settings.groupSize < 0 ? k : settings.groupSize;
  if (!parts.isMatrix() || k * bits % 32 != 0 || n * bits % 32 != 0) {
    parts.refuse(fmt::format("is {} by {}, expected a matrix of whole words of {} bits", n, k, bits));
    return std::nullopt;
  }
  int64_t groups = (k + size - 1) / size;
  auto *packedCodes = parts.need(".qweight", {"I32"}, {{k * bits / 32, n}});
  auto *scales = parts.need(".scales", {"F16", "BF16", "F32"}, {{groups, n}});
  auto *zeros = parts.need(".qzeros", {"I32"}, {{groups, n * bits / 32}});
  if (!packedCodes || !scales || !zeros ||
      !parts.checkScales(*scales, *numberKind(scales->entry.type), QuantizedParts::Sign::Any))
    return std::nullopt;
  CodeTable table = parts.codes(*packedCodes, Kind::Natural, bits, n * 32);
  table.order = CodeTable::Order::Down;
  table.transposed = true;
  QuantizedWeight weight{scaleFormat(*scales), table, parts.floats(*scales, n, /*transposed=*/true), 1, size};
  if (!readZeros(parts, *zeros, settings, weight) || !readGroups(parts, size, settings, weight))
    return std::nullopt;
  if (!weight.groups)
    weight.format = parts.findBlockFormat(fmt::format("int{}{}", bits, weight.zeros ? "z" : ""), size, weight.rounded);
  return weight;
}

// Zero points that are all in the middle need not be stored.
bool Gptq::readZeros(QuantizedParts &parts, const CheckpointTensor &tensor, const GptqSettings &settings,
                     QuantizedWeight &weight) const {
  const int64_t bits = settings.bits;
  const bool isFirstFormat = config.isFirstFormat;
  const uint32_t maxCode = (1u << bits) - 1, middle = 1u << (bits - 1), low = isFirstFormat ? 1 : 0;
  std::vector<uint32_t> words = parts.words(tensor);
  if (words.empty())
    return false;
  bool allMiddle = true, allOther = true;
  for (size_t at = 0; at < words.size() * 32; at += bits) {
    uint64_t two = words[at / 32] | uint64_t(at / 32 + 1 < words.size() ? words[at / 32 + 1] : 0) << 32;
    auto zero = static_cast<uint32_t>(two >> (at % 32) & maxCode);
    if (isFirstFormat && zero == maxCode) {
      parts.refuse(tensor, fmt::format("has a zero point stored as {}, which readers of this format understand in "
                                       "different ways",
                                       zero));
      return false;
    }
    allMiddle &= zero + low == middle;
    allOther &= zero + 1 - low == middle;
  }
  if (settings.isSymmetric && allOther) {
    parts.refuse(tensor, fmt::format("has the zero points of the other checkpoint_format than the configuration says, "
                                     "which is {}",
                                     isFirstFormat ? "gptq" : "gptq_v2"));
    return false;
  }
  if (allMiddle) {
    weight.center = middle;
    return true;
  }
  CodeTable zeros = parts.codes(tensor, Kind::Natural, bits, parts.rows * bits);
  zeros.transposed = true;
  weight.zeros = zeros;
  weight.center = low;
  return true;
}

// Only groups that are not simply one after the other have to be known.
bool Gptq::readGroups(QuantizedParts &parts, int64_t size, const GptqSettings &settings, QuantizedWeight &weight) {
  const CheckpointTensor *tensor = nullptr;
  if (parts.has(".g_idx") && !(tensor = parts.need(".g_idx", {"I32"}, {{parts.columns}})))
    return false;
  if (!tensor) {
    if (settings.ordersByActivation)
      parts.refuse("lacks the groups of its columns, g_idx, although the configuration has desc_act");
    return !settings.ordersByActivation;
  }
  std::vector<uint32_t> groups = parts.words(*tensor);
  if (groups.empty())
    return false;
  int64_t count = (parts.columns + size - 1) / size;
  bool inOrder = true, allZero = true;
  for (size_t column = 0; column < groups.size(); ++column) {
    if (groups[column] >= static_cast<uint64_t>(count)) {
      parts.refuse(*tensor, fmt::format("puts column {} into group {}, expected 0 to {}", column,
                                        static_cast<int32_t>(groups[column]), count - 1));
      return false;
    }
    inOrder &= groups[column] == static_cast<uint64_t>(column) / size;
    allZero &= groups[column] == 0;
  }
  if (inOrder || (allZero && !settings.ordersByActivation))
    return true;
  weight.groups = parts.codes(*tensor, Kind::Natural, 32, parts.columns * 32);
  return true;
}

QuantizationPtr readGptq(const QuantizationKeys &keys, Diagnostics &diagnostics) {
  GptqConfig config = readGptqConfig(keys.object, keys.config, diagnostics);
  if (diagnostics.failed())
    return nullptr;
  return std::make_unique<Gptq>(std::move(config));
}

}  // namespace talc
