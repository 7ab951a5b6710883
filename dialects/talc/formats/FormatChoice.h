// SPDX-License-Identifier: Apache-2.0
// The storage formats of weights by name: the value of --weights.
//
//   q4_k; lm_head=q6_k; *.down_proj=q6_k
//   4.5bit; lm_head=q6_k
//   q4_k_m
//
// It begins with a format for all weights, or `checkpoint` for the formats of their files (the default), or a size in
// average bits per value, for which assign-formats chooses a format for each weight, or a mix of llama.cpp
// (FormatMix.h; q2_k there is the mix). Formats may be in upper case. Rules for weights by name follow,
// in which * matches any text; the last rule that matches a name applies. Names are those of the checkpoint without
// ".weight".
#pragma once

#include "dialects/talc/formats/FormatMix.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace talc {

// Attributes of talc.weight, the first also of talc.derive (see TalcOps.td).
constexpr char formatAttr[] = "format", importanceAttr[] = "importance", quantizeToAttr[] = "quantize_to",
               divergenceAttr[] = "divergence";
// The format for which divergences are measured.
constexpr char probeFormat[] = "q4_0";
// On a module whose second result is the inputs of all matmuls (observe-features): an array of dictionaries, each with
// a number of features and the matrices that multiply them.
constexpr char observedAttr[] = "talc.observed";
constexpr char featuresKey[] = "features", matricesKey[] = "matrices";
// On a module, as text: what assign-formats chose, and which formats took the place of others, whose blocks are too
// long for the rows of matrices.
constexpr char chosenFormatsAttr[] = "talc.chosen_formats";

struct FormatRule {
  std::string pattern;
  FormatRef format;  // null: that of the file

  bool fits(std::string_view name) const;
};

struct FormatChoice {
  std::string text = "checkpoint";  // as the user wrote it
  FormatRef usual = nullptr;        // null: that of the file, or the one chosen for a size or by a mix
  double bits = 0;                  // per value, on average; 0: no size is given
  const FormatMix *mix = nullptr;   // null: none is given
  std::vector<FormatRule> rules;

  // One format for all weights.
  static FormatChoice uniform(const StorageFormat &format);

  const FormatRule *findRule(std::string_view name) const;  // null: none
  FormatRef of(std::string_view name) const;
  // Whether weights without a rule keep the formats of their files.
  bool keepsFileFormats() const { return !usual && bits == 0 && !mix; }
};

// The name of a weight of the module that rules match.
std::string_view chosenName(std::string_view symbol);

// The formats among which one is chosen for a size.
llvm::ArrayRef<FormatRef> sizeFormats();

// None if `text` is not a valid choice; `error` then says why.
std::optional<FormatChoice> parseFormatChoice(std::string_view text, std::string &error);

// `wanted` if rows of `values` values are whole blocks of it, else the format with the fewest additional bits for which
// they are.
const StorageFormat &formatForRows(const StorageFormat &wanted, int64_t values);

}  // namespace talc
