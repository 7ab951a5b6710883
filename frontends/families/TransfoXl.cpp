// SPDX-License-Identifier: Apache-2.0
// Transformer-XL (Dai et al. 2019): attention over the last mem_len tokens of a text without end, whose scores by
// distance are products as well, and words in clusters (Grave et al. 2017; Baevski and Auli 2018).
//
//   score(i, j) = ((q_i + u) k_j + (q_i + v) r_(i-j)) / sqrt(d)      r: a projection of sinusoids, known for every
//   distance
//
// The second product is one of each query with all distances there are, to which attention adds the first.
//
// A text begins behind mem_len rows of zeros, as in Hugging Face's program and the authors' evaluation. In layers that
// normalize their input these become the norm's bias, and the keys and values of that; since scores may change by the
// same for all keys, and weights add up to one, keys and values are taken without it, and the value's is added again.
//
// The k-th key and value of a layer are functions of the k-th hidden state alone, so they are kept in its place.
#include "frontends/GraphBuilder.h"
#include "frontends/ModelConfig.h"
#include "frontends/families/Families.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace talc {

namespace {

class TransfoXl {
public:
  explicit TransfoXl(const ModelConfig &config);

  Tensor embedding(GraphBuilder &g) const;
  Tensor layer(GraphBuilder &g, Tensor x, Weight u, Weight v) const;

  int64_t layers, window;
  bool untied;  // every layer has biases of its own
  int64_t heads, headWidth;

private:
  friend class AdaptiveSoftmax;

  // Words [first, end) and the width that they are embedded in.
  struct Cluster {
    int64_t first, end, width;
  };

  void readClusters(const ModelConfig &config);
  Tensor attention(GraphBuilder &g, Tensor x, Weight u, Weight v) const;
  Tensor norm(GraphBuilder &g, const std::string &name, Tensor x) const;
  Weight words(GraphBuilder &g, size_t cluster) const;
  Weight bias(GraphBuilder &g, size_t cluster) const;
  Weight narrow(GraphBuilder &g, size_t cluster) const;
  // One table holds all words.
  bool hasOneTable() const { return tables.size() == 1; }
  bool projected() const { return !hasOneTable() || tables[0].width != width; }

  int64_t vocabulary, width, inner, distances;
  double epsilon;
  bool before, tied;
  std::vector<Cluster> clusters, tables;
  std::vector<bool> tiedProjections;
};

// The model's end: log-probabilities of all words, and of those of single clusters.
class AdaptiveSoftmax {
public:
  AdaptiveSoftmax(GraphBuilder &g, const TransfoXl &model);

  void outputs(Tensor x) const;

private:
  // The projection of a cluster; `narrow` may be empty.
  struct Part {
    Weight narrow, words, bias;
  };

  Tensor narrowed(Tensor x, const Part &part) const;
  Tensor whole(Tensor x) const;
  Tensor head(Tensor x) const;
  Tensor tail(Tensor x, size_t cluster) const;

  GraphBuilder &g;
  std::vector<Part> parts;
  Part clusters;               // scores of the clusters
  std::vector<int64_t> tails;  // where their words begin
};

}  // namespace

TransfoXl::TransfoXl(const ModelConfig &config) {
  config.head({"LMHeadModel"});
  vocabulary = config.integer("vocab_size", 267735, ModelConfig::size);
  width = config.integer("d_model", 1024, ModelConfig::size);
  heads = config.integer("n_head", 16, ModelConfig::headCount);
  headWidth = config.integer("d_head", 64, ModelConfig::size);
  inner = config.integer("d_inner", 4096, ModelConfig::size);
  layers = config.integer("n_layer", 18, ModelConfig::layerCount);
  window = config.integer("mem_len", 1600, {1, 1 << 20});
  int64_t clamp = config.integer("clamp_len", 1000, {INT32_MIN, INT32_MAX});
  distances = clamp > 0 ? std::min(window, clamp + 1) : window;
  epsilon = config.positive("layer_norm_epsilon", 1e-5);
  before = config.flag("pre_lnorm", false);
  untied = config.flag("untie_r", true);
  tied = config.flag("tie_word_embeddings", true);
  if (!config.flag("same_length", true))
    config.unsupported("same_length", "without it a token sees more the longer the piece is that it came in, and a "
                                      "text has other results when it is cut into other pieces");
  if (config.integer("attn_type", 0, {0, 3}) != 0)
    config.unsupported("attn_type", "talc knows the attention of the paper, 0");
  if (!config.flag("adaptive", true))
    config.unsupported("adaptive", "talc knows models with an adaptive softmax");
  if (width % 2 != 0)
    config.invalid("d_model", "distances are sines and cosines, expected an even number");
  readClusters(config);
}

