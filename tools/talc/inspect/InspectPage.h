// SPDX-License-Identifier: Apache-2.0
// The page of `talc compile --inspect`: every pass, and what it changed. It needs nothing but a browser.
#pragma once

#include "tools/talc/inspect/PassRecorder.h"

namespace talc::tools {

// `title`: the model's name and what it is compiled for.
std::string renderPage(const PassRecorder &recorder, const std::string &title);

// HTML with the places @TITLE@ and @DATA@.
extern const char *const pageTemplate;

}  // namespace talc::tools
