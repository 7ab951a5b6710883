// SPDX-License-Identifier: Apache-2.0
// The page of `talc compile --inspect`: the model, what was compiled, every pass and what it changed. It needs nothing
// but a browser; without JavaScript it is its overview.
#pragma once

#include "tools/talc/inspect/PassRecorder.h"

namespace talc::tools {

// What the page says of the compilation.
struct PageHead {
  std::string model;    // as the user named it
  std::string targets;  // x86-64-v3, ...
  std::string weights;  // --weights
  std::string product;  // --emit
  double seconds = 0;   // the whole compilation
};

std::string renderPage(const PassRecorder &recorder, const PageHead &head);

// Overview.cpp: what the page opens with, as HTML.
std::string renderOverview(const PassRecorder &recorder, const PageHead &head);

}  // namespace talc::tools
