// SPDX-License-Identifier: Apache-2.0
// The common part of talc-interpret and talc-steps: the options for prompts, their results, and how they end.
#pragma once

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/Error.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

namespace talc::numerics {

using Ids = std::vector<int32_t>;

// The tokens of a prompt that a result is requested for.
enum class OutputSelection { all, first, last, even };  // even: the first, third, ...

// The rows of a result so far.
struct Rows {
  int64_t width = 0;
  std::vector<double> values;
};

struct Prompt {
  Ids ids, types, source;  // types and source may be empty
  int32_t prefix = 0;
  size_t done = 0;  // tokens evaluated
  std::vector<Rows> results;

  // In a step that evaluates the next `count` tokens: those that a result is requested for, counted from the first of
  // them.
  Ids outputTokens(OutputSelection selection, size_t count) const;
  // Values of a type that fits a double.
  template <typename Value> void addRows(size_t result, int64_t width, llvm::ArrayRef<Value> values) {
    results.resize(std::max(results.size(), result + 1));
    results[result].width = width;
    results[result].values.insert(results[result].values.end(), values.begin(), values.end());
  }
};

// The next tokens of one prompt.
struct Part {
  size_t prompt, count;
};

// Calls `step` with the next tokens of every prompt that has some left, until none has; `step` counts them as done.
// `split`: how many tokens of a prompt a step takes, the last number again and again; empty: all. The tokens of a
// prefix are not divided.
llvm::Error runSteps(llvm::ArrayRef<Prompt> prompts, const Ids &split,
                     llvm::function_ref<llvm::Error(llvm::ArrayRef<Part>)> step);

class PromptOptions {
public:
  llvm::Error parse();

  OutputSelection outputSelection(llvm::StringRef kind, size_t result) const;
  // Writes every result of every prompt to the file of --logits, if there is one: tensor KIND for one prompt, KIND.0,
  // KIND.1, ... for several. A name that is empty stands for a result that is not written.
  llvm::Error write(const std::vector<std::string> &kinds) const;

  std::vector<Prompt> prompts;
  Ids split;
  llvm::cl::opt<std::string> logits{"logits", llvm::cl::desc("write rows to this safetensors file")};

private:
  using Strings = llvm::cl::list<std::string>;

  Strings ids{"ids", llvm::cl::OneOrMore, llvm::cl::desc("a prompt: comma separated token ids; may be repeated")};
  Strings types{"types", llvm::cl::desc("the token types of the first, second, ... prompt; default: all 0")};
  Strings sources{"source-ids", llvm::cl::desc("the source of the first, second, ... prompt, for encoder-decoders")};
  llvm::cl::list<int> prefixes{"prefix", llvm::cl::desc("tokens of the first, second, ... prompt that see each other")};
  llvm::cl::opt<std::string> splitText{
      "split", llvm::cl::desc("tokens per step: 3,2,1 (the last number repeats); default: all at once")};
  llvm::cl::opt<std::string> rowsText{
      "rows", llvm::cl::desc("rows of each result, all, first, last or even (the first, third, ...): first,all; "
                             "default: first of classes, else all")};
  std::vector<OutputSelection> rows;
};

// The exit status; says what went wrong.
int finish(llvm::Error error);

}  // namespace talc::numerics
