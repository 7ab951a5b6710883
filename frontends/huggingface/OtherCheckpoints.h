// SPDX-License-Identifier: Apache-2.0
// Directories that look like a model of transformers, but hold something else.
#pragma once

#include "frontends/Diagnostics.h"

#include <nlohmann/json_fwd.hpp>

#include <string>

namespace talc {

class ModelDirectory;

// Reports what a directory holds instead of config.json and safetensors files of transformers, and what to do; false if
// it is none of the known kinds. Before config.json is read, which other kinds may lack.
bool reportOtherDirectory(const ModelDirectory &directory, Diagnostics &diagnostics);

// Likewise, by the keys of config.json.
bool reportOtherConfig(const nlohmann::json &config, Diagnostics &diagnostics);

}  // namespace talc
