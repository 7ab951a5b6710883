// SPDX-License-Identifier: Apache-2.0
// Reads the groups of modules in config_groups, and finds that of a module.
#include "frontends/huggingface/quantized/CompressedScheme.h"

#include "frontends/Json.h"
#include "frontends/ModelConfig.h"
#include "frontends/huggingface/JsonConfig.h"
#include "frontends/huggingface/quantized/KnownKeys.h"
#include "frontends/huggingface/quantized/ModulePattern.h"

#include "llvm/ADT/STLExtras.h"

#include <fmt/format.h>

#include <array>
#include <optional>

namespace talc {

using nlohmann::json;
using Kind = CompressedScheme::Kind;
using Strategy = CompressedScheme::Strategy;

static constexpr const char *groupsKey = "config_groups";

namespace {

// The properties of a format: the kind of numbers, and how many of them share a scale; 0: the group size.
struct Format {
  std::string_view name;
  Kind kind;
  std::string_view type;
  std::array<int64_t, 3> bits;
  int64_t group = 0;
};

}  // namespace

static const Format *schemeFormatNamed(std::string_view name) {
  static constexpr Format formats[] = {{"pack-quantized", Kind::Packed, "int", {2, 4, 8}},
                                       {"int-quantized", Kind::Integers, "int", {4, 8}},
                                       {"float-quantized", Kind::Fp8, "float", {8}},
                                       {"mxfp8-quantized", Kind::Mxfp8, "float", {8}, 32},
                                       {"mxfp4-pack-quantized", Kind::Mxfp4, "float", {4}, 32},
                                       {"nvfp4-pack-quantized", Kind::Nvfp4, "float", {4}, 16}};
  const Format *it = llvm::find_if(formats, [&](const Format &format) { return format.name == name; });
  return it == std::end(formats) ? nullptr : it;
}

// Keys that mean something else are an error for their own program, too.
static void checkArguments(const json &arguments, const ModelConfig &config, Diagnostics &diagnostics) {
  using V = KnownValues;
  checkKnownKeys(arguments, config,
                 {{"num_bits", V::Any},
                  {"type", V::Text},
                  {"symmetric", V::Any},
                  {"strategy", V::Text},
                  {"group_size", V::Any},
                  {"dynamic", V::TextOrFlag},
                  {"actorder", V::TextOrFlag},
                  {"scale_dtype", V::Text},
                  {"zp_dtype", V::Text},
                  {"block_structure", V::Any},
                  {"observer", V::Text},
                  {"observer_kwargs", V::Object}},
                 UnknownKeys::Refused, diagnostics);
  checkName(config, "type", {"int", "float"});
  checkName(config, "strategy", {"tensor", "channel", "group", "tensor_group", "block", "token", "attn_head"});
  checkName(config, "dynamic", {"local"});
  checkName(config, "actorder", {"group", "weight", "static", "dynamic"});
  for (const char *key : {"scale_dtype", "zp_dtype"})
    checkName(config, key,
              {"torch.float16", "torch.bfloat16", "torch.float32", "torch.float8_e4m3fn", "torch.float8_e8m0fnu",
               "torch.uint8", "torch.int8", "torch.int32"});
}

// Values that numbers take when they are made anew at every run; weights have none.
static void checkWeights(const ModelConfig &config) {
  if (config.isFlag("dynamic") && config.flag("dynamic", false))
    config.unsupported("dynamic", "is true, but weights that are stored have scales of their own");
}

static void readBlock(const json &weights, const ModelConfig &config, CompressedScheme &scheme) {
  constexpr int64_t maxGroupSize = 1 << 20;
  json sizes = weights.value("block_structure", json());
  if (sizes.is_string()) {  // "128x128"
    auto [rows, columns] = llvm::StringRef(sizes.get_ref<const std::string &>()).split('x');
    int64_t r = 0, c = 0;
    sizes = !rows.getAsInteger(10, r) && !columns.getAsInteger(10, c) ? json::array({r, c}) : json();
  }
  auto good = [&](const json &size) { return size.is_number_integer() && size >= 1 && size <= maxGroupSize; };
  if (!sizes.is_array() || sizes.size() != 2 || !good(sizes[0]) || !good(sizes[1]))
    return config.invalid("block_structure", fmt::format("is not a pair of numbers from 1 to {}", maxGroupSize));
  scheme.blockRows = sizes[0].get<int64_t>();
  scheme.blockColumns = sizes[1].get<int64_t>();
}

// With tensor_group the scales of groups count in units of one scale of the tensor. Only nvfp4-pack-quantized stores
// it: elsewhere the library that writes such files rounds with it, but reads without it.
static void readStrategy(const json &weights, const ModelConfig &config, CompressedScheme &scheme) {
  constexpr int64_t maxBlockSize = 1 << 24;
  int64_t size = config.has("group_size") ? config.integer("group_size", -1, {-1, maxBlockSize}) : 0;
  if (config.has("group_size") && size == 0)
    config.invalid("group_size", "is 0, expected -1 or a number > 0");
  std::string usual = size > 0 ? "group" : size < 0 ? "channel" : "tensor";
  std::string name = config.has("strategy") ? llvm::StringRef(config.text("strategy", usual)).lower() : usual;
  scheme.groupSize = size;
  if (config.has("block_structure"))
    readBlock(weights, config, scheme);
  if (name == "tensor_group" && scheme.kind != Kind::Nvfp4) {
    config.unsupported("strategy", "is tensor_group, but only nvfp4-pack-quantized stores a scale of the tensor beside "
                                   "those of groups; expected group");
  } else if (name == "tensor") {
    scheme.strategy = Strategy::Tensor;
  } else if (name == "channel") {
    scheme.strategy = Strategy::Channel;
  } else if (name == "block") {
    scheme.strategy = Strategy::Block;
    if (!config.has("block_structure"))
      config.invalid("block_structure", "is missing, but the strategy has blocks");
  } else if (name == "group" || name == "tensor_group") {
    scheme.strategy = Strategy::Group;
    if (size <= 0)
      config.invalid("group_size", "is missing, but the strategy has groups");
  } else {
    config.unsupported("strategy", "is none of tensor, channel, group, tensor_group and block");
  }
}

static void checkNumbers(const ModelConfig &config, const Format &format, const CompressedScheme &scheme) {
  llvm::StringRef type = format.type;
  std::string numberType = config.text("type", "int");
  if (!type.equals_insensitive(numberType) || !llvm::is_contained(format.bits, scheme.bits))
    config.unsupported("num_bits", fmt::format("is {} of type {}, which talc does not read in this format", scheme.bits,
                                               quotedText(numberType)));
  if (!scheme.symmetric && !llvm::StringRef(numberType).equals_insensitive("int"))
    config.unsupported("symmetric", "is false for numbers that are not integers");
  if (format.group > 0 && config.has("group_size") && scheme.groupSize != format.group)
    config.unsupported("group_size", fmt::format("is {}, expected {} in this format", scheme.groupSize, format.group));
}

static void checkGroup(const json &group, const std::string &place, const ModelConfig &config,
                       Diagnostics &diagnostics) {
  using V = KnownValues;
  checkKnownKeys(group, config,
                 {{"targets", V::Any},
                  {"weights", V::Any},
                  {"input_activations", V::Object},
                  {"output_activations", V::Object},
                  {"format", V::Text}},
                 UnknownKeys::Refused, diagnostics);
  for (const char *key : {"input_activations", "output_activations"})
    if (auto it = group.find(key); it != group.end() && it->is_object()) {
      JsonConfig source(*it, place + "." + key);
      checkArguments(*it, ModelConfig(source, diagnostics), diagnostics);
    }
}

static std::optional<CompressedScheme> readScheme(const json &group, const std::string &name,
                                                  const std::string &usualFormat, Diagnostics &diagnostics) {
  const std::string place = fmt::format("config.json: quantization_config.{}.{}", groupsKey, quotedText(name));
  JsonConfig source(group, place);
  ModelConfig config(source, diagnostics);
  checkGroup(group, place, config, diagnostics);
  auto formatName = config.isText("format") ? config.text("format", "") : usualFormat;
  const Format *format = schemeFormatNamed(formatName);
  auto weights = group.find("weights");
  if (!format || weights == group.end() || !weights->is_object()) {
    config.unsupported(format ? "weights" : "format",
                       format ? std::string("does not say how weights are stored")
                              : fmt::format("is {}, expected pack-quantized, int-quantized, float-quantized, "
                                            "mxfp8-quantized, mxfp4-pack-quantized or nvfp4-pack-quantized",
                                            quotedText(formatName)));
    return std::nullopt;
  }
  JsonConfig inner(*weights, place + ".weights");
  ModelConfig arguments(inner, diagnostics);
  checkArguments(*weights, arguments, diagnostics);
  checkWeights(arguments);
  CompressedScheme scheme{format->kind, Strategy::Tensor, arguments.integer("num_bits", 8, {1, 8})};
  scheme.symmetric = arguments.flag("symmetric", true);
  scheme.roundsActivations = config.has("input_activations");
  readStrategy(*weights, arguments, scheme);
  checkNumbers(arguments, *format, scheme);
  scheme.targets = config.texts("targets");
  for (llvm::StringRef target : scheme.targets)
    if (target.consume_front("re:") && !ModulePattern::parse(target))
      config.unsupported("targets",
                         fmt::format("holds the expression {}, which talc does not understand", quotedText(target)));
  return scheme;
}

std::vector<CompressedScheme> readSchemes(const json &object, const ModelConfig &config, Diagnostics &diagnostics) {
  constexpr size_t maxGroups = 256;
  std::vector<CompressedScheme> schemes;
  auto groups = object.find(groupsKey);
  if (groups == object.end() || !groups->is_object() || groups->empty() || groups->size() > maxGroups) {
    config.unsupported(groupsKey, fmt::format("is not an object with 1 to {} groups", maxGroups));
    return schemes;
  }
  if (auto cache = object.find("kv_cache_scheme"); cache != object.end() && cache->is_object()) {
    JsonConfig source(*cache, "config.json: quantization_config.kv_cache_scheme");
    checkArguments(*cache, ModelConfig(source, diagnostics), diagnostics);
  }
  std::string format = config.text("format", "");
  for (auto &[name, group] : groups->items()) {
    if (!group.is_object()) {
      config.unsupported(groupsKey, fmt::format("has the group {}, which is {}, expected an object", quotedText(name),
                                                jsonText(group)));
      continue;
    }
    if (auto scheme = readScheme(group, name, format, diagnostics))
      schemes.push_back(std::move(*scheme));
  }
  return schemes;
}

// 3: by name, 2: by an expression, 1: by the class, which for weights of matrices is Linear; 0: not.
static int fit(const CompressedScheme &scheme, llvm::StringRef module) {
  int best = 0;
  for (llvm::StringRef target : scheme.targets) {
    if (target == module)
      best = 3;
    else if (target == "Linear")
      best = std::max(best, 1);
    else if (target.consume_front("re:"))
      if (auto pattern = ModulePattern::parse(target))
        best = std::max(best, pattern->matches(module) ? 2 : 0);
  }
  return best;
}

const CompressedScheme *findScheme(const std::vector<CompressedScheme> &schemes, std::string_view module) {
  if (schemes.size() == 1)
    return &schemes.front();
  const CompressedScheme *match = nullptr;
  int best = 0;
  for (const CompressedScheme &scheme : schemes) {
    int score = fit(scheme, module);
    if (score > best)
      match = &scheme;
    else if (score == best)
      match = score == 0 ? match : nullptr;
    best = std::max(best, score);
  }
  return match;
}

}  // namespace talc
