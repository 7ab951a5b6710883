// SPDX-License-Identifier: Apache-2.0
// bitsandbytes: matrices of 4 bits in blocks that go on from row to row, and LLM.int8 with a scale for every row.
//
//   4 bits   M.weight [bytes, 1], element 2 i in the upper half of byte i   M.weight.absmax F32 [blocks],
//   M.weight.quant_map
//            M.weight.quant_state.bitsandbytes__nf4 (or fp4): U8, JSON with block size, shape and type
//   nested   M.weight.absmax U8: nested_quant_map[absmax] * nested_absmax[block / size] + nested_offset
//   8 bits   M.weight I8 [N, K]   M.SCB F32 [N], 127 times the scale
//
// Values are those of dequantize_4bit, in the type that quant_state names, and of int8_vectorwise_dequant, in f32.
#include "frontends/Json.h"
#include "frontends/ModelConfig.h"
#include "frontends/huggingface/JsonConfig.h"
#include "frontends/huggingface/quantized/KnownKeys.h"
#include "frontends/huggingface/quantized/Quantization.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

#include <fmt/format.h>

#include <cmath>

namespace talc {

using Kind = CodeTable::Kind;
using Sign = QuantizedParts::Sign;

namespace {

// Tables of the library, which it uses in place of those that files hold.
constexpr float nf4[] = {-1.0f,
                         -0.6961928009986877f,
                         -0.5250730514526367f,
                         -0.39491748809814453f,
                         -0.28444138169288635f,
                         -0.18477343022823334f,
                         -0.09105003625154495f,
                         0.0f,
                         0.07958029955625534f,
                         0.16093020141124725f,
                         0.24611230194568634f,
                         0.33791524171829224f,
                         0.44070982933044434f,
                         0.5626170039176941f,
                         0.7229568362236023f,
                         1.0f};
constexpr float fp4[] = {0,     0.0625f / 12,  8.0f / 12,  1,  4.0f / 12,  0.5f,  2.0f / 12,  0.25f,
                         -0.0f, -0.0625f / 12, -8.0f / 12, -1, -4.0f / 12, -0.5f, -2.0f / 12, -0.25f};

struct FourBits {
  const char *name, *state;
  const float (&table)[16];
};

constexpr FourBits kinds[] = {{"nf4", ".weight.quant_state.bitsandbytes__nf4", nf4},
                              {"fp4", ".weight.quant_state.bitsandbytes__fp4", fp4}};

// The parameters in quant_state.
struct State {
  int64_t block = 0, nestedBlock = 0;
  FormatRef type = nullptr;
  float offset = 0;
};

class Bitsandbytes : public Quantization {
public:
  bool covers(const QuantizedParts &parts) const override {
    return parts.has(".SCB") || parts.has(".weight.absmax") ||
           llvm::any_of(kinds, [&](const FourBits &kind) { return parts.has(kind.state); });
  }