void TransfoXl::readClusters(const ModelConfig &config) {
  int64_t embedded = config.integer("d_embed", 1024, ModelConfig::size),
          divisor = config.integer("div_val", 4, {1, 1 << 20});
  std::vector<double> cutoffs = config.numbers("cutoffs");
  if (!config.has("cutoffs"))
    cutoffs = {20000, 40000, 200000};
  constexpr size_t maxClusters = 64;
  int64_t first = 0;
  for (double cutoff : cutoffs) {
    if (!(cutoff > first && cutoff < vocabulary) || cutoff != std::floor(cutoff) || cutoffs.size() > maxClusters)
      return config.invalid("cutoffs", fmt::format("expected at most {} ascending numbers between 0 and vocab_size, {}",
                                                   maxClusters, vocabulary));
    clusters.push_back({first, static_cast<int64_t>(cutoff), embedded});
    first = clusters.back().end;
    embedded /= divisor;
    if (embedded < 1)
      return config.invalid("div_val", "d_embed divided by it once for each of the cutoffs leaves nothing");
  }
  clusters.push_back({first, vocabulary, embedded});
  tables = divisor > 1 ? clusters : std::vector<Cluster>{{0, vocabulary, embedded}};
  tiedProjections = config.flags("tie_projs");
  if (!config.has("tie_projs")) {
    tiedProjections.assign(clusters.size(), config.flag("proj_share_all_but_first", true));
    tiedProjections[0] = false;
  }
  if (tiedProjections.size() != clusters.size())
    config.invalid("tie_projs", fmt::format("expected {} values, one more than cutoffs", clusters.size()));
}

static std::string place(const std::string &name, size_t number, const char *end = "") {
  return fmt::format("{}.{}{}", name, number, end);
}

Tensor TransfoXl::embedding(GraphBuilder &g) const {
  const std::string at = "transformer.word_emb.";
  Tensor x;
  for (size_t i = 0; i < tables.size(); ++i) {
    const Cluster &cluster = tables[i];
    Weight table = g.weight(place(at + "emb_layers", i, ".weight"), {cluster.end - cluster.first, cluster.width},
                            "words by width");
    Tensor part = hasOneTable() ? g.embedding(table) : g.embedding(table, cluster.first);
    if (projected())
      part = g.linear(part, g.weight(place(at + "emb_projs", i), {width, cluster.width}, "d_model by width"));
    x = x ? g.add(x, part) : part;
  }
  return g.scale(x, std::sqrt(static_cast<double>(width)));
}

Tensor TransfoXl::norm(GraphBuilder &g, const std::string &name, Tensor x) const {
  return g.layerNorm(x, name + ".layer_norm", epsilon);
}

Tensor TransfoXl::attention(GraphBuilder &g, Tensor x, Weight u, Weight v) const {
  const std::string at = "dec_attn.";
  int64_t all = heads * headWidth;
  double scale = 1 / std::sqrt(static_cast<double>(headWidth));
  Weight both = g.weight(at + "qkv_net.weight", {3 * all, width}, "3 * n_head * d_head by d_model");
  auto part = [&](int64_t which) { return g.rows(both, which * all, all, 3 * all); };
  Tensor normed = before ? norm(g, "dec_attn", x) : x, seen = normed;
  if (before)
    seen = g.layerNorm(x, g.weight(at + "layer_norm.weight", {width}), Weight(), epsilon);
  Tensor queries = g.linear(normed, part(0), u), values = g.linear(seen, part(2));
  Weight projection = g.weight(at + "r_net.weight", {all, width}, "n_head * d_head by d_model");
  Attention kind = {heads, heads, scale};
  kind.window = window;
  kind.rowBias = g.groupedLinear(queries, g.relativeKeys(projection, heads, distances, scale), heads,
                                 g.relativeKeys(projection, u, v, heads, distances, scale));
  kind.zeroStart = true;
  Tensor mixed = g.cachedAttention(queries, g.linear(seen, part(1)), values, kind);
  if (before)
    mixed = g.add(mixed, g.add(g.linear(normed, part(2)), g.scale(values, -1)));
  return g.linear(mixed, g.weight(at + "o_net.weight", {width, all}, "d_model by n_head * d_head"));
}

Tensor TransfoXl::layer(GraphBuilder &g, Tensor x, Weight u, Weight v) const {
  auto bias = [&](const char *name) { return g.flatWeight(std::string("dec_attn.") + name, {heads, headWidth}); };
  if (untied)
    u = bias("r_w_bias"), v = bias("r_r_bias");
  auto feedForward = [&](Tensor y) {
    y = g.activation(g.linear(y, "pos_ff.CoreNet.0", inner), Activation::Relu);
    return g.linear(y, "pos_ff.CoreNet.3", width);
  };
  x = g.add(x, attention(g, x, u, v));
  if (before)
    return g.add(x, feedForward(norm(g, "pos_ff", x)));
  x = norm(g, "dec_attn", x);
  return norm(g, "pos_ff", g.add(x, feedForward(x)));
}

