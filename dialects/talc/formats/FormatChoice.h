// SPDX-License-Identifier: Apache-2.0
// Which weight is stored in which format: the value of --weights.
//
//   q4_k; lm_head=q6_k; *.down_proj=q6_k
//
// A format for all weights, or `checkpoint` for those of their files (also if there is none), and others for weights by
// name, in which * stands for any text; of several that fit a name the last one counts. Names are those of the
// checkpoint without ".weight".
#pragma once

#include "dialects/talc/formats/StorageFormat.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace talc {

struct FormatRule {
  std::string pattern;
  FormatRef format;  // null: the file's

  bool fits(std::string_view name) const;
};

struct FormatChoice {
  FormatRef usual = nullptr;  // null: the file's
  std::vector<FormatRule> rules;

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