  std::optional<WeightOrigin> find(QuantizedParts &parts) const override {
    if (!parts.isMatrix()) {
      parts.refuse("is not a matrix, and talc reads only matrices of bitsandbytes");
      return std::nullopt;
    }
    return parts.has(".SCB") ? findBytes(parts) : findHalves(parts);
  }

private:
  static std::optional<WeightOrigin> findBytes(QuantizedParts &parts);
  static std::optional<WeightOrigin> findHalves(QuantizedParts &parts);
};

}  // namespace

// (code * SCB) * 1/127, as the library computes it.
std::optional<WeightOrigin> Bitsandbytes::findBytes(QuantizedParts &parts) {
  int64_t n = parts.rows, k = parts.columns;
  auto *codes = parts.need(".weight", {"I8"}, {{n, k}});
  auto *scales = codes ? parts.need(".SCB", {"F32"}, {{n}, {n, 1}}) : nullptr;
  if (!scales || !parts.checkScales(*scales, Kind::F32, Sign::NotNegative))
    return std::nullopt;
  if (parts.has(".weight_format")) {
    auto *order = parts.need(".weight_format", {"U8"}, {{}, {1}});
    std::string bytes = order ? parts.bytes(*order, 1) : "";
    if (bytes.empty())
      return std::nullopt;
    if (bytes[0] != 0) {
      parts.refuse(*order, fmt::format("is {}, expected 0: other orders are those of one kind of GPU", bytes[0]));
      return std::nullopt;
    }
  }
  LookupWeight weight{findStorageFormat("f32"), parts.codes(*codes, Kind::Integer, 8, 0), parts.floats(*scales, 0), k};
  weight.factor = 7.874015718698502e-3f;
  return weight;
}

//===--- four bits ------------------------------------------------------------------------------------------------===//

// The type of values, which Python wrote as "bfloat16" or "torch.bfloat16".
static FormatRef readType(const ModelConfig &config, const char *key) {
  static constexpr std::pair<llvm::StringLiteral, const char *> types[] = {
      {"float32", "f32"}, {"float16", "f16"}, {"bfloat16", "bf16"}};
  std::string text = config.text(key, "");
  llvm::StringRef name = text;
  name.consume_front("torch.");
  for (auto [typeName, format] : types)
    if (name == typeName)
      return findStorageFormat(format);
  config.unsupported(key, fmt::format("is {}, expected float32, float16 or bfloat16", quotedText(text)));
  return nullptr;
}

static State readState(const nlohmann::json &object, const ModelConfig &config, const FourBits &kind,
                       const std::vector<int64_t> &shape, Diagnostics &diagnostics) {
  using V = KnownValues;
  constexpr ModelConfig::Range blockSizes{1, 4096};
  checkKnownKeys(object, config,
                 {{"quant_type", V::Any},
                  {"blocksize", V::Any},
                  {"dtype", V::Any},
                  {"shape", V::Any},
                  {"nested_blocksize", V::Any},
                  {"nested_dtype", V::Any},
                  {"nested_offset", V::Any}},
                 UnknownKeys::Refused, diagnostics);
  if (config.text("quant_type", kind.name) != kind.name)
    config.invalid("quant_type", fmt::format("is not {}, as the tensor's name says", kind.name));
  State state;
  state.block = config.integer("blocksize", 0, blockSizes);
  state.type = readType(config, "dtype");
  if (!llvm::isPowerOf2_64(static_cast<uint64_t>(state.block)) || state.block < 32)
    config.invalid("blocksize", "is missing or no power of two from 32 to 4096");
  if (object.value("shape", nlohmann::json()) != nlohmann::json(shape))
    config.invalid("shape", "differs from the model's shape of the weight, " + shapeText(shape));
  if (!config.has("nested_blocksize"))
    return state;
  state.nestedBlock = config.integer("nested_blocksize", 0, blockSizes);
  state.offset = static_cast<float>(config.number("nested_offset", 0, -1e30, 1e30));
  if (FormatRef type = readType(config, "nested_dtype"); type && type != findStorageFormat("f32"))
    config.unsupported("nested_dtype", "is not float32");
  return state;
}

static std::optional<State> findState(QuantizedParts &parts, const FourBits &kind) {
  constexpr int64_t longest = 1 << 16;
  const CheckpointTensor *any = parts.find(kind.state);
  int64_t size = any->entry.shape.size() == 1 ? any->entry.shape.front() : 0;
  auto *tensor = parts.need(kind.state, {"U8"}, {{size}});
  std::string text = tensor ? parts.bytes(*tensor, longest) : "";
  if (text.empty())
    return std::nullopt;
  const std::string place = tensor->file + ": tensor " + quotedText(tensor->entry.name);
  auto object = parseJsonObject(text, place, ImportError::TensorValue, parts.diagnostics);
  if (!object)
    return std::nullopt;
  JsonConfig source(*object, place);
  ModelConfig config(source, parts.diagnostics);
  State state = readState(*object, config, kind, {parts.rows, parts.columns}, parts.diagnostics);
  return config.failed() ? std::nullopt : std::optional(state);
}

// Bytes, or other types that hold them for programs that share weights in pieces.
static const CheckpointTensor *findCodes(QuantizedParts &parts) {
  int64_t bytes = (parts.rows * parts.columns + 1) / 2;
  const CheckpointTensor *any = parts.find(".weight");
  int64_t size = any && any->entry.type == "F32"                             ? 4
                 : any && any->entry.type != "U8" && any->entry.type != "I8" ? 2
                                                                             : 1;
  return parts.need(".weight", {"U8", "I8", "BF16", "F16", "F32"}, {{bytes / size, 1}, {1, bytes / size}});
}

// A table that is another than the library's is that of a kind that talc does not know.
static bool checkTable(QuantizedParts &parts, const FourBits &kind) {
  constexpr float tolerance = 1e-4f;
  if (!parts.has(".weight.quant_map"))
    return true;
  auto *tensor = parts.need(".weight.quant_map", {"F32"}, {{16}});
  std::vector<float> numbers = tensor ? parts.numbers(*tensor, Kind::F32) : std::vector<float>();
  if (numbers.empty())
    return false;
  for (size_t i = 0; i < numbers.size(); ++i)
    if (!(std::fabs(numbers[i] - kind.table[i]) <= tolerance)) {
      parts.refuse(*tensor, fmt::format("has {} at {}, expected {} of {}", numbers[i], i, kind.table[i], kind.name));
      return false;
    }
  return true;
}

// Scales that were quantized as well.
static std::optional<ScaleCodes> findScaleCodes(QuantizedParts &parts, const State &state, int64_t blocks) {
  auto *table = parts.need(".weight.nested_quant_map", {"F32"}, {{256}});
  auto *factors = parts.need(".weight.nested_absmax", {"F32"},
                             {{static_cast<int64_t>(llvm::divideCeil(blocks, state.nestedBlock))}});
  if (!table || !factors || !parts.checkScales(*table, Kind::F32, Sign::Any) ||
      !parts.checkScales(*factors, Kind::F32, Sign::NotNegative))
    return std::nullopt;
  return ScaleCodes{parts.floats(*table, 0), parts.floats(*factors, 0), state.nestedBlock, state.offset};
}

std::optional<WeightOrigin> Bitsandbytes::findHalves(QuantizedParts &parts) {
  const FourBits *kind = llvm::find_if(kinds, [&](const FourBits &candidate) { return parts.has(candidate.state); });
  if (kind == std::end(kinds)) {
    parts.refuse("lacks its quant_state, which says how it is quantized");
    return std::nullopt;
  }
  auto state = findState(parts, *kind);
  auto *codes = state ? findCodes(parts) : nullptr;
  if (!codes || !checkTable(parts, *kind))
    return std::nullopt;
  auto blocks = static_cast<int64_t>(llvm::divideCeil(parts.rows * parts.columns, state->block));
  const bool isNested = state->nestedBlock > 0;
  auto *scales = parts.need(".weight.absmax", {isNested ? "U8" : "F32"}, {{blocks}});
  if (!scales)
    return std::nullopt;
  CodeTable table = isNested ? parts.codes(*scales, Kind::Natural, 8, 0) : parts.floats(*scales, 0);
  LookupWeight weight{state->type, parts.codes(*codes, Kind::Natural, 4, 0), table, state->block};
  weight.table.assign(std::begin(kind->table), std::end(kind->table));
  if (isNested && !(weight.scaleCodes = findScaleCodes(parts, *state, blocks)))
    return std::nullopt;
  if (!isNested && !parts.checkScales(*scales, Kind::F32, Sign::NotNegative))
    return std::nullopt;
  return weight;
}

//===--- the configuration ----------------------------------------------------------------------------------------===//

QuantizationPtr readBitsandbytes(const QuantizationKeys &keys, Diagnostics &diagnostics) {
  using V = KnownValues;
  const ModelConfig &config = keys.config;
  checkKnownKeys(keys.object, config,
                 {{"quant_method", V::Any},
                  {"load_in_4bit", V::Flag},
                  {"load_in_8bit", V::Flag},
                  {"_load_in_4bit", V::Flag},
                  {"_load_in_8bit", V::Flag},
                  {"bnb_4bit_compute_dtype", V::Text},
                  {"bnb_4bit_quant_storage", V::Text},
                  {"bnb_4bit_quant_type", V::Text},
                  {"bnb_4bit_use_double_quant", V::Flag},
                  {"llm_int8_enable_fp32_cpu_offload", V::Flag},
                  {"llm_int8_has_fp16_weight", V::Flag},
                  {"llm_int8_skip_modules", V::Texts},
                  {"llm_int8_threshold", V::Number}},
                 UnknownKeys::Warned, diagnostics);
  checkName(config, "bnb_4bit_quant_type", {"nf4", "fp4"});
  checkName(config, "bnb_4bit_compute_dtype",
            {"float16", "bfloat16", "float32", "torch.float16", "torch.bfloat16", "torch.float32"});
  checkName(config, "bnb_4bit_quant_storage",
            {"uint8", "int8", "float16", "bfloat16", "float32", "torch.uint8", "torch.int8", "torch.float16",
             "torch.bfloat16", "torch.float32"});
  if (config.failed())
    return nullptr;
  if (config.isFlag("load_in_8bit") && config.flag("load_in_8bit", false))
    diagnostics.warning("config.json: quantization_config: activations are not rounded to 8 bits, weights are as they "
                        "are in the files");
  return std::make_unique<Bitsandbytes>();
}

}  // namespace talc
