// SPDX-License-Identifier: Apache-2.0
// Which weight is stored in which format: the value of --weights.
//
//   q4_k; lm_head=q6_k; *.down_proj=q6_k
//   4.5bit; lm_head=q6_k
//
// A format for all weights, or `checkpoint` for those of their files (also if there is none), or a size in bits of a
// value on average, for which assign-formats finds one for each weight; and others for weights by name, in which *
// stands for any text; of several that fit a name the last one counts. Names are those of the checkpoint without
// ".weight".
#pragma once

#include "dialects/talc/formats/StorageFormat.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace talc {

// Of a weight without recipe: the element type that assign-formats found for a size.
constexpr char formatAttr[] = "talc.format";
// Of a matrix: the mean squares of the features that it multiplies, an array of f32 for each of its columns; of several
// matrices that lie one after the other, such as experts, for each of each.
constexpr char importanceAttr[] = "talc.importance";
// Of a matrix: the element type of the blocks that its values are rounded to before anything is made of it, by
// talc.importance if it has one.
constexpr char quantizeToAttr[] = "talc.quantize_to";
// Of a matrix: by how much predictions diverge once it and those with which it shares a format are rounded to
// probeFormat, an f64.
constexpr char divergenceAttr[] = "talc.divergence";
constexpr char probeFormat[] = "q4_0";
// Of a module whose second result is what layers multiply (observe-features): of its features so many after another,
// and the matrices that multiply them; an array of dictionaries.
constexpr char observedAttr[] = "talc.observed";
constexpr char featuresKey[] = "features", matricesKey[] = "matrices";
// Of a module: what assign-formats found, in words.
constexpr char chosenFormatsAttr[] = "talc.chosen_formats";

struct FormatRule {
  std::string pattern;
  FormatRef format;  // null: the file's

  bool fits(std::string_view name) const;
};

struct FormatChoice {
  std::string text = "checkpoint";  // as the user wrote it
  FormatRef usual = nullptr;        // null: the file's, or what was chosen for a size
  double bits = 0;                  // of a value, on average; 0: no size is wanted
  std::vector<FormatRule> rules;

  // One format for all weights.
  static FormatChoice uniform(const StorageFormat &format);

  const FormatRule *ruleOf(std::string_view name) const;  // null: none
  FormatRef of(std::string_view name) const;
};

// The name by which a weight of the module is chosen.
std::string_view chosenName(std::string_view symbol);

// Nothing if `text` is no such choice; `error` says why.
std::optional<FormatChoice> parseFormatChoice(std::string_view text, std::string &error);

// `wanted` if rows of so many values are whole blocks of it, else the format with the fewest more bits whose blocks
// fit.
const StorageFormat &formatForRows(const StorageFormat &wanted, int64_t values);

}  // namespace talc
