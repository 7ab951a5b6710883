// SPDX-License-Identifier: Apache-2.0
// Reports about memory and speed.
#pragma once

#include "runtime/program/Job.h"

namespace talc::program {

// Formats a line for each device.
std::string devicesText();

// Formats the text of --memory, whose figures are exact.
std::string memoryText(const talc_model *model, const talc_model_info &info, int32_t threads);

// Formats which texts ended because the capacity was full; empty when none did.
std::string endingText(const Job &job);

// Formats the line after a run.
std::string summaryText(const Job &job, const talc_session *session, double loadSeconds, double runSeconds);

}  // namespace talc::program
