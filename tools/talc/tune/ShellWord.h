// SPDX-License-Identifier: Apache-2.0
// Words of commands that users may copy to a shell.
#pragma once

#include <string>

namespace talc::tools {

// The word as a shell reads it back, in printable ASCII: quoted if it holds more than letters, digits and harmless
// signs, with \xNN for other bytes.
std::string shellWord(const std::string &word);

}  // namespace talc::tools
