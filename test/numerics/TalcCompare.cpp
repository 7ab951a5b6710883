// SPDX-License-Identifier: Apache-2.0
// talc-compare: compares the tensors of two safetensors files.
#include "test/numerics/TensorFile.h"

#include "llvm/Support/CommandLine.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/raw_ostream.h"

#include <algorithm>
#include <cmath>

using namespace llvm;
using talc::numerics::FileTensor;
using talc::numerics::TensorFile;

namespace {

// The largest difference between two tensors of equal shape.
struct Difference {
  double largest = 0;   // largest magnitude expected
  double worst = 0;     // largest difference; infinite if one of two values is not a number
  int64_t place = 0;    // element of the largest difference
  int64_t unequal = 0;  // elements with different bits
};

Difference difference(const FileTensor &expected, const FileTensor &found) {
  Difference result;
  for (int64_t i = 0; i < expected.elements(); ++i) {
    double a = expected.at(i), b = found.at(i), distance = std::fabs(a - b);
    if (std::isnan(distance))
      distance = INFINITY;
    if (std::isfinite(a))
      result.largest = std::max(result.largest, std::fabs(a));
    if (distance > result.worst) {
      result.worst = distance;
      result.place = i;
    }
  }
  size_t width = expected.elements() ? expected.bytes.size() / expected.elements() : 0;
  if (expected.type == found.type)
    for (int64_t i = 0; i < expected.elements(); ++i)
      result.unequal += expected.bytes.compare(i * width, width, found.bytes, i * width, width) != 0;
  return result;
}

std::string coordinates(int64_t element, const std::vector<int64_t> &shape) {
  std::vector<int64_t> result(shape.size());
  for (size_t d = shape.size(); d-- > 0; element /= shape[d])
    result[d] = element % shape[d];
  return fmt::format("[{}]", fmt::join(result, ", "));
}

// Prints one line and returns whether the tensors agree. A tolerance of 0 asks for equal bits.
bool compare(const std::string &name, const FileTensor &expected, const FileTensor &found, double tolerance) {
  if (expected.shape != found.shape) {
    outs() << fmt::format("{}: shape [{}], expected [{}]\n", name, fmt::join(found.shape, ", "),
                          fmt::join(expected.shape, ", "));
    return false;
  }
  Difference result = difference(expected, found);
  double relative = result.largest > 0 ? result.worst / result.largest : result.worst;
  bool exact = expected.type == found.type && result.unequal == 0;
  bool agrees = exact || (tolerance > 0 && relative <= tolerance);
  outs() << fmt::format("{}: {} {:.2e}, {} of {} values with other bits", name, agrees ? "agrees within" : "differs by",
                        relative, result.unequal, expected.elements());
  if (!agrees)
    outs() << fmt::format("; at {} found {:.9g}, expected {:.9g}", coordinates(result.place, expected.shape),
                          found.at(result.place), expected.at(result.place));
  outs() << "\n";
  return agrees;
}

int report(Error error) {
  errs() << toString(std::move(error)) << "\n";
  return 1;
}

}  // namespace

int main(int argc, char **argv) {
  InitLLVM init(argc, argv);
  cl::opt<std::string> expectedPath(cl::Positional, cl::Required, cl::desc("EXPECTED"));
  cl::opt<std::string> foundPath(cl::Positional, cl::Required, cl::desc("FOUND"));
  cl::opt<double> tolerance("tolerance", cl::init(1e-5),
                            cl::desc("largest difference, relative to a tensor's largest expected magnitude"));
  cl::opt<bool> exact("exact", cl::desc("ask for equal bits"));
  cl::opt<std::string> rename("as", cl::desc("compare the tensor 'logits' of FOUND with this tensor of EXPECTED, "
                                             "and no other"));
  cl::ParseCommandLineOptions(argc, argv, "compares every tensor of FOUND with the one of the same name in EXPECTED\n");
  Expected<TensorFile> expected = talc::numerics::readTensors(expectedPath);
  if (!expected)
    return report(expected.takeError());
  Expected<TensorFile> found = talc::numerics::readTensors(foundPath);
  if (!found)
    return report(found.takeError());
  bool agrees = !found->empty();
  for (const auto &[name, tensor] : *found) {
    const std::string &other = rename.empty() ? name : rename.getValue();
    if (!expected->count(other))
      return report(createStringError(expectedPath + ": has no tensor '" + other + "'"));
    agrees &= compare(other, expected->at(other), tensor, exact ? 0.0 : tolerance.getValue());
  }
  return agrees ? 0 : 1;
}
