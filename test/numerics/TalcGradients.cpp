// SPDX-License-Identifier: Apache-2.0
// talc-gradients: compares the gradients of a module after `differentiate` with differences of its loss.
//
//   talc-gradients MODULE --ids 3,1,4,1,5 [--ids 2,6] [--tolerance 1e-6 | -o OUT.safetensors]
//
// Each token has the next one of its sequence as its label (modulo the number of classes), the last one none. For every
// weight w and a random direction u, <gradient, u> is compared with the derivative of L(w + h u) at h = 0, by central
// differences of two widths, of which the error of order h^2 is removed (Richardson). It prints a line for each weight,
// and fails if a relative difference is beyond the tolerance. With -o it writes loss and gradients instead.
#include "compiler/reference/Interpreter.h"
#include "dialects/talc/gradients/Differentiable.h"
#include "test/numerics/TensorFile.h"

#include "mlir/Dialect/DLTI/DLTI.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/InitLLVM.h"

#include <fmt/format.h>

#include <cmath>
#include <random>

using namespace llvm;
using talc::reference::GradientSum;
using talc::reference::Interpreter;
using talc::reference::Matrix;

namespace {

cl::opt<std::string> modulePath(cl::Positional, cl::Required, cl::desc("MODULE.mlir"));
cl::list<std::string> idLists("ids", cl::OneOrMore, cl::desc("ids of a sequence: 3,1,4"));
cl::opt<std::string> output("o", cl::desc("safetensors file"));
cl::opt<double> tolerance("tolerance", cl::init(1e-6), cl::desc("largest relative difference"));

// Labels are below `classes`.
std::vector<Interpreter::Sequence> readSequences(int64_t classes) {
  std::vector<Interpreter::Sequence> sequences;
  for (const std::string &list : idLists) {
    Interpreter::Sequence sequence;
    sequence.slot = static_cast<int>(sequences.size());
    SmallVector<StringRef> words;
    StringRef(list).split(words, ',');
    for (StringRef word : words)
      sequence.ids.push_back(std::atoi(word.str().c_str()));
    for (size_t t = 1; t < sequence.ids.size(); ++t)
      sequence.labels.push_back(static_cast<int32_t>(sequence.ids[t] % classes));
    sequence.labels.push_back(-1);
    sequence.outputTokens.emplace_back();
    for (size_t t = 0; t < sequence.ids.size(); ++t)
      sequence.outputTokens[0].push_back(static_cast<int64_t>(t));
    sequences.push_back(std::move(sequence));
  }
  return sequences;
}

class Check {
public:
  Check(Interpreter interpreter, int64_t classes)
      : interpreter(std::move(interpreter)), sequences(readSequences(classes)) {}

  Error run() {
    Expected<double> first = loss();
    if (!first)
      return first.takeError();
    auto gradients = interpreter.gradients;
    outs() << fmt::format("loss {:.9f}\n", *first);
    if (!output.empty())
      return write(*first, gradients);
    for (const auto &[name, gradient] : gradients)
      longest = std::max(longest, length(gradient));
    bool isRight = !gradients.empty();
    for (const auto &[name, gradient] : gradients) {
      Expected<double> difference = compare(name, gradient);
      if (!difference)
        return difference.takeError();
      outs() << fmt::format("{} {:.1e}\n", name, *difference);
      isRight &= *difference <= tolerance;
    }
    return isRight ? Error::success() : createStringError("a gradient is wrong, or there is none");
  }

private:
  static Error write(double loss, const std::map<std::string, GradientSum> &gradients) {
    talc::numerics::TensorFile file;
    file["loss"] = talc::numerics::FileTensor::floats({1}, {loss});
    for (const auto &[name, gradient] : gradients)
      file[name] = talc::numerics::FileTensor::floats(gradient.shape, gradient.values);
    return talc::numerics::writeTensors(output, file);
  }

  // The mean over all labels.
  Expected<double> loss() {
    interpreter.gradients.clear();
    for (const auto &sequence : sequences)
      interpreter.release(sequence.slot);
    Expected<std::vector<Matrix>> results = interpreter.step(sequences);
    if (!results)
      return results.takeError();
    double sum = 0, count = 0;
    for (double value : results->front().values)
      sum += value;
    for (const auto &sequence : sequences)
      count += static_cast<double>(count_if(sequence.labels, [](int32_t label) { return label >= 0; }));
    return sum / count;
  }

  static double length(const GradientSum &gradient) {
    double squares = 0;
    for (double slope : gradient.values)
      squares += slope * slope;
    return std::sqrt(squares);
  }

  // The difference between the derivative along a random direction and the gradient's, relative to the larger of the
  // latter and the length of the gradient. That of a bias of keys, which softmax ignores, is zero: a millionth of the
  // longest gradient counts as nothing.
  Expected<double> compare(const std::string &name, const GradientSum &gradient) {
    auto weight = interpreter.editWeight(name);
    if (!weight)
      return weight.takeError();
    std::vector<double> &values = (*weight)->values;
    const std::vector<double> original = values;
    std::vector<double> direction;
    double expected = 0;
    for (double slope : gradient.values) {
      direction.push_back(distribution(random));
      expected += slope * direction.back();
    }
    auto slope = [&](double width) -> Expected<double> {
      double sides[2];
      for (int side : {0, 1}) {
        for (size_t i = 0; i < original.size(); ++i)
          values[i] = original[i] + (side ? width : -width) * direction[i];
        Expected<double> moved = loss();
        if (!moved)
          return moved.takeError();
        sides[side] = *moved;
      }
      return (sides[1] - sides[0]) / (2 * width);
    };
    double size = 0, least = HUGE_VAL;
    for (double value : original)
      size += value * value / static_cast<double>(original.size());
    // Wide steps meet the kinks of relu, narrow ones the precision of the loss.
    for (double width : {3e-3, 3e-4, 3e-5, 3e-6}) {
      width = std::max(width * std::sqrt(size), 1e-7);
      Expected<double> coarse = slope(width), fine = coarse ? slope(width / 2) : 0.0;
      values = original;
      if (!coarse)
        return coarse.takeError();
      if (!fine)
        return fine.takeError();
      least = std::min(least, std::fabs((4 * *fine - *coarse) / 3 - expected));
    }
    return least / std::max({std::fabs(expected), length(gradient), 1e-6 * longest, 1e-300});
  }

  Interpreter interpreter;
  std::vector<Interpreter::Sequence> sequences;
  double longest = 0;
  std::mt19937 random{1};
  std::normal_distribution<double> distribution;
};

}  // namespace

int main(int argc, char **argv) {
  InitLLVM init(argc, argv);
  cl::ParseCommandLineOptions(argc, argv, "compares gradients with differences\n");
  mlir::DialectRegistry registry;
  registry.insert<talc::TalcDialect, mlir::func::FuncDialect, mlir::DLTIDialect>();
  mlir::MLIRContext context(registry);
  mlir::OwningOpRef<mlir::ModuleOp> module = mlir::parseSourceFile<mlir::ModuleOp>(modulePath, &context);
  if (!module)
    return 1;
  int64_t classes = 1;
  module->walk([&](talc::CrossEntropyOp loss) {
    classes = mlir::cast<mlir::RankedTensorType>(loss.getLogits().getType()).getDimSize(1);
  });
  Expected<Interpreter> interpreter = Interpreter::create(*module);
  Error error = interpreter ? Check(std::move(*interpreter), classes).run() : interpreter.takeError();
  if (!error)
    return 0;
  errs() << toString(std::move(error)) << "\n";
  return 1;
}
