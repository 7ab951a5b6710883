// SPDX-License-Identifier: Apache-2.0
// The lines for people in a manifest.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include <string>

namespace talc {

// Tells in lines of a label and a text what a product is: model, options, formats, what was measured.
std::string summarize(const nlohmann::ordered_json &manifest);

}  // namespace talc
