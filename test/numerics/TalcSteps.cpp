// SPDX-License-Identifier: Apache-2.0
// talc-steps: runs an artifact through talc.h, its prompts divided among steps as asked, and writes the rows of all
// results. Prompts are given as to talc-interpret.
//
// With --check it runs the prompts again in all the ways that must not change a bit: other numbers of threads, other
// steps, each prompt alone, each source encoded alone, and fails if a bit differs.
#include "runtime/talc.h"
#include "test/numerics/Prompts.h"

#include "llvm/Support/InitLLVM.h"

#include <algorithm>
#include <cstring>

using namespace llvm;
using talc::numerics::Ids;
using talc::numerics::OutputSelection;
using talc::numerics::Part;
using talc::numerics::Prompt;
using talc::numerics::PromptOptions;
using talc::numerics::Rows;

namespace {

struct Options : PromptOptions {
  cl::opt<std::string> path{cl::Positional, cl::Required, cl::desc("ARTIFACT")};
  cl::opt<int> threads{"t", cl::init(1), cl::desc("threads")};
  cl::opt<bool> check{"check", cl::desc("run in other ways as well; fail if a bit differs")};
};

// One way to evaluate prompts.
struct Way {
  int threads = 1;
  Ids split = {};
  bool sourcesAlone = false;

  std::string text() const {
    std::string result = std::to_string(threads) + " threads";
    for (size_t i = 0; i < split.size(); ++i)
      result += (i ? ", " : ", steps of ") + std::to_string(split[i]);
    return result + (sourcesAlone ? ", each source alone" : "");
  }
};

Error check(talc_status status, const talc_error &error) {
  return status == TALC_OK ? Error::success() : createStringError(error.text);
}

class Model {
public:
  static Expected<Model> open(const std::string &path) {
    Model result;
    talc_error error;
    if (Error failure = ::check(talc_model_open(path.c_str(), nullptr, &result.model, &error), error))
      return std::move(failure);
    if (Error failure = ::check(talc_model_get_info(result.model, &result.info, &error), error))
      return std::move(failure);
    return result;
  }
  Model(Model &&other) : info(other.info) { std::swap(model, other.model); }
  ~Model() { talc_model_close(model); }

  std::vector<std::string> kinds() const {
    static const char *const names[] = {"logits", "hidden", "classes", "token_classes"};
    std::vector<std::string> result;
    for (int32_t i = 0; i < info.result_count; ++i) {
      std::string name = names[info.results[i].kind - 1];
      result.push_back(is_contained(result, name) ? name + std::to_string(i) : name);
    }
    return result;
  }

  // Fills the results of `prompts`, whose i-th goes to slot i.
  Error run(MutableArrayRef<Prompt> prompts, const Way &way, const PromptOptions &options) const {
    talc_error error;
    talc_session *session = nullptr;
    talc_session_options sizes = {};
    sizes.threads = way.threads;
    sizes.slots = static_cast<int32_t>(prompts.size());
    if (Error failure = ::check(talc_session_create(model, &sizes, &session, &error), error))
      return failure;
    Error result = encode(session, prompts, way.sourcesAlone);
    if (!result)
      result = talc::numerics::runSteps(prompts, possible(way.split),
                                        [&](ArrayRef<Part> parts) { return step(session, prompts, parts, options); });
    talc_session_destroy(session);
    return result;
  }

  talc_model_info info = {};

private:
  Model() = default;

  // Steps of no more tokens of a prompt than windows leave room for.
  Ids possible(Ids split) const {
    if (info.step_tokens == 0)
      return split;
    if (split.empty())
      split = {info.step_tokens};
    for (int32_t &count : split)
      count = std::min(count, info.step_tokens);
    return split;
  }

  static Error encode(talc_session *session, ArrayRef<Prompt> prompts, bool alone) {
    std::vector<talc_sequence> sources;
    for (size_t i = 0; i < prompts.size(); ++i) {
      if (prompts[i].source.empty())
        continue;
      talc_sequence &source = sources.emplace_back();
      source.slot = static_cast<int32_t>(i);
      source.count = static_cast<int32_t>(prompts[i].source.size());
      source.ids = prompts[i].source.data();
    }
    size_t maxSources = alone ? 1 : std::max<size_t>(1, sources.size());
    for (size_t i = 0; i < sources.size(); i += maxSources) {
      talc_error error;
      if (Error failure = ::check(talc_encode(session, &sources[i], static_cast<int32_t>(maxSources), &error), error))
        return failure;
    }
    return Error::success();
  }

