// SPDX-License-Identifier: Apache-2.0
// Cuts a text into windows and compares what models predict in them.
//
// Windows are llama.cpp's, so that numbers compare: the whole text becomes tokens once, every window has `context` of
// them and its first one is replaced by the token that begins texts, if the tokenizer adds one. Counted are the
// predictions of the second half, which have at least half a window before them. In a model that fills masks every
// token sees all others: its windows are begun and ended as whole texts are, and all tokens between are compared.
#include "tools/talc/perplexity/Perplexity.h"

#include "frontends/NamedFile.h"
#include "runtime/ProgressLine.h"
#include "tools/talc/perplexity/LogitsEvaluator.h"
#include "tools/talc/perplexity/PredictionStatistics.h"

#include <fmt/format.h>

#include <numeric>

namespace talc::perplexity {

namespace {

struct Window {
  std::vector<int32_t> ids;
  std::vector<int32_t> rows;  // that are compared; a row predicts the token behind it
};

// Predictions of a pair of models, or of one.
class Tally {
public:
  void add(double logProbability, bool isPrediction) {
    ++predictions;
    if (isPrediction)
      losses.add(-logProbability);
  }

  void compare(const std::vector<double> &logs, const std::vector<double> &other, int32_t next, bool isPrediction) {
    double distance = divergence(other, logs);
    divergences.add(distance);
    maxDivergence = std::max(maxDivergence, distance);
    sameTops.add(likeliest(logs) == likeliest(other) ? 1 : 0);
    if (isPrediction)
      otherLosses.add(-other[next]);
  }

  // Compares the outputs of all layers of both models for a token, which stand one after the other.
  void compareLayers(const float *values, const float *other, const std::vector<int64_t> &widths) {
    layers.resize(widths.size());
    for (size_t i = 0; i < widths.size(); ++i) {
      double error = relativeError(values, other, widths[i]);
      layers[i].first.add(error);
      layers[i].second = std::max(layers[i].second, error);
      values += widths[i];
      other += widths[i];
    }
  }

  // The error of exp(x) is that of x, times exp(x).
  void finish(Results &results, bool isPrediction, bool isComparison) const {
    results.predictions = predictions;
    if (isPrediction) {
      Estimate loss = losses.estimate();
      results.perplexity = Estimate{std::exp(loss.mean), loss.error * std::exp(loss.mean)};
    }
    if (isComparison)
      results.comparison = Comparison{divergences.estimate(), maxDivergence, sameTops.estimate(),
                                      isPrediction ? std::exp(otherLosses.estimate().mean) : 0, layerErrors()};
  }

private:
  std::vector<Comparison::Layer> layerErrors() const {
    std::vector<Comparison::Layer> errors;
    for (const auto &[mean, maxError] : layers)
      errors.push_back({mean.estimate().mean, maxError});
    return errors;
  }

