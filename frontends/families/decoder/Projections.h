// SPDX-License-Identifier: Apache-2.0
// Linear layers of a decoder by the names of their tensors, and how files pack queries, keys and values.
#pragma once

#include "frontends/GraphBuilder.h"

#include <string>

namespace talc {

struct Linear {
  std::string name;
  bool bias = false;
  bool transposed = false;    // files have inputs by outputs (Conv1D)
  std::string biasName = {};  // empty: `name`.bias

  // `why` explains the shape in error messages.
  Tensor write(GraphBuilder &g, Tensor x, int64_t outputs, const std::string &why) const;
};

// The sizes of attention's heads.
struct HeadSizes {
  int64_t heads = 0, keyValueHeads = 0, width = 0;

  int64_t rowCount() const { return (heads + 2 * keyValueHeads) * width; }
};

// A part of attention's input.
enum class HeadPart { Query, Key, Value };

// Projections of attention.
struct Projections {
  // Files have three tensors; one with all queries before all keys and all values; one in which the queries of a GQA
  // group stand before its key and its value; or one in four parts, each with some queries, values and keys.
  enum class Packing { Apart, InOrder, ByGroup, InQuarters };
  Packing packing = Packing::Apart;
  Linear query = {"self_attn.q_proj"}, key = {"self_attn.k_proj"}, value = {"self_attn.v_proj"};
  Linear all = {"self_attn.qkv_proj"};  // unless they are apart
  Linear output = {"self_attn.o_proj"};
  bool hasGates = false;       // behind each head's rows of the query's tensor stand those of its gates
  int64_t pairedFeatures = 0;  // features of a head that files pair with their neighbors for rope; 0: they pair halves
  bool turnsBack = false;      // rope turns by negative angles

  // Biases of queries, keys and values.
  void setInputBias(bool bias) { query.bias = key.bias = value.bias = all.bias = bias; }
  void setBias(bool bias) { setInputBias(output.bias = bias); }
  // One tensor for queries, keys and values.
  void pack(const std::string &name, bool inOrder);
  // Three tensors, called `start`q`end` and so on, and the output's.
  void nameApart(const std::string &start, const std::string &end, const std::string &outputName);

  // Makes what `project` takes: the input itself, or its product with a fused matrix whose rows cannot be taken.
  Tensor prepare(GraphBuilder &g, Tensor x, const HeadSizes &sizes) const;
  Tensor project(GraphBuilder &g, Tensor prepared, const HeadSizes &sizes, HeadPart part) const;
  // The gates of what heads yield, before their activation.
  Tensor gates(GraphBuilder &g, Tensor x, const HeadSizes &sizes) const;
  // Weights of queries and keys, in the order in which rope takes features.
  Weight ordered(GraphBuilder &g, Weight weight, const HeadSizes &sizes) const;
};

}  // namespace talc
