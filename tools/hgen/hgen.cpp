// SPDX-License-Identifier: Apache-2.0
// hgen: makes the code of one loop nest with Halide.
//
//   hgen DESCRIPTION PREFIX        writes PREFIX.o, PREFIX.s (the same as assembly), PREFIX.loops (the
//   loop nest) and PREFIX.stmt (the lowered statement)
//
// DESCRIPTION is a file of lines "key value":
//
//   symbol   name of the function
//   target   Halide's name of the CPU: x86-64-linux-avx2-fma
//   lanes    f32 lanes of a vector
//   kind     matmul (Matmul.cpp), row (Row.cpp), scores or values (Attention.cpp); these files list further keys
//
// A program of its own: Halide brings an LLVM of its own, and whatever happens to it happens outside the compiler.
#include "tools/hgen/Description.h"

#include <cstdio>
#include <stdexcept>

using namespace Halide;
using namespace hgen;

namespace {

Loops make(const Description &description) {
  static const std::map<std::string, Loops (*)(const Description &)> kinds = {
      {"matmul", makeMatmul}, {"row", makeRow}, {"scores", makeScores}, {"values", makeValues}};
  auto it = kinds.find(description.text("kind"));
  expect(it != kinds.end(), "kind " + description.text("kind") + " is unknown; expected matmul, row, scores or values");
  return it->second(description);
}

void generate(const std::string &descriptionPath, const std::string &prefix) {
  Description description(descriptionPath);
  Target target(description.text("target"));
  // Strict: sums are in the order that is written, and only what says so is fused.
  for (Target::Feature feature : {Target::NoRuntime, Target::NoAsserts, Target::NoBoundsQuery, Target::StrictFloat})
    target.set_feature(feature);
  Loops loops = make(description);
  // Halide prints loop nests to the standard error.
  expect(freopen((prefix + ".loops").c_str(), "w", stderr), prefix + ".loops: cannot be written");
  loops.results.print_loop_nest();
  // Linkage::External leaves out the wrapper that takes arguments as an array, and metadata.
  Pipeline(loops.results)
      .compile_to_module(loops.arguments, description.text("symbol"), target, LinkageType::External)
      .compile({{OutputFileType::object, prefix + ".o"},
                {OutputFileType::assembly, prefix + ".s"},
                {OutputFileType::stmt, prefix + ".stmt"}});
}

}  // namespace

int main(int argc, char **argv) try {
  if (argc != 3) {
    printf("usage: hgen DESCRIPTION PREFIX\n");
    return 2;
  }
  generate(argv[1], argv[2]);
  return 0;
} catch (const std::exception &error) {
  printf("hgen: %s\n", error.what());
  return 1;
}
