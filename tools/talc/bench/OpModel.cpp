// SPDX-License-Identifier: Apache-2.0
// Every program begins with rows of a random table and ends with select, which picks the last row, so that the op
// between works on all rows as it does in a model.
#include "tools/talc/bench/OpModel.h"

#include "dialects/talc/formats/StorageFormat.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <sstream>
#include <vector>

namespace talc::bench {

namespace {

// The words of the text: a kind, sizes, maybe a variant, maybe the format of the weights.
struct Words {
  std::string kind, variant, format;
  std::vector<int64_t> sizes;
};

struct OpKind {
  const char *name, *op, *sizes, *meaning;
  std::vector<std::string> variants;  // empty: none is expected; with an empty one there may be none
  bool formats;                       // whether there may be a format
  void (*write)(const Words &words, std::string &body, OpSpec &spec);

  // "norm SxD layer|rms".
  std::string form() const {
    bool optional = !variants.empty() && variants.front().empty();
    std::string words = fmt::format("{}", fmt::join(variants.begin() + (optional ? 1 : 0), variants.end(), "|"));
    return fmt::format("{} {}{}{}{}", name, sizes, variants.empty() ? "" : " ", optional ? "[" + words + "]" : words,
                       formats ? " [FORMAT]" : "");
  }
  bool takes(const Words &words) const {
    bool variant =
        variants.empty() ? words.variant.empty() : std::count(variants.begin(), variants.end(), words.variant) > 0;
    return words.sizes.size() == sizeCount() && variant && (formats || words.format.empty());
  }
  size_t sizeCount() const { return std::count(sizes, sizes + strlen(sizes), 'x') + 1; }
};

constexpr int64_t vocabulary = 64, largestSize = 1 << 20, largestWeight = int64_t(1) << 30;

}  // namespace

static std::string rowsType(int64_t width) {
  return fmt::format("tensor<?x{}xf32>", width);
}

static std::string weight(const char *name, const std::string &shape, double deviation) {
  return fmt::format("talc.weight @{} : tensor<{}xf32> = #talc.random<seed = 1, mean = 0.0, deviation = {:.9f}>\n",
                     name, shape, deviation);
}

// The program: a table of random rows of `width`, the op's own definitions, its body, which makes %y of %x, and a small
// head, since token ids reach from 0 to the width of the result.
static void wrap(const std::string &definitions, const std::string &body, int64_t entries, int64_t width,
                 int64_t resultWidth, std::string &program) {
  std::string table = fmt::format("tensor<{}x{}xf32>", entries, width), x = rowsType(width), y = rowsType(resultWidth);
  std::string head = fmt::format("tensor<{}x{}xf32>", vocabulary, resultWidth), logits = rowsType(vocabulary);
  program =
      weight("table", fmt::format("{}x{}", entries, width), 1.0) +
      weight("head", fmt::format("{}x{}", vocabulary, resultWidth), 0.02) + definitions +
      fmt::format("func.func @model(%ids: tensor<?xi32>, %sequences: !talc.sequences) -> {} attributes "
                  "{{talc.entry}} {{\n",
                  logits) +
      fmt::format("%table = talc.get_weight @table : {0}\n%x = talc.embedding %ids, %table : (tensor<?xi32>, {0}) "
                  "-> {1}\n",
                  table, x) +
      body +
      fmt::format("%last = talc.select %y, %sequences : {0} -> {0}\n%head = talc.get_weight @head : {1}\n"
                  "%logits = talc.linear %last, %head : ({0}, {1}) -> {2}\nreturn %logits : {2}\n}}\n",
                  y, head, logits);
}

static void writeLinear(const Words &words, std::string &program, OpSpec &spec) {
  int64_t depth = words.sizes[1], columns = words.sizes[2];
  spec.depth = depth;
  spec.columns = columns;
  std::string type = fmt::format("tensor<{}x{}xf32>", columns, depth);
  std::string definitions = weight("w", fmt::format("{}x{}", columns, depth), 0.02);
  std::string body = fmt::format("%w = talc.get_weight @w : {}\n", type);
  std::string x = rowsType(depth), y = rowsType(columns), bias = fmt::format("tensor<{}xf32>", columns);
  if (words.variant.empty()) {
    body += fmt::format("%y = talc.linear %x, %w : ({}, {}) -> {}\n", x, type, y);
  } else {
    definitions += weight("b", std::to_string(columns), 0.02);
    body += fmt::format("%b = talc.get_weight @b : {0}\n%{1} = talc.linear %x, %w bias %b : ({2}, {3}, {0}) -> {4}\n",
                        bias, words.variant == "bias" ? "y" : "sums", x, type, y);
  }
  if (words.variant == "gelu")
    body += fmt::format("%y = talc.activation gelu %sums : {}\n", y);
  wrap(definitions, body, vocabulary, depth, columns, program);
}

static void writeAttention(const Words &words, std::string &program, OpSpec &spec) {
  int64_t heads = words.sizes[1], keyHeads = words.sizes[2], width = words.sizes[3];
  int64_t queries = heads * width, keys = keyHeads * width;
  std::string q = rowsType(queries), k = rowsType(keys), x = rowsType(queries + 2 * keys);
  std::string state = fmt::format("!talc.kv_cache<{} x {} x {}>", keyHeads, width, spec.rows);
  std::string body =
      fmt::format("%q = talc.slice %x at 0 : {0} -> {1}\n%k = talc.slice %x at {2} : {0} -> {3}\n"
                  "%v = talc.slice %x at {4} : {0} -> {3}\n",
                  x, q, queries, k, queries + keys) +
      fmt::format("%kv = talc.get_kv_cache @kv : {0}\n"
                  "talc.kv_append %kv, %k, %v, %sequences : {0}, {1}\n"
                  "%keys, %values = talc.kv_read %kv, %sequences : {0} -> {1}, {1}\n",
                  state, k) +
      fmt::format("%y = talc.attention {} %q, %keys, %values, %sequences heads {}, {} scale {:.9f} : {}, "
                  "{}\n",
                  words.variant, heads, keyHeads, 1.0 / static_cast<double>(width), q, k);
  wrap(fmt::format("talc.kv_cache @kv : {}\n", state), body, vocabulary, queries + 2 * keys, queries, program);
}

static void writeNorm(const Words &words, std::string &program, OpSpec &) {
  int64_t width = words.sizes[1];
  std::string type = fmt::format("tensor<{}xf32>", width), x = rowsType(width);
  bool layer = words.variant == "layer";
  std::string body = fmt::format("%scale = talc.get_weight @scale : {}\n", type);
  body += layer ? fmt::format("%y = talc.norm layer %x, %scale bias %scale epsilon 1.0e-5 : ({0}, {1}, {1}) -> {0}\n",
                              x, type)
                : fmt::format("%y = talc.norm rms %x, %scale epsilon 1.0e-5 : ({0}, {1}) -> {0}\n", x, type);
  wrap(weight("scale", std::to_string(width), 0.02), body, vocabulary, width, width, program);
}

static void writeSoftmax(const Words &words, std::string &program, OpSpec &) {
  int64_t width = words.sizes[1];
  wrap("", fmt::format("%y = talc.softmax %x : {}\n", rowsType(width)), vocabulary, width, width, program);
}

static void writeActivation(const Words &words, std::string &program, OpSpec &) {
  int64_t width = words.sizes[1];
  wrap("", fmt::format("%y = talc.activation {} %x : {}\n", words.variant, rowsType(width)), vocabulary, width, width,
       program);
}

static void writeEmbedding(const Words &words, std::string &program, OpSpec &) {
  int64_t width = words.sizes[2];
  wrap("", fmt::format("%y = talc.scale %x by 2.0 : {}\n", rowsType(width)), std::max(words.sizes[1], vocabulary),
       width, width, program);
}

static const std::vector<OpKind> &opKinds() {
  static const std::vector<OpKind> kinds = {
      {"linear",
       "matmul",
       "MxKxN",
       "M rows of K inputs, N outputs; gelu also has a bias; FORMAT of the weights, such as q4_0",
       {"", "bias", "gelu"},
       /*formats=*/true,
       writeLinear},
      {"attention",
       "attention",
       "SxHxKVxD",
       "S tokens behind those of -d, H heads of width D that share KV key-value heads",
       {"causal", "full"},
       /*formats=*/false,
       writeAttention},
      {"norm", "norm", "SxD", "S tokens of width D", {"layer", "rms"}, /*formats=*/false, writeNorm},
      {"softmax", "softmax", "SxD", "S rows of D numbers", {}, /*formats=*/false, writeSoftmax},
      {"activation",
       "generic",
       "SxD",
       "S tokens of width D",
       {"relu", "relu_squared", "gelu", "gelu_tanh", "silu", "quick_gelu", "sigmoid", "softplus", "tanh"},
       /*formats=*/false,
       writeActivation},
      {"embedding",
       "gather",
       "SxVxD",
       "S tokens of a vocabulary of V, width D",
       {},
       /*formats=*/true,
       writeEmbedding}};
  return kinds;
}

std::string describeOps() {
  std::string text;
  for (const OpKind &kind : opKinds())
    text += fmt::format("{}  {}\n      {}", text.empty() ? "" : "\n", kind.form(), kind.meaning);
  return text;
}

// "128x768x2304". Empty when it is no such thing.
static std::vector<int64_t> parseSizes(const std::string &text) {
  std::vector<int64_t> sizes;
  std::stringstream stream(text);
  for (std::string part; std::getline(stream, part, 'x');) {
    bool digits = !part.empty() && part.size() <= 8 && part.find_first_not_of("0123456789") == std::string::npos;
    int64_t size = digits ? std::strtoll(part.c_str(), nullptr, 10) : 0;
    if (size < 1 || size > largestSize)
      return {};
    sizes.push_back(size);
  }
  return text.empty() || text.back() == 'x' ? std::vector<int64_t>() : sizes;
}

// Features of a row of the op, or of its input or result if they are more.
static int64_t maxWidth(const Words &words) {
  const std::vector<int64_t> &sizes = words.sizes;
  if (words.kind == "attention")
    return (sizes[1] + 2 * sizes[2]) * sizes[3];
  return words.kind == "linear" ? std::max(sizes[1], sizes[2]) : sizes.back();
}

// Returns why sizes in range contradict each other, or an empty text.
static std::string contradiction(const Words &words, int64_t past) {
  const std::vector<int64_t> &sizes = words.sizes;
  if (words.kind == "attention" && sizes[1] % sizes[2] != 0)
    return fmt::format("{} key-value heads cannot be shared by {} heads", sizes[2], sizes[1]);
  if (words.kind == "attention" && sizes[0] + past > largestSize)
    return fmt::format("{} tokens behind {} are too many, expected at most {}", sizes[0], past, largestSize);
  if (sizes.size() == 3 && sizes[1] * sizes[2] > largestWeight)
    return fmt::format("a weight of {} x {} is too large, expected at most {} elements", sizes[1], sizes[2],
                       largestWeight);
  if (int64_t rows = std::max(sizes[0] + past, vocabulary), width = maxWidth(words); width > largestWeight / rows)
    return fmt::format("{} rows of width {} are too large, expected at most {} elements", rows, width, largestWeight);
  return "";
}

static std::string wrongOp(const std::string &text, const std::string &expected) {
  return fmt::format("--op '{}': expected {} with sizes from 1 to {}", text, expected, largestSize);
}

static std::string wrapInModule(const std::string &name, int64_t rows, const std::string &program) {
  return fmt::format("module attributes {{talc.name = \"{}\", talc.max_sequence = {} : i64}} {{\n{}}}\n", name, rows,
                     program);
}

OpSpec makeChainOp(int64_t width, int64_t pairs) {
  constexpr int64_t maxRows = 2048;
  std::string body, at = "x", x = rowsType(width), program;
  for (int64_t i = 0; i < pairs; ++i) {
    body += fmt::format("%half{0} = talc.scale %{1} by 0.5 : {2}\n%sum{0} = talc.add %half{0}, %x : {2}\n", i, at, x);
    at = fmt::format("sum{}", i);
  }
  body += fmt::format("%y = talc.scale %{} by 0.5 : {}\n", at, x);
  wrap("", body, vocabulary, width, width, program);
  return {"chain", "generic", maxRows, 0, 0, 0, "", wrapInModule("chain", maxRows, program)};
}

// False: there are words besides.
static bool readWords(const std::string &text, Words &words) {
  std::string sizes;
  std::stringstream stream(text);
  stream >> words.kind >> sizes;
  words.sizes = parseSizes(sizes);
  const std::vector<std::string> formats = formatNames();
  for (std::string word; stream >> word;) {
    bool format = std::count(formats.begin(), formats.end(), word) > 0;
    if (!words.format.empty() || (!format && !words.variant.empty()))
      return false;
    (format ? words.format : words.variant) = word;
  }
  return true;
}

std::string parseOp(const std::string &text, int64_t past, OpSpec &spec) {
  Words words;
  bool isComplete = readWords(text, words);
  std::string forms;
  for (const OpKind &kind : opKinds()) {
    forms += (forms.empty() ? "" : ", ") + kind.form();
    if (words.kind != kind.name)
      continue;
    if (!isComplete || !kind.takes(words))
      return wrongOp(text, kind.form());
    if (std::string problem = contradiction(words, past); !problem.empty())
      return fmt::format("--op '{}': {}", text, problem);
    past = words.kind == "attention" ? past : 0;  // the others do not look back
    // With room for the past, too.
    spec = {text, kind.op, words.sizes[0] + past, past, 0, 0, words.format, ""};
    std::string program;
    kind.write(words, program, spec);
    spec.program = wrapInModule(text, spec.rows, program);
    spec.rows = words.sizes[0];
    return "";
  }
  return wrongOp(text, "one of " + forms);
}

// Splits at a letter; "1,8" is 1 and 8.
static std::vector<std::string> split(const std::string &text, char separator) {
  std::vector<std::string> parts(1);
  for (char c : text)
    c == separator ? void(parts.emplace_back()) : parts.back().push_back(c);
  return parts;
}

// Every text before, with every alternative behind it.
static std::vector<std::string> combine(const std::vector<std::string> &before, const char *between,
                                        const std::vector<std::string> &alternatives) {
  std::vector<std::string> all;
  for (const std::string &text : before)
    for (const std::string &alternative : alternatives)
      if (all.size() < maxOps)
        all.push_back(text + between + alternative);
  return all;
}

std::vector<std::string> expandOps(const std::string &text) {
  std::vector<std::string> ops = {""};
  bool isFirst = true;
  for (const std::string &word : split(text, ' ')) {
    const bool hasSizes = !word.empty() && word[0] >= '0' && word[0] <= '9';
    const char *between = isFirst ? "" : " ";
    for (const std::string &size : hasSizes ? split(word, 'x') : std::vector<std::string>{word}) {
      ops = combine(ops, between, split(size, ','));
      between = "x";
    }
    isFirst = false;
  }
  return ops;
}

}  // namespace talc::bench
