// SPDX-License-Identifier: Apache-2.0
// hgen: makes the code of one loop nest with Halide.
//
//   hgen DESCRIPTION PREFIX        writes PREFIX.o, PREFIX.s (the same as assembly), PREFIX.loops (the
//   loop nest) and PREFIX.stmt (the lowered statement)
//
// DESCRIPTION is a file of lines "key value":
//
//   symbol   name of the function
//   target   Halide's name of the processor: x86-64-linux-avx2-fma
//   lanes    f32 lanes of a vector
//   depth    steps of k
//   panel    columns of a panel of the weight
//   element  of the weight: f32, f16 or bf16
//   rows     of a register tile
//   columns  of a register tile, a multiple of lanes that divides a panel
//   panels   that a tile takes side by side, where a call brings exactly as many
//
// The function computes sums[m, c] = sum over k of x[m, k] * weight[c / panel, k, c % panel], where m has any extent
// and c that of whole panels:
//
//   int32_t symbol(halide_buffer_t *x, halide_buffer_t *weight, halide_buffer_t *sums)
//
// Dimensions go from the innermost outwards: x [k, m], weight [lane, k, panel], sums [c, m]. A sum is one chain of
// fused multiply-adds with k ascending. A program of its own: Halide brings an LLVM of its own, and whatever happens to
// it happens outside the compiler.
#include <Halide.h>

#include <cstdio>
#include <fstream>
#include <map>
#include <stdexcept>
#include <string>

using namespace Halide;

namespace {

void expect(bool condition, const std::string &otherwise) {
  if (!condition)
    throw std::runtime_error(otherwise);
}

class Description {
public:
  explicit Description(const std::string &path) {
    std::ifstream file(path);
    expect(file.good(), path + ": cannot be read");
    for (std::string key, value; file >> key >> value;)
      values[key] = value;
  }
  std::string text(const std::string &key) const {
    auto found = values.find(key);
    expect(found != values.end(), "the description has no " + key);
    return found->second;
  }
  // A natural number of at most 2^24.
  int number(const std::string &key) const {
    const std::string value = text(key);
    bool valid = !value.empty() && value.size() < 9 && value.find_first_not_of("0123456789") == std::string::npos;
    int result = valid ? std::stoi(value) : 0;
    expect(result > 0 && result <= 1 << 24, key + " is " + value + "; expected a natural number");
    return result;
  }

private:
  std::map<std::string, std::string> values;
};

Type elementType(const std::string &name) {
  static const std::map<std::string, Type> types = {{"f32", Float(32)}, {"f16", Float(16)}, {"bf16", BFloat(16)}};
  auto found = types.find(name);
  expect(found != types.end(), "element " + name + " is unknown; expected f32, f16 or bf16");
  return found->second;
}

// Rows times panels of a packed weight.
class Product {
public:
  explicit Product(const Description &d)
      : lanes(d.number("lanes")), depth(d.number("depth")), panel(d.number("panel")), tileRows(d.number("rows")),
        tileColumns(d.number("columns")), tilePanels(d.number("panels")), x(Float(32), 2, "x"),
        weight(elementType(d.text("element")), 3, "weight"), sums("sums") {
    expect(tileColumns % lanes == 0 && panel % tileColumns == 0, "columns do not divide the panels");
    define();
    schedule();
  }

  void compile(const std::string &prefix, const std::string &symbol, const Target &target) {
    // Linkage::External leaves out the wrapper that takes arguments as an array, and metadata.
    Pipeline(sums)
        .compile_to_module({x, weight}, symbol, target, LinkageType::External)
        .compile({{OutputFileType::object, prefix + ".o"},
                  {OutputFileType::assembly, prefix + ".s"},
                  {OutputFileType::stmt, prefix + ".stmt"}});
  }
  void printLoops() { sums.print_loop_nest(); }

private:
  void define() {
    RDom k(0, depth, "k");
    chain(c, m) = 0.0f;
    chain(c, m) += x(k, m) * cast<float>(weight(c % panel, k, c / panel));
    sums(c, m) = chain(c, m);
    reduction = k.x;
    x.dim(0).set_bounds(0, depth).set_stride(1);
    x.dim(1).set_min(0);
    weight.dim(0).set_bounds(0, panel).set_stride(1);
    weight.dim(1).set_bounds(0, depth).set_stride(panel);
    weight.dim(2).set_min(0).set_stride(panel * depth);
    sums.output_buffer().dim(0).set_min(0).set_stride(1);
    sums.output_buffer().dim(1).set_min(0);
  }

  void cut(Stage stage, int columns) {
    Var co("tile_columns"), ci("column"), mi("row");
    stage.split(m, tiles, mi, tileRows, TailStrategy::GuardWithIf)
        .split(c, co, ci, columns, TailStrategy::RoundUp)
        .reorder(ci, mi, tiles, co)
        .vectorize(ci, lanes)
        .unroll(ci)
        .unroll(mi);
  }

  // The sums of a tile are registers while k passes; its columns stay in cache while rows pass.
  void schedule() {
    if (tilePanels > 1)
      cut(sums.specialize(sums.output_buffer().dim(0).extent() == panel * tilePanels), panel * tilePanels);
    cut(sums, tileColumns);
    chain.compute_at(sums, tiles).store_in(MemoryType::Register).vectorize(c, lanes).unroll(c).unroll(m);
    chain.update().reorder(c, m, reduction).vectorize(c, lanes).unroll(c).unroll(m);
  }

  const int lanes, depth, panel, tileRows, tileColumns, tilePanels;
  ImageParam x, weight;
  Func sums, chain{"chain"};
  Var c{"c"}, m{"m"}, tiles{"tile_rows"};
  RVar reduction;
};

void generate(const std::string &descriptionPath, const std::string &prefix) {
  Description description(descriptionPath);
  Target target(description.text("target"));
  for (Target::Feature feature : {Target::NoRuntime, Target::NoAsserts, Target::NoBoundsQuery})
    target.set_feature(feature);
  Product product(description);
  // Halide prints loop nests to the standard error.
  expect(freopen((prefix + ".loops").c_str(), "w", stderr), prefix + ".loops: cannot be written");
  product.printLoops();
  product.compile(prefix, description.text("symbol"), target);
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
