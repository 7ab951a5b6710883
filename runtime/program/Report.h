// SPDX-License-Identifier: Apache-2.0
// What the program tells about memory and speed.
#pragma once

#include "runtime/program/Generation.h"

namespace talc::program {

// The text of --memory; exact.
std::string memoryText(const talc_model_info &info, int32_t threads);

// Where sequences ended for want of room, one line each; empty when none did.
std::string endingText(const std::vector<Sequence> &sequences, const talc_model_info &info);

// One line after a run.
std::string summaryText(const talc_model_info &info, const talc_session *session, const Timing &timing,
                        double loadSeconds);

}  // namespace talc::program
