// SPDX-License-Identifier: Apache-2.0
// talc-train-step: runs one step of a compiled model that is trained, and writes the loss and the gradients.
//
//   talc-train-step ARTIFACT --buffers FILE --ids 3,1,4,1,5 [--ids 2,6] -o OUT.safetensors
//
// FILE has a line "NAME OFFSET DIMENSION..." for each buffer, in bytes. Labels are those of talc-gradients: each token
// has the next one of its sequence (modulo the number of classes), the last one none. With --check it runs the step on
// other numbers of threads, too, and fails if a bit differs.
#include "runtime/artifact/Model.h"
#include "test/numerics/TensorFile.h"

#include "llvm/Support/CommandLine.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/raw_ostream.h"

#include <chrono>
#include <fstream>
#include <sstream>

using namespace llvm;
using talc::numerics::FileTensor;

namespace {

cl::opt<std::string> path(cl::Positional, cl::Required, cl::desc("ARTIFACT"));
cl::opt<std::string> bufferPath("buffers", cl::Required, cl::desc("names, offsets and shapes of gradients"));
cl::opt<std::string> output("o", cl::init("-"), cl::desc("safetensors file"));
cl::list<std::string> idLists("ids", cl::OneOrMore, cl::desc("ids of a sequence: 3,1,4"));
cl::opt<int> classes("classes", cl::init(1 << 30), cl::desc("labels are below this number"));
cl::opt<int> threads("t", cl::init(1), cl::desc("threads"));
cl::opt<int> repeat("repeat", cl::init(1), cl::desc("steps, whose gradients are added"));
cl::opt<bool> check("check", cl::desc("run on other numbers of threads as well; fail if a bit differs"));

struct Buffer {
  std::string name;
  size_t offset;
  std::vector<int64_t> shape;

  size_t elements() const {
    size_t product = 1;
    for (int64_t size : shape)
      product *= size;
    return product;
  }
};

std::vector<Buffer> readBuffers() {
  std::vector<Buffer> buffers;
  std::ifstream file(bufferPath);
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    Buffer &buffer = buffers.emplace_back();
    words >> buffer.name >> buffer.offset;
    for (int64_t size; words >> size;)
      buffer.shape.push_back(size);
  }
  return buffers;
}

// The sequences, laid end to end.
struct Tokens {
  std::vector<int32_t> ids, labels, wanted;
  std::vector<talc::artifact::StepToken> tokens;
  std::vector<talc::artifact::Span> spans;
  float lossScale = 0;

  Tokens() {
    int32_t count = 0;
    for (const std::string &list : idLists) {
      SmallVector<StringRef> words;
      StringRef(list).split(words, ',');
      auto first = static_cast<int32_t>(ids.size()), slot = static_cast<int32_t>(spans.size());
      for (auto [t, word] : enumerate(words)) {
        wanted.push_back(static_cast<int32_t>(ids.size()));
        ids.push_back(std::atoi(word.str().c_str()));
        labels.push_back(t + 1 < words.size() ? std::atoi(words[t + 1].str().c_str()) % classes : -1);
        tokens.push_back({static_cast<int32_t>(t), slot, 0});
      }
      spans.push_back({first, static_cast<int32_t>(words.size()), 0, slot, 0, slot, 0, -1, 0});
      count += static_cast<int32_t>(words.size()) - 1;
    }
    lossScale = 1.0F / static_cast<float>(count);
  }
};

Error failure(const talc::Status &status) {
  return createStringError(status.text());
}

struct Result {
  std::vector<float> losses, gradients;
  double seconds = 0;  // of the last step
};

Expected<Result> run(const talc::Model &model, const Tokens &in, size_t gradientBytes, int threads) {
  talc::WorkspaceOptions options = {static_cast<int32_t>(in.spans.size()), threads};
  std::unique_ptr<talc::Workspace> workspace;
  if (talc::Status status = model.loaded().createWorkspace(options, workspace); status.failed())
    return failure(status);
  talc::Step step = {};
  step.entry = model.loaded().findEntry(talc::artifact::entryNames::train);
  step.tokenCount = static_cast<int64_t>(in.ids.size());
  step.spanCount = static_cast<int64_t>(in.spans.size());
  step.inputs = {in.ids.data()};
  step.tokens = in.tokens.data();
  step.spans = in.spans.data();
  step.wanted[0] = {static_cast<int64_t>(in.wanted.size()), in.wanted.data()};
  Result result;
  result.gradients.resize(gradientBytes / sizeof(float));
  step.training = {in.labels.data(), &in.lossScale, result.gradients.data()};
  talc::StepSize size = {in.ids.size(), {in.wanted.size()}};
  if (talc::Status status = workspace->reserve(size); status.failed())
    return failure(status);
  for (int i = 0; i < repeat; ++i) {
    auto begin = std::chrono::steady_clock::now();
    if (talc::Status status = workspace->run(step); status.failed())
      return failure(status);
    result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  }
  result.losses.assign(workspace->results(0), workspace->results(0) + in.wanted.size());
  return result;
}

Error run() {
  talc::Model model;
  if (talc::Status status = model.source().openPath(path); status.failed())
    return failure(status);
  if (talc::Status status = model.open({}, "cpu", {}); status.failed())
    return failure(status);
  Tokens in;
  std::vector<Buffer> buffers = readBuffers();
  size_t bytes = 0;
  for (const Buffer &buffer : buffers)
    bytes = std::max(bytes, buffer.offset + buffer.elements() * sizeof(float));
  Expected<Result> result = run(model, in, bytes, threads);
  if (!result)
    return result.takeError();
  if (check)
    for (int others : {1, 2, 3, 8}) {
      Expected<Result> other = run(model, in, bytes, others);
      if (!other)
        return other.takeError();
      if (other->losses != result->losses || other->gradients != result->gradients)
        return createStringError("gradients differ on %d threads", others);
    }
  talc::numerics::TensorFile file;
  double sum = 0;
  for (float loss : result->losses)
    sum += loss;
  file["loss"] = FileTensor::floats({1}, {sum * in.lossScale});
  for (const Buffer &buffer : buffers) {
    const float *values = result->gradients.data() + buffer.offset / sizeof(float);
    file[buffer.name] = FileTensor::floats(buffer.shape, {values, values + buffer.elements()});
  }
  outs() << format("loss %.7f, %zu tokens in %.4f s\n", sum * in.lossScale, in.ids.size(), result->seconds);
  return output == "-" ? Error::success() : talc::numerics::writeTensors(output, file);
}

}  // namespace

int main(int argc, char **argv) {
  InitLLVM init(argc, argv);
  cl::ParseCommandLineOptions(argc, argv, "runs one step of training\n");
  Error error = run();
  if (!error)
    return 0;
  errs() << toString(std::move(error)) << "\n";
  return 1;
}
