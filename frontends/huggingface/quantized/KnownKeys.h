// SPDX-License-Identifier: Apache-2.0
// The keys that a method's configuration may have, and what their values may be.
#pragma once

#include "frontends/Diagnostics.h"

#include <nlohmann/json_fwd.hpp>

#include <initializer_list>
#include <string_view>

namespace talc {

class ModelConfig;

// Values of another type are errors; null stands for none. Texts and names are read regardless of case.
enum class KnownValues { Flag, Number, NumberOrFlag, Text, TextOrFlag, Texts, Object, Any };

struct KnownKey {
  std::string_view name;
  KnownValues values;
};

// Keys that are not in the list are errors where they are for the method's own program, too.
enum class UnknownKeys { Refused, Warned };

// Checks all keys of `object`, whose values `config` has.
void checkKnownKeys(const nlohmann::json &object, const ModelConfig &config, std::initializer_list<KnownKey> list,
                    UnknownKeys unknown, Diagnostics &diagnostics);

// Reports a text that is none of `names`; absent and null are right.
void checkName(const ModelConfig &config, const char *key, std::initializer_list<std::string_view> names);

}  // namespace talc
