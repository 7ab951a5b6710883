// SPDX-License-Identifier: Apache-2.0
// The keys of config.json that no part of talc has read.
#pragma once

#include <nlohmann/json_fwd.hpp>

namespace talc {

class ModelConfig;

// Reports every key of `object` that the family of `config` has not read, after it has read all that it knows. Keys
// without a meaning for a compiled model pass, as do values that turn a key off: null, false and what is empty.
void refuseUnreadKeys(const ModelConfig &config, const nlohmann::json &object);

}  // namespace talc
