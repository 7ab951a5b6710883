// SPDX-License-Identifier: Apache-2.0
// The two products of attention, for a tile of rows and a block of keys:
//
//   scores   sums[m, key] = sum over k of x[m, k] * keys[k, key]
//   values   sums[m, c] = before[m, c] + sum over keys of x[m, key] * values[key, c]
//
//   element          of keys and values: f32, f16 or bf16
//   panel            keys that lie together; columns of values are taken by as many
//   rows, panels     of a register tile
//   panels_of_row    of the tile of a single row
//   depth            of scores: steps of k
//   column_panels    of values: of their columns
//
// Rows are as many as those of a tile, or are taken one by one. Of scores the keys have any number of panels, of values
// they have any number.
//
//   int32_t symbol(halide_buffer_t *x, halide_buffer_t *keys, halide_buffer_t *sums)
//   int32_t symbol(halide_buffer_t *x, halide_buffer_t *values, halide_buffer_t *before, halide_buffer_t *sums)
//
// Dimensions go from the innermost outwards: x [k, m] or [key, m], keys [key of the panel, k, panel], values [column of
// its panel, panel of columns, key of the panel, panel], before and sums [column of its panel, panel of columns, m];
// before and sums may be one. A sum is one chain of fused multiply-adds with k, or keys, ascending.
#include "tools/hgen/Description.h"

using namespace Halide;

namespace hgen {

namespace {

class KeyBlock {
public:
  explicit KeyBlock(const Description &d)
      : lanes(d.number("lanes")), panel(d.number("panel")), rows(d.number("rows")), panels(d.number("panels")),
        panelsOfRow(d.number("panels_of_row")) {
    expect(panel % lanes == 0, "lanes do not divide the panels");
    x.dim(0).set_min(0).set_stride(1);
    x.dim(1).set_min(0);
  }

  Loops scores(Type element, int depth) {
    ImageParam keys(element, 3, "keys");
    RDom k(0, depth, "k");
    define(0.0f, x(k, m), keys(c, k, p));
    layOut(keys);
    keys.dim(1).set_bounds(0, depth).set_stride(panel);
    keys.dim(2).set_min(0);
    layOut(sums.output_buffer());
    sums.output_buffer().dim(1).set_min(0).set_stride(panel);
    schedule();
    chain.update().reorder(c, p, m, k.x);
    return {sums, {x, keys}};
  }

  Loops values(Type element, int columnPanels) {
    ImageParam values(element, 4, "values"), before(Float(32), 3, "before");
    RDom key(0, x.dim(0).extent(), "key");
    define(before(c, p, m), x(key, m), values(c, p, key % panel, key / panel));
    layOut(values);
    values.dim(1).set_bounds(0, columnPanels).set_stride(panel);
    values.dim(2).set_bounds(0, panel).set_stride(panel * columnPanels);
    values.dim(3).set_min(0);
    for (OutputImageParam memory : {OutputImageParam(before), sums.output_buffer()}) {
      layOut(memory);
      memory.dim(1).set_bounds(0, columnPanels).set_stride(panel);
    }
    schedule();
    RVar outer("panel_of_keys"), inner("key_of_panel");
    chain.update().split(key, outer, inner, panel, TailStrategy::GuardWithIf).reorder(c, p, m, inner, outer);
    return {sums, {x, values, before}};
  }

private:
  void define(const Expr &begin, const Expr &weight, const Expr &vector) {
    chain(c, p, m) = begin;
    chain(c, p, m) = fused(weight, cast<float>(vector), chain(c, p, m));
    sums(c, p, m) = chain(c, p, m);
  }

  void layOut(OutputImageParam memory) {
    memory.dim(0).set_bounds(0, panel).set_stride(1);
    memory.dim(memory.dimensions() - 1).set_min(0);
  }

  void cut(Stage stage, int tileRows, int tilePanels) {
    Var tile("tile"), row("row"), po("tile_panels"), pi("panel");
    stage.split(m, tile, row, tileRows, TailStrategy::GuardWithIf)
        .split(p, po, pi, tilePanels, TailStrategy::GuardWithIf)
        .reorder(c, pi, row, tile, po)
        .vectorize(c, lanes)
        .unroll(c)
        .unroll(pi)
        .unroll(row);
  }

  // The sums of a tile are registers while k passes.
  void schedule() {
    cut(sums.specialize(sums.output_buffer().dim(2).extent() == rows), rows, panels);
    cut(sums, 1, panelsOfRow);
    chain.compute_at(sums, Var("tile")).store_in(MemoryType::Register);
    for (Stage stage : {Stage(chain), Stage(chain.update())})
      stage.vectorize(c, lanes).unroll(c).unroll(p).unroll(m);
  }

  const int lanes, panel, rows, panels, panelsOfRow;
  ImageParam x{Float(32), 2, "x"};
  Func sums{"sums"}, chain{"chain"};
  Var c{"column"}, p{"panels"}, m{"m"};
};

}  // namespace

Loops makeScores(const Description &d) {
  return KeyBlock(d).scores(elementType(d.text("element")), d.number("depth"));
}

Loops makeValues(const Description &d) {
  return KeyBlock(d).values(elementType(d.text("element")), d.number("column_panels"));
}

}  // namespace hgen
