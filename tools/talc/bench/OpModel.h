// SPDX-License-Identifier: Apache-2.0
// A small program in the talc dialect around the one op that is to be measured.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace talc::bench {

struct OpSpec {
  std::string text;  // "linear 128x768x2304", as it was given
  std::string op;    // the compute op whose kernel is measured
  int64_t rows = 0;  // tokens of a step
  int64_t past = 0;  // tokens before it, for attention
  // The sizes of linear: [rows, depth] x [depth, columns]; else 0.
  int64_t depth = 0, columns = 0;
  std::string weights;  // the format that the text ends with; empty: none
  std::string program;  // in the talc dialect
};

// Returns a line for every kind of op: its form, and the meaning of its sizes.
std::string describeOps();

// Lists the ops that a text with alternatives stands for, in order: "linear 1,8x64x96 f32,q4_0" four. At most `maxOps`.
std::vector<std::string> expandOps(const std::string &text);
constexpr size_t maxOps = 256;

// Parses a text of one of these forms. Attention sees `past` tokens before the step. Returns an error or an empty text.
std::string parseOp(const std::string &text, int64_t past, OpSpec &spec);

// Makes a chain that halves each number of a row and adds the row, `pairs` times, and halves once more. It measures the
// peaks of a device: arithmetic with many pairs, reading and writing with none.
OpSpec makeChainOp(int64_t width, int64_t pairs);

}  // namespace talc::bench
