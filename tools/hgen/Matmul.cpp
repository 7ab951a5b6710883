// SPDX-License-Identifier: Apache-2.0
// Rows times panels of a packed weight:
//
//   depth    steps of k
//   panel    columns of a panel of the weight
//   element  of the weight: f32, f16 or bf16
//   rows     of a register tile
//   columns  of a register tile, a multiple of lanes that divides a panel
//   panels   that a tile takes side by side, if a call has exactly as many
//
// The function computes sums[m, c] = sum over k of x[m, k] * weight[c / panel, k, c % panel], where m has any extent
// and c that of whole panels:
//
//   int32_t symbol(halide_buffer_t *x, halide_buffer_t *weight, halide_buffer_t *sums)
//
// Dimensions go from the innermost outwards: x [k, m], weight [lane, k, panel], sums [c, m]. A sum is one chain of
// fused multiply-adds with k ascending.
#include "tools/hgen/Description.h"

using namespace Halide;

namespace hgen {

namespace {

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

  Loops loops() { return {sums, {x, weight}}; }

private:
  void define() {
    RDom k(0, depth, "k");
    chain(c, m) = 0.0f;
    chain(c, m) = fused(x(k, m), cast<float>(weight(c % panel, k, c / panel)), chain(c, m));
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

}  // namespace

Loops makeMatmul(const Description &description) {
  return Product(description).loops();
}

}  // namespace hgen
