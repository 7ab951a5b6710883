// SPDX-License-Identifier: Apache-2.0
// Listings are compressed one by one, since a program has megabytes of them in late stages; the browser unpacks those
// that the user opens.
#include "tools/talc/inspect/InspectPage.h"
#include "tools/talc/inspect/PassRecorder.h"

#include "llvm/Support/Base64.h"
#include "llvm/Support/Compression.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

namespace talc::tools {

using Json = nlohmann::ordered_json;

static std::string pack(llvm::StringRef text, bool compressed) {
  llvm::SmallVector<uint8_t> bytes(text.bytes_begin(), text.bytes_end());
  if (compressed) {
    llvm::SmallVector<uint8_t> packed;
    llvm::compression::zlib::compress(bytes, packed);
    bytes = std::move(packed);
  }
  return llvm::encodeBase64(bytes);
}

static Json describe(const PassRecorder::PassRecord &pass, const std::vector<std::string> &texts) {
  auto lines = [&](int text) { return text < 0 ? 0 : llvm::StringRef(texts[text]).count('\n'); };
  Json changes = Json::array();
  for (const PassRecorder::Change &change : pass.changes) {
    Json same = Json::array();
    for (const SameLines &run : change.same)
      same.push_back({run.before, run.after, run.count});
    changes.push_back({{"function", change.function},
                       {"before", change.before},
                       {"after", change.after},
                       {"linesBefore", lines(change.before)},
                       {"linesAfter", lines(change.after)},
                       {"same", std::move(same)}});
  }
  return {{"stage", pass.stage},   {"name", pass.name},       {"summary", pass.summary},      {"seconds", pass.seconds},
          {"failed", pass.failed}, {"remarks", pass.remarks}, {"changes", std::move(changes)}};
}

static Json describe(const ModelFacts &facts, const Compilation &compilation) {
  Json model = {{"name", facts.name},
                {"path", compilation.model},
                {"target", compilation.targets},
                {"product", compilation.product},
                {"weights", compilation.weights},
                {"chosenFormats", facts.chosenFormats},
                {"parameters", facts.parameters},
                {"maxSequence", facts.maxSequence},
                {"seconds", compilation.seconds}};
  if (const auto &memory = facts.memory)
    model["memory"] = {{"weightBytes", memory->weightBytes},
                       {"kvBytesPerToken", memory->kvBytesPerToken},
                       {"arenaBytesPerToken", memory->arenaBytesPerToken}};
  return model;
}

static Json describe(const MeasuredFacts &facts) {
  Json measured = {{"text", facts.text}, {"predictions", facts.predictions}};
  if (facts.perplexity)
    measured["perplexity"] = *facts.perplexity;
  if (facts.divergence) {
    measured["divergence"] = *facts.divergence;
    measured["maxDivergence"] = facts.maxDivergence;
    measured["sameTop"] = facts.sameTop;
  }
  Json layers = Json::array();
  for (const auto &[mean, max] : facts.layerErrors)
    layers.push_back({{"mean", mean}, {"max", max}});
  measured["layerErrors"] = std::move(layers);
  return measured;
}

static Json describe(const GraphFunction &function) {
  Json nodes = Json::array();
  for (const GraphNode &node : function.nodes)
    nodes.push_back({{"origin", node.origin},
                     {"title", node.title},
                     {"detail", node.detail},
                     {"callee", node.callee},
                     {"stored", node.stored},
                     {"inputs", node.inputs},
                     {"count", node.count}});
  return {{"name", function.name}, {"layers", function.layers}, {"nodes", std::move(nodes)}};
}

// Kernels by name, in the order in which the model calls them, each with all places that call it.
static Json describeKernels(const std::vector<KernelUse> &uses) {
  Json kernels = Json::array();
  std::map<std::string, size_t> indices;
  std::vector<std::set<std::string>> stored, origins;
  for (const KernelUse &use : uses) {
    auto [entry, isNew] = indices.try_emplace(use.entry.name, kernels.size());
    if (isNew) {
      kernels.push_back({{"name", use.entry.name},
                         {"shapes", use.entry.shapes},
                         {"fused", use.entry.fused},
                         {"share", use.entry.share},
                         {"calls", std::map<std::string, int64_t>()}});
      stored.emplace_back();
      origins.emplace_back();
    }
    size_t index = entry->second;
    Json &calls = kernels[index]["calls"];
    calls[use.entry.phase] = calls.value(use.entry.phase, int64_t(0)) + use.entry.calls;
    stored[index].insert(use.stored.begin(), use.stored.end());
    origins[index].insert(use.origins.begin(), use.origins.end());
  }
  for (size_t i = 0; i < kernels.size(); ++i) {
    kernels[i]["stored"] = stored[i];
    kernels[i]["origins"] = origins[i];
  }
  return kernels;
}

namespace {

// A step whose costs the page shows.
struct ExampleStep {
  std::string title, entry;
  bench::StepShape shape;
};

}  // namespace

// The steps of the entries that the model has.
static std::vector<ExampleStep> exampleSteps(const PassRecorder &recorder) {
  int64_t longest = recorder.facts().maxSequence, tokens = longest > 0 ? std::min<int64_t>(longest, 128) : 128;
  std::vector<ExampleStep> steps = {
      {fmt::format("encode: a text of {} tokens", tokens), "encode", {1, tokens, 0, true, true, 0}},
      {fmt::format("prefill: a prompt of {} tokens", tokens), "prefill", {1, tokens, 0, true, false, tokens}},
      {fmt::format("decode: one token behind {}", tokens - 1), "decode", {1, 1, tokens - 1, true, false, tokens}}};
  llvm::erase_if(steps, [&](const ExampleStep &step) {
    return llvm::none_of(recorder.kernelUses(), [&](const KernelUse &use) { return use.entry.runsIn(step.shape); });
  });
  return steps;
}

static Json describe(const ExampleStep &step, const std::vector<KernelUse> &uses) {
  std::map<std::string, bench::StepCosts> costs;
  bench::StepCosts total;
  for (const KernelUse &use : uses)
    if (use.entry.runsIn(step.shape)) {
      bench::StepCosts call = use.entry.callCosts(step.shape);
      auto calls = static_cast<double>(use.entry.calls);
      for (bench::StepCosts *sum : {&costs[use.entry.name], &total}) {
        sum->operations += calls * call.operations;
        sum->storedBytes += calls * call.storedBytes;
        sum->passedBytes += calls * call.passedBytes;
      }
    }
  Json kernels = Json::array();
  for (const auto &[name, kernel] : costs)
    kernels.push_back({{"kernel", name}, {"operations", kernel.operations}, {"bytes", kernel.bytes()}});
  return {{"title", step.title},
          {"entry", step.entry},
          {"tokens", step.shape.tokens},
          {"past", step.shape.past},
          {"operations", total.operations},
          {"bytes", total.bytes()},
          {"kernels", std::move(kernels)}};
}

Json describeCompilation(const PassRecorder &recorder, const Compilation &compilation) {
  const bool compressed = llvm::compression::zlib::isAvailable();
  const std::vector<KernelUse> &kernelUses = recorder.kernelUses();
  Json graph = Json::array(), steps = Json::array(), uses = Json::array(), passes = Json::array();
  for (const GraphFunction &function : recorder.graph())
    graph.push_back(describe(function));
  for (const ExampleStep &step : exampleSteps(recorder))
    steps.push_back(describe(step, kernelUses));
  for (const KernelUse &use : kernelUses)
    uses.push_back(
        {{"kernel", use.entry.name}, {"function", use.function}, {"calls", use.entry.calls}, {"stored", use.stored}});
  for (const PassRecorder::PassRecord &pass : recorder.passes())
    passes.push_back(describe(pass, recorder.texts()));
  Json texts = Json::array();
  for (const std::string &text : recorder.texts())
    texts.push_back(pack(text, compressed));
  Json data = {{"version", 1}, {"model", describe(recorder.facts(), compilation)}};
  if (recorder.facts().measured)
    data["measured"] = describe(*recorder.facts().measured);
  data.update({{"graph", std::move(graph)},
               {"kernels", describeKernels(kernelUses)},
               {"steps", std::move(steps)},
               {"uses", std::move(uses)},
               {"passes", std::move(passes)},
               {"compressed", compressed},
               {"texts", std::move(texts)}});
  return data;
}

}  // namespace talc::tools