  int64_t predictions = 0;
  Mean losses, otherLosses, divergences, sameTops;
  double maxDivergence = 0;
  std::vector<std::pair<Mean, double>> layers;
};

}  // namespace

static std::string readText(const std::string &path, std::string &text) {
  std::string problem;
  auto content = readNamedFile(path, {maxTextBytes, NamedBy::User, /*isReadOnce=*/true}, problem);
  if (content && content->empty())
    problem = "cannot be read: it is empty";
  if (problem.empty())
    text = std::move(*content);
  return problem.empty() ? "" : fmt::format("error[T0401]: {}: {}", path, problem);
}

static std::vector<Window> cutPredictions(const std::vector<int32_t> &ids, const talc_model_info &info,
                                          const Options &options, size_t context) {
  bool begins = info.begin_token >= 0 && ids.front() == info.begin_token;
  size_t predictions = context - 1;
  size_t compared = options.compared > 0 ? std::min<size_t>(options.compared, predictions) : predictions - context / 2;
  std::vector<Window> windows;
  for (size_t first = 0; first + context <= ids.size(); first += context) {
    Window window{{ids.begin() + first, ids.begin() + first + context}, {}};
    if (begins)
      window.ids.front() = info.begin_token;
    for (size_t row = predictions - compared; row < predictions; ++row)
      window.rows.push_back(static_cast<int32_t>(row));
    windows.push_back(std::move(window));
    if (windows.size() == static_cast<size_t>(options.windows))
      break;
  }
  return windows;
}

static std::vector<Window> cutWhole(const std::vector<int32_t> &ids, const Options &options, size_t context) {
  std::vector<Window> windows;
  for (size_t first = 1; first + context - 1 <= ids.size(); first += context - 2) {
    Window window{{ids.front()}, {}};
    window.ids.insert(window.ids.end(), ids.begin() + first, ids.begin() + first + context - 2);
    window.ids.push_back(ids.back());
    for (size_t row = 1; row + 1 < context; ++row)
      window.rows.push_back(static_cast<int32_t>(row));
    windows.push_back(std::move(window));
    if (windows.size() == static_cast<size_t>(options.windows))
      break;
  }
  return windows;
}

// One model alone is asked for what came, which may be less than all that might have come.
static std::string evaluateAlone(const std::vector<Window> &windows, LogitsEvaluator &run, ProgressLine &progress,
                                 Tally &tally) {
  std::vector<float> scores;
  uint64_t done = 0;
  for (const Window &window : windows) {
    if (std::string error = run.score(window.ids, window.rows, scores); !error.empty())
      return error;
    for (float score : scores)
      tally.add(score, run.continuesTexts());
    progress.show(++done, windows.size());
  }
  return "";
}

static std::string evaluatePair(const std::vector<Window> &windows, const std::vector<int64_t> &layers,
                                LogitsEvaluator &run, LogitsEvaluator &other, ProgressLine &progress, Tally &tally) {
  std::vector<double> logs, otherLogs;
  std::vector<int32_t> results = layers.empty() ? std::vector<int32_t>{0} : std::vector<int32_t>{0, 1};
  int64_t features = std::accumulate(layers.begin(), layers.end(), int64_t(0));
  uint64_t done = 0;
  for (const Window &window : windows) {
    if (std::string error = run.evaluate(window.ids, window.rows, results); !error.empty())
      return error;
    if (std::string error = other.evaluate(window.ids, window.rows, results); !error.empty())
      return error;
    for (size_t row = 0; row < window.rows.size(); ++row) {
      int32_t next = window.ids[window.rows[row] + 1];
      logProbabilities(run.logits(row), run.width(), logs);
      tally.add(logs[next], run.continuesTexts());
      logProbabilities(other.logits(row), other.width(), otherLogs);
      tally.compare(logs, otherLogs, next, run.continuesTexts());
      if (!layers.empty())
        tally.compareLayers(run.result(1) + row * features, other.result(1) + row * features, layers);
    }
    progress.show(++done, windows.size());
  }
  return "";
}

// Two models compare if they have one vocabulary, and if there is something to compare.
static std::string checkPair(const Options &options, const LogitsEvaluator &run, const LogitsEvaluator &other) {
  if (options.against.empty())
    return run.continuesTexts()
               ? ""
               : fmt::format("error[T0701]: talc perplexity: {} fills masks: it has no perplexity, but "
                             "compares to another one by --against",
                             options.app);
  if (run.width() == other.width() && run.info.kind == other.info.kind)
    return "";
  return fmt::format("error[T0701]: talc perplexity: {} has {} tokens, {} has {}: models of different vocabularies or "
                     "kinds do not compare",
                     options.name.empty() ? options.app : options.name, run.width(),
                     options.otherName.empty() ? options.against : options.otherName, other.width());
}

std::string measure(const Options &options, Results &results) {
  std::string text, error = readText(options.text, text);
  LogitsEvaluator run, other;
  if (error.empty())
    error = run.open(options.app, options.threads);
  if (error.empty() && !options.against.empty())
    error = other.open(options.against, options.threads);
  if (error.empty())
    error = checkPair(options, run, other);
  std::vector<int32_t> ids;
  if (error.empty())
    error = run.tokenize(text, ids);
  if (!error.empty())
    return error;
  int32_t maxTokens = run.info.max_sequence;
  if (!options.against.empty())
    maxTokens = std::min(maxTokens, other.info.max_sequence);
  size_t context = std::min<size_t>({static_cast<size_t>(options.context), static_cast<size_t>(maxTokens), ids.size()});
  if (context < 4)
    return fmt::format("error[T0701]: {}: has {} tokens, expected at least 4 for a window", options.text, ids.size());
  auto windows =
      run.continuesTexts() ? cutPredictions(ids, run.info, options, context) : cutWhole(ids, options, context);
  Tally tally;
  ProgressLine progress(options.progress);
  error = options.against.empty() ? evaluateAlone(windows, run, progress, tally)
                                  : evaluatePair(windows, options.layers, run, other, progress, tally);
  results.windows = static_cast<int64_t>(windows.size());
  results.context = static_cast<int64_t>(context);
  tally.finish(results, run.continuesTexts(), !options.against.empty());
  return error;
}

std::string format(const Results &results, const std::string &other) {
  std::string text = fmt::format("{:<16}{} in {} windows of {} tokens\n", "predictions", results.predictions,
                                 results.windows, results.context);
  if (results.perplexity)
    text += fmt::format("{:<16}{:.4f} +/- {:.4f}\n", "perplexity", results.perplexity->mean, results.perplexity->error);
  if (!results.comparison)
    return text;
  const Comparison &c = *results.comparison;
  if (c.otherPerplexity > 0)
    text += fmt::format("{:<16}{:.4f}, {}\n", "", c.otherPerplexity, other);
  text += fmt::format("{:<16}{:.6f} +/- {:.6f}, at most {:.6f}\n", "KL divergence", c.divergence.mean,
                      c.divergence.error, c.maxDivergence);
  text += fmt::format("{:<16}{:.3f} +/- {:.3f} %\n", "same top token", 100 * c.sameTop.mean, 100 * c.sameTop.error);
  if (!c.layers.empty())
    text += fmt::format("{:<16}{:<16}{}\n", "layer", "relative error", "at most");
  for (size_t i = 0; i < c.layers.size(); ++i)
    text += fmt::format("{:<16}{:<16.6f}{:.6f}\n", i, c.layers[i].mean, c.layers[i].maxError);
  return text;
}

}  // namespace talc::perplexity
