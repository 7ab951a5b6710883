// SPDX-License-Identifier: Apache-2.0
// What the page opens with: the model as a graph, what was compiled, what a step costs most for, and how long compiling
// took. Operations link to their kernels and kernels to their operations, weights and code.
#include "dialects/talc/ModuleKeys.h"
#include "dialects/talc/formats/FormatChoice.h"
#include "tools/talc/bench/Table.h"
#include "tools/talc/inspect/GraphDrawing.h"
#include "tools/talc/inspect/Html.h"
#include "tools/talc/inspect/InspectPage.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

namespace talc::tools {

namespace {

// A kernel with all places that call it.
struct Kernel {
  const bench::KernelEntry *entry = nullptr;
  std::map<std::string, int64_t> calls;  // by phase
  std::set<std::string> stored, origins;
};

using Kernels = std::vector<std::pair<std::string, Kernel>>;  // by name, as the model calls them

// What a step is measured with.
struct Work {
  std::string title;
  bench::StepShape step;
};

}  // namespace

static Kernels groupByName(const std::vector<KernelUse> &uses) {
  Kernels kernels;
  std::map<std::string, size_t> places;
  for (const KernelUse &use : uses) {
    auto [place, isNew] = places.try_emplace(use.entry.name, kernels.size());
    if (isNew)
      kernels.push_back({use.entry.name, {&use.entry, {}, {}, {}}});
    Kernel &kernel = kernels[place->second].second;
    kernel.calls[use.entry.phase] += use.entry.calls;
    kernel.stored.insert(use.stored.begin(), use.stored.end());
    kernel.origins.insert(use.origins.begin(), use.origins.end());
  }
  return kernels;
}

static std::string fact(const PassRecorder &recorder, const std::string &name) {
  auto found = recorder.facts().find(name);
  return found == recorder.facts().end() ? "" : found->second;
}

static double number(const PassRecorder &recorder, const std::string &name) {
  std::string text = fact(recorder, name);
  return text.empty() ? 0 : std::strtod(text.c_str(), nullptr);
}

// A number of --measure among the facts.
static std::string measuredKey(const char *name) {
  return std::string(measuredAttr) + "." + name;
}

static std::string renderHead(const PassRecorder &recorder, const PageHead &head) {
  std::string html = "<dl class=\"facts\">\n";
  auto add = [&](const char *name, const std::string &text) {
    if (!text.empty())
      html += fmt::format("<div><dt>{}</dt><dd>{}</dd></div>\n", name, escapeHtml(text));
  };
  auto bytes = [&](const char *key) { return bench::formatBytes(number(recorder, std::string("talc.plan.") + key)); };
  std::string name = fact(recorder, "talc.name"), longest = fact(recorder, "talc.max_sequence");
  add("model", name.empty() ? head.model : name);
  add("target", head.targets);
  add("product", head.product);
  add("parameters", bench::formatCount(static_cast<double>(recorder.parameters())));
  std::string chosen = fact(recorder, chosenFormatsAttr);
  add("weights",
      (head.weights == "checkpoint" ? "as in the checkpoint" : head.weights) + (chosen.empty() ? "" : ", " + chosen));
  if (!longest.empty())
    add("sequences", "up to " + longest + " tokens");
  if (!fact(recorder, std::string("talc.plan.") + planKeys::weightBytes).empty()) {
    add("packed weights", bytes(planKeys::weightBytes));
    add("a sequence keeps", bytes(planKeys::kvBytesPerToken) + " per token");
    add("temporaries", bytes(planKeys::arenaBytesPerToken) + " per token of a step");
  }
  if (std::string measured = measuredKey(measuredKeys::perplexity); !fact(recorder, measured).empty())
    add("perplexity", fmt::format("{:.4f} of {}, {} tokens", number(recorder, measured),
                                  fact(recorder, measuredKey(measuredKeys::text)),
                                  fact(recorder, measuredKey(measuredKeys::predictions))));
  if (std::string measured = measuredKey(measuredKeys::divergence); !fact(recorder, measured).empty())
    add("KL divergence",
        fmt::format("{:.6f}, at most {:.6f}, from the model as its files are; {:.3f} % same top tokens",
                    number(recorder, measured), number(recorder, measuredKey(measuredKeys::maxDivergence)),
                    100 * number(recorder, measuredKey(measuredKeys::sameTop))));
  add("compiled in", bench::formatSeconds(head.seconds));
  return html + "</dl>\n";
}

// How far what each layer yields is from what it yields in the model as its files are.
static std::string renderLayerErrors(const PassRecorder &recorder) {
  std::vector<std::vector<std::string>> rows;
  auto keyOf = [&](const char *list) { return fmt::format("{}.{}", measuredKey(list), rows.size()); };
  for (std::string mean = keyOf(measuredKeys::layerErrors); !fact(recorder, mean).empty();
       mean = keyOf(measuredKeys::layerErrors))
    rows.push_back({std::to_string(rows.size()), fmt::format("{:.6f}", number(recorder, mean)),
                    fmt::format("{:.6f}", number(recorder, keyOf(measuredKeys::maxErrors)))});
  return rows.empty() ? ""
                      : "<h2 id=\"rounding\">What rounding changes of layers</h2>\n" +
                            htmlTable({"layer", ">relative error", ">at most"}, rows);
}

static std::string rowOf(const GraphNode &node) {
  return "op-" + node.origin;
}

static std::string renderGraphs(const PassRecorder &recorder) {
  std::string html = "<h2 id=\"model\">The model</h2>\n<div class=\"graphs\">\n";
  for (const GraphFunction &graph : recorder.graph()) {
    std::string drawing = drawGraph(graph, [](const GraphNode &node) -> std::string {
      return !node.callee.empty() ? "#graph-" + node.callee : node.origin.empty() ? "" : "#" + rowOf(node);
    });
    std::string layers = graph.layers == 1 ? ", one layer" : fmt::format(", {} layers", graph.layers);
    html += fmt::format("<figure id=\"graph-{0}\"><figcaption><b>{0}</b>{1}</figcaption>\n{2}</figure>\n",
                        escapeHtml(graph.name), graph.layers == 0 ? "" : layers, drawing);
  }
  return html + "</div>\n";
}

// The work whose costs are told: of the phases that the model has.
static std::vector<Work> worksOf(const PassRecorder &recorder) {
  auto longest = static_cast<int64_t>(number(recorder, "talc.max_sequence"));
  int64_t tokens = longest > 0 ? std::min<int64_t>(longest, 128) : 128;
  std::vector<Work> works = {
      {fmt::format("encode: a text of {} tokens", tokens), {1, tokens, 0, true, true, 0}},
      {fmt::format("prefill: a prompt of {} tokens", tokens), {1, tokens, 0, true, false, tokens}},
      {fmt::format("decode: one token behind {}", tokens - 1), {1, 1, tokens - 1, true, false, tokens}}};
  works.erase(std::remove_if(works.begin(), works.end(),
                             [&](const Work &work) {
                               return std::none_of(recorder.kernelUses().begin(), recorder.kernelUses().end(),
                                                   [&](const KernelUse &use) { return use.entry.runsIn(work.step); });
                             }),
              works.end());
  return works;
}

static std::string bar(double share) {
  return fmt::format("<span class=\"bar\"><i style=\"width: {:.1f}%\"></i></span> {}", 100 * share,
                     bench::formatShare(share));
}

// The kernels that a step spends most on: reading, if it has one row, else computing.
static std::string renderCosts(const PassRecorder &recorder, const Work &work) {
  std::map<std::string, bench::StepCosts> costs;
  bench::StepCosts all;
  for (const KernelUse &use : recorder.kernelUses())
    if (use.entry.runsIn(work.step)) {
      bench::StepCosts one = use.entry.callCosts(work.step);
      auto calls = static_cast<double>(use.entry.calls);
      for (bench::StepCosts *sum : {&costs[use.entry.name], &all}) {
        sum->operations += calls * one.operations;
        sum->storedBytes += calls * one.storedBytes;
        sum->passedBytes += calls * one.passedBytes;
      }
    }
  bool reads = work.step.decode();
  auto cost = [&](const bench::StepCosts &one) { return reads ? one.bytes() : one.operations; };
  std::vector<std::pair<std::string, bench::StepCosts>> order(costs.begin(), costs.end());
  constexpr size_t most = 8;
  size_t shown = std::min(order.size(), most);
  std::partial_sort(order.begin(), order.begin() + shown, order.end(), [&](const auto &a, const auto &b) {
    return cost(a.second) != cost(b.second) ? cost(a.second) > cost(b.second) : a.first < b.first;
  });
  order.resize(shown);
  std::vector<std::vector<std::string>> rows;
  for (const auto &[name, one] : order)
    rows.push_back({link("#kernel-" + name, name), bench::formatCount(one.operations), bench::formatBytes(one.bytes()),
                    bar(cost(all) > 0 ? cost(one) / cost(all) : 0)});
  rows.push_back({"the whole step", bench::formatCount(all.operations), bench::formatBytes(all.bytes()), ""});
  return fmt::format(
      "<div><h3>{}</h3>\n{}</div>\n", escapeHtml(work.title),
      htmlTable({"kernel", ">operations", ">read and written", reads ? "of the bytes" : "of the operations"}, rows));
}

static std::string renderStored(const std::set<std::string> &stored) {
  std::string html;
  for (const std::string &name : stored)
    html += (html.empty() ? "" : "<br>") + escapeHtml(name);
  return html;
}

static std::string linkCode(const std::string &function) {
  std::string target = "/" + function;
  return "<span class=\"code\">" + link("#last" + target, "MLIR") + ", " + link("#llvm-ir" + target, "LLVM") + ", " +
         link("#assembly" + target, "assembly") + "</span>";
}

// What operations are called, by their names of origin.
static std::map<std::string, std::string> titlesOf(const PassRecorder &recorder) {
  std::map<std::string, std::string> titles;
  for (const GraphFunction &graph : recorder.graph())
    for (const GraphNode &node : graph.nodes)
      if (!node.origin.empty())
        titles[node.origin] = node.title;
  return titles;
}

static std::string renderKernels(const PassRecorder &recorder, const Kernels &kernels) {
  std::map<std::string, std::string> titles = titlesOf(recorder);
  std::vector<std::vector<std::string>> rows;
  std::vector<std::string> ids;
  for (const auto &[name, kernel] : kernels) {
    std::string calls, origins;
    for (const auto &[phase, count] : kernel.calls)
      calls += fmt::format("{}{} {}", calls.empty() ? "" : ", ", phase, count);
    for (const std::string &origin : kernel.origins)
      if (auto title = titles.find(origin); title != titles.end())
        origins += (origins.empty() ? "" : ", ") + link("#op-" + origin, title->second);
    const bench::KernelEntry &entry = *kernel.entry;
    rows.push_back({"<b>" + escapeHtml(name) + "</b>",
                    escapeHtml(entry.shapes + (entry.fused.empty() ? "" : " + " + entry.fused)),
                    escapeHtml(entry.share), escapeHtml(calls), origins, renderStored(kernel.stored), linkCode(name)});
    ids.push_back("kernel-" + name);
  }
  return "<h2 id=\"kernels\">Kernels</h2>\n" + htmlTable({"kernel", "what", "divided by", "calls in a step",
                                                          "operations of the model", "weights and states", "code"},
                                                         rows, ids);
}

static std::string renderOperations(const GraphFunction &graph, const Kernels &kernels) {
  std::vector<std::vector<std::string>> rows;
  std::vector<std::string> ids;
  for (const GraphNode &node : graph.nodes) {
    if (node.origin.empty() || !node.callee.empty())
      continue;
    std::string made;
    for (const auto &[name, kernel] : kernels)
      if (kernel.origins.count(node.origin))
        made += (made.empty() ? "" : ", ") + link("#kernel-" + name, name);
    rows.push_back({escapeHtml(node.title), escapeHtml(node.detail),
                    renderStored({node.stored.begin(), node.stored.end()}), made});
    ids.push_back(rowOf(node));
  }
  if (rows.empty())
    return "";
  return fmt::format("<h3>{}</h3>\n", link("#graph-" + graph.name, graph.name)) +
         htmlTable({"operation", "features", "weights and states", "kernels"}, rows, ids);
}

// Stages, and the passes that took longest.
static std::string renderTimes(const PassRecorder &recorder) {
  std::vector<std::pair<std::string, double>> stages, passes;
  double all = 0;
  for (size_t i = 0; i < recorder.passes().size(); ++i) {
    const PassRecorder::PassRecord &pass = recorder.passes()[i];
    if (stages.empty() || stages.back().first != pass.stage)
      stages.push_back({pass.stage, 0});
    stages.back().second += pass.seconds;
    all += pass.seconds;
    passes.push_back({link(fmt::format("#{}", i), pass.name), pass.seconds});
  }
  std::sort(passes.begin(), passes.end(), [](const auto &a, const auto &b) { return a.second > b.second; });
  constexpr size_t most = 8;
  passes.resize(std::min(passes.size(), most));
  auto table = [&](const char *title, const auto &entries) {
    std::vector<std::vector<std::string>> rows;
    for (const auto &[name, seconds] : entries)
      rows.push_back({name, bench::formatSeconds(seconds), bar(all > 0 ? seconds / all : 0)});
    return "<div>" + htmlTable({title, ">time", "share"}, rows) + "</div>\n";
  };
  return "<h2 id=\"times\">What compiling took</h2>\n<div class=\"columns\">\n" + table("stage", stages) +
         table("pass", passes) + "</div>\n";
}

// For readers without JavaScript: every pass, and what it said.
static std::string renderRemarks(const PassRecorder &recorder) {
  std::string html = "<noscript><h2>Passes</h2>\n";
  for (const PassRecorder::PassRecord &pass : recorder.passes()) {
    html +=
        fmt::format("<details><summary><b>{}</b> {}</summary><ul>\n", escapeHtml(pass.name), escapeHtml(pass.summary));
    for (const std::string &remark : pass.remarks)
      html += "<li>" + escapeHtml(remark) + "</li>\n";
    html += "</ul></details>\n";
  }
  return html + "</noscript>\n";
}

std::string renderOverview(const PassRecorder &recorder, const PageHead &head) {
  Kernels kernels = groupByName(recorder.kernelUses());
  std::string html = renderHead(recorder, head) + renderLayerErrors(recorder) + renderGraphs(recorder);
  if (!kernels.empty()) {
    html += "<h2 id=\"costs\">What a step does most</h2>\n<div class=\"columns\">\n";
    for (const Work &work : worksOf(recorder))
      html += renderCosts(recorder, work);
    html += "</div>\n" + renderKernels(recorder, kernels);
  }
  html += "<h2 id=\"operations\">Operations of the model</h2>\n";
  for (const GraphFunction &graph : recorder.graph())
    html += renderOperations(graph, kernels);
  return html + renderTimes(recorder) + renderRemarks(recorder);
}

}  // namespace talc::tools
