// SPDX-License-Identifier: Apache-2.0
// A small program in the talc dialect around the one op that is to be measured.
#pragma once

#include <cstdint>
#include <string>

namespace talc::bench {

struct OpSpec {
  std::string text;  // "linear 128x768x2304", as it was given
  std::string op;    // which kernel of the compiled program is the op
  int64_t rows = 0;  // tokens of a step
  int64_t past = 0;  // tokens before it, for attention
  // The sizes of linear: [rows, depth] x [depth, columns]; else 0.
  int64_t depth = 0, columns = 0;
  std::string weights;  // the format that the text ends with; empty: none
  std::string program;  // in the talc dialect
};

// A line for every kind of op: its form, and what its sizes are.
std::string describeOps();

// Parses a text of one of these forms. `past`: tokens before the step, which attention sees. Returns what is wrong with
// the text, or nothing.
std::string parseOp(const std::string &text, int64_t past, OpSpec &spec);

// The op of a chain: `pairs` times, each number of a row is halved and the row is added; at least halved once. It shows
// what a device can do at most: with many pairs compute, with none read and write.
OpSpec makeChainOp(int64_t width, int64_t pairs);

}  // namespace talc::bench
