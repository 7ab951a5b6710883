// SPDX-License-Identifier: Apache-2.0
// What the program tells about memory and speed.
#pragma once

#include "runtime/program/Job.h"

namespace talc::program {

// A line for each device.
std::string devicesText();

// The text of --memory; exact.
std::string memoryText(const talc_model *model, const talc_model_info &info, int32_t threads);

// Which texts ended for want of room; empty when none did.
std::string endingText(const Job &job);

// One line after a run.
std::string summaryText(const Job &job, const talc_session *session, double loadSeconds, double runSeconds);

}  // namespace talc::program
