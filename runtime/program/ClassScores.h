// SPDX-License-Identifier: Apache-2.0
// Turns logits of classes into scores, and writes them.
#pragma once

#include "runtime/talc.h"

#include <string>
#include <vector>

namespace talc::program {

std::vector<double> softmax(const float *logits, size_t count);

// A single class has a probability of its own.
std::vector<double> classScores(talc_class_scores kind, const float *logits, size_t count);

// Appends a number with enough digits to tell it from its neighbors: a probability near 0 or 1 has six that differ from
// 0 or 9.
void appendScore(std::string &text, double score, bool isProbability);

}  // namespace talc::program