  Error step(talc_session *session, MutableArrayRef<Prompt> prompts, ArrayRef<Part> parts,
             const PromptOptions &options) const {
    std::vector<std::string> kinds = this->kinds();
    std::vector<talc_sequence> batch(parts.size());
    std::vector<std::vector<Ids>> listed(parts.size(), std::vector<Ids>(kinds.size()));
    for (size_t p = 0; p < parts.size(); ++p) {
      const Prompt &prompt = prompts[parts[p].prompt];
      batch[p].slot = static_cast<int32_t>(parts[p].prompt);
      batch[p].count = static_cast<int32_t>(parts[p].count);
      batch[p].ids = prompt.ids.data() + prompt.done;
      batch[p].types = prompt.types.empty() ? nullptr : prompt.types.data() + prompt.done;
      batch[p].prefix = prompt.done == 0 ? prompt.prefix : 0;
      for (size_t i = 0; i < kinds.size(); ++i) {
        OutputSelection selection = options.outputSelection(kinds[i], i);
        listed[p][i] = prompt.outputTokens(selection, parts[p].count);
        batch[p].wanted[i] = wantedTokens(selection, listed[p][i]);
        if (kinds[i] == "classes" && batch[p].wanted[i].rows == TALC_ROWS_FIRST)
          batch[p].wanted[i].rows = TALC_ROWS_CLASSES;
      }
    }
    talc_error error;
    talc_status status = talc_evaluate(session, batch.data(), static_cast<int32_t>(batch.size()), &error);
    if (status != TALC_OK)
      return ::check(status, error);
    for (size_t p = 0; p < parts.size(); ++p) {
      Prompt &prompt = prompts[parts[p].prompt];
      for (size_t i = 0; i < kinds.size(); ++i) {
        int32_t rows = 0, width = info.results[i].width;
        const float *data = talc_result(session, static_cast<int32_t>(i), static_cast<int32_t>(p), &rows);
        if (static_cast<size_t>(rows) != listed[p][i].size())
          return createStringError("result %zu has %d rows, %zu were requested", i, rows, listed[p][i].size());
        prompt.addRows<float>(i, width, {data, static_cast<size_t>(rows) * width});
      }
      prompt.done += parts[p].count;
    }
    return Error::success();
  }

  static talc_wanted wantedTokens(OutputSelection selection, const Ids &listed) {
    if (listed.empty())
      return {TALC_ROWS_NONE, 0, nullptr};
    switch (selection) {
    case OutputSelection::all:
      return {TALC_ROWS_ALL, 0, nullptr};
    case OutputSelection::first:
      return {TALC_ROWS_FIRST, 0, nullptr};
    case OutputSelection::last:
      return {TALC_ROWS_LAST, 0, nullptr};
    case OutputSelection::even:
      break;
    }
    return {TALC_ROWS_LISTED, static_cast<int32_t>(listed.size()), listed.data()};
  }

  talc_model *model = nullptr;
};

// The prompts as they were before anything was evaluated.
std::vector<Prompt> fresh(ArrayRef<Prompt> prompts) {
  std::vector<Prompt> result(prompts);
  for (Prompt &prompt : result) {
    prompt.done = 0;
    prompt.results.clear();
  }
  return result;
}

Error compareBits(ArrayRef<Prompt> expected, ArrayRef<Prompt> found, const std::string &way) {
  for (size_t p = 0; p < expected.size(); ++p)
    for (size_t i = 0; i < expected[p].results.size(); ++i) {
      const std::vector<double> &a = expected[p].results[i].values, &b = found[p].results[i].values;
      size_t place = 0;
      while (place < a.size() && place < b.size() && std::memcmp(&a[place], &b[place], sizeof(double)) == 0)
        ++place;
      if (place < a.size() || a.size() != b.size())
        return createStringError("%s: result %zu of prompt %zu differs at %zu of %zu: %.9g, expected %.9g", way.c_str(),
                                 i, p, place, a.size(), place < b.size() ? b[place] : 0,
                                 place < a.size() ? a[place] : 0);
    }
  return Error::success();
}

// Whether all ways to evaluate the prompts give the bits that they have.
Error checkWays(const Model &model, ArrayRef<Prompt> prompts, const PromptOptions &options) {
  std::vector<Way> ways = {{1}, {2}, {3}, {2, {}, true}};
  if (model.info.kind != TALC_MODEL_ENCODER)
    ways.insert(ways.end(), {{1, {1}}, {3, {1}}, {2, {3, 1, 2}}, {1, {5}}, {1, {8, 7}}});
  for (const Way &way : ways) {
    std::vector<Prompt> again = fresh(prompts);
    if (Error error = model.run(again, way, options))
      return error;
    if (Error error = compareBits(prompts, again, way.text()))
      return error;
  }
  for (const Prompt &prompt : prompts) {
    std::vector<Prompt> alone = fresh(prompt);
    if (Error error = model.run(alone, {2}, options))
      return error;
    if (Error error = compareBits(prompt, alone, "prompt " + std::to_string(&prompt - prompts.data()) + " alone"))
      return error;
  }
  return Error::success();
}

Error run(Options &options) {
  Expected<Model> model = Model::open(options.path);
  if (!model)
    return model.takeError();
  if (Error error = model->run(options.prompts, {options.threads, options.split}, options))
    return error;
  if (options.check)
    if (Error error = checkWays(*model, options.prompts, options))
      return error;
  return options.write(model->kinds());
}

}  // namespace

int main(int argc, char **argv) {
  InitLLVM init(argc, argv);
  Options options;
  cl::ParseCommandLineOptions(argc, argv, "runs an artifact step by step\n");
  Error error = options.parse();
  return talc::numerics::finish(error ? std::move(error) : run(options));
}