// The words' rows of the last table, which may be the first one as well.
Weight TransfoXl::words(GraphBuilder &g, size_t cluster) const {
  size_t number = hasOneTable() ? 0 : cluster;
  const Cluster &table = tables[number], &range = clusters[cluster];
  Weight all = g.tiedWeights(place("transformer.word_emb.emb_layers", number, ".weight"),
                             place("crit.out_layers", number, ".weight"), {table.end - table.first, table.width}, tied)
                   .second;
  return hasOneTable() && clusters.size() > 1 ? g.rows(all, range.first, range.end - range.first, vocabulary) : all;
}

Weight TransfoXl::narrow(GraphBuilder &g, size_t cluster) const {
  return g
      .tiedWeights(place("transformer.word_emb.emb_projs", hasOneTable() ? 0 : cluster),
                   place("crit.out_projs", cluster), {width, clusters[cluster].width}, tiedProjections[cluster])
      .second;
}

Weight TransfoXl::bias(GraphBuilder &g, size_t cluster) const {
  const Cluster &range = clusters[cluster];
  Weight all = g.weight(place("crit.out_layers", hasOneTable() ? 0 : cluster, ".bias"),
                        {hasOneTable() ? vocabulary : range.end - range.first});
  return hasOneTable() && clusters.size() > 1 ? g.rows(all, range.first, range.end - range.first, vocabulary) : all;
}

AdaptiveSoftmax::AdaptiveSoftmax(GraphBuilder &g, const TransfoXl &model) : g(g) {
  for (size_t i = 0; i < model.clusters.size(); ++i) {
    Weight narrow = model.projected() ? g.transpose(model.narrow(g, i)) : Weight();
    parts.push_back({narrow, model.words(g, i), model.bias(g, i)});
    if (i > 0)
      tails.push_back(model.clusters[i].first);
  }
  auto count = static_cast<int64_t>(tails.size());
  if (count == 0)
    return;
  clusters.words = g.weight("crit.cluster_weight", {count, model.clusters[0].width});
  clusters.bias = g.weight("crit.cluster_bias", {count});
}

Tensor AdaptiveSoftmax::narrowed(Tensor x, const Part &part) const {
  return part.narrow ? g.linear(x, part.narrow) : x;
}

// The scores of all words, then those of the clusters, which are made of what the first words' are.
Tensor AdaptiveSoftmax::whole(Tensor x) const {
  Tensor first = narrowed(x, parts[0]), all = g.linear(first, parts[0].words, parts[0].bias);
  for (size_t i = 1; i < parts.size(); ++i)
    all = g.join(all, g.linear(narrowed(x, parts[i]), parts[i].words, parts[i].bias), 1);
  if (!tails.empty())
    all = g.join(all, g.linear(first, clusters.words, clusters.bias), 1);
  return g.logSoftmax(all, tails);
}

// A cluster of a single word has the word's probability.
Tensor AdaptiveSoftmax::head(Tensor x) const {
  Tensor first = narrowed(x, parts[0]), own = g.linear(first, clusters.words, clusters.bias);
  Tensor all = g.join(g.join(g.linear(first, parts[0].words, parts[0].bias), own, 1), own, 1);
  std::vector<int64_t> single(tails.size());
  std::iota(single.begin(), single.end(), tails[0]);
  return g.logSoftmax(all, single);
}

Tensor AdaptiveSoftmax::tail(Tensor x, size_t cluster) const {
  const Part &part = parts[cluster];
  return g.logSoftmax(g.linear(narrowed(x, part), part.words, part.bias));
}

// Parts are for callers who ask for single words; those of more clusters than there is room for get whole rows.
void AdaptiveSoftmax::outputs(Tensor x) const {
  g.output(whole(g.select(x)));
  if (tails.empty() || parts.size() > GraphBuilder::maxLogitParts)
    return;
  g.output(head(g.select(x, 1)), Output::Head);
  for (size_t i = 1; i < parts.size(); ++i)
    g.output(tail(g.select(x, static_cast<int64_t>(i) + 1), i), Output::Tail);
}

void defineTransfoXl(GraphBuilder &g, const ModelConfig &config) {
  TransfoXl model(config);
  if (config.failed())
    return;
  g.positions(model.window, /*hard=*/false, /*defaultLength=*/0, /*endless=*/true);
  Weight u, v;
  auto bias = [&](const char *name) {
    return g.flatWeight(std::string("transformer.") + name, {model.heads, model.headWidth});
  };
  if (!model.untied)
    u = bias("r_w_bias"), v = bias("r_r_bias");
  Tensor x = model.embedding(g);
  x = g.repeat("transformer.layers", model.layers, x, [&](Tensor x, int64_t) { return model.layer(g, x, u, v); });
  AdaptiveSoftmax(g, model).outputs(x);
}

}  // namespace talc
