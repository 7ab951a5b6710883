// SPDX-License-Identifier: Apache-2.0
// #talc.relative_keys: projections of distances as sinusoids. All rows of a head are sums over one projection, so that
// they are made at once, when the first of them is read.
#include "compiler/artifact/weights/WeightRecipes.h"

#include <cmath>
#include <mutex>

namespace talc {

namespace {

// [sin(p f_0), ..., cos(p f_0), ...]
std::vector<double> makeSinusoids(int64_t distance, int64_t inputs) {
  std::vector<double> row(inputs);
  for (int64_t n = 0; n < inputs / 2; ++n) {
    double angle = static_cast<double>(distance) * std::pow(10000.0, -2.0 * static_cast<double>(n) / inputs);
    row[n] = std::sin(angle);
    row[inputs / 2 + n] = std::cos(angle);
  }
  return row;
}

class RelativeKeys : public WeightValues {
public:
  // With `from` and `to` a column of products.
  RelativeKeys(WeightValuesPtr projection, WeightValuesPtr from, WeightValuesPtr to, int64_t heads, int64_t distances,
               double scale)
      : WeightValues({heads * distances, from ? 1 : projection->shape.rows / heads}), projection(std::move(projection)),
        from(std::move(from)), to(std::move(to)), heads(heads), distances(distances), scale(scale) {}

  void read(Tile tile, float *out, int64_t stride) const override {
    std::call_once(computeOnce, [&] { make(); });
    for (int64_t r = 0; r < tile.rows; ++r)
      std::copy_n(values.begin() + (tile.row + r) * shape.columns + tile.column, tile.columns, out + r * stride);
  }

private:
  void make() const {
    values.resize(shape.rows * shape.columns);
    for (int64_t head = 0; head < heads; ++head) {
      std::vector<double> weights = weightsOf(head);
      for (int64_t row = 0; row < distances; ++row)
        project(makeSinusoids(distances - 1 - row, projection->shape.columns), weights,
                &values[(head * distances + row) * shape.columns]);
    }
  }

  // The projection of one head, inputs by outputs: its rows, or their product with the difference of two vectors.
  std::vector<double> weightsOf(int64_t head) const {
    int64_t width = projection->shape.rows / heads, inputs = projection->shape.columns, outputs = shape.columns;
    std::vector<float> rows(width * inputs);
    projection->read({head * width, 0, width, inputs}, rows.data(), inputs);
    std::vector<float> a(width), b(width);
    if (from) {
      from->read({head * width, 0, width, 1}, a.data(), 1);
      to->read({head * width, 0, width, 1}, b.data(), 1);
    }
    std::vector<double> result(inputs * outputs);
    for (int64_t i = 0; i < width; ++i)
      for (int64_t n = 0; n < inputs; ++n)
        result[n * outputs + (from ? 0 : i)] +=
            scale * rows[i * inputs + n] * (from ? static_cast<double>(b[i]) - a[i] : 1.0);
    return result;
  }

  void project(const std::vector<double> &sinusoids, const std::vector<double> &weights, float *out) const {
    std::vector<double> sums(shape.columns);
    for (size_t n = 0; n < sinusoids.size(); ++n)
      for (int64_t i = 0; i < shape.columns; ++i)
        sums[i] += sinusoids[n] * weights[n * shape.columns + i];
    std::copy(sums.begin(), sums.end(), out);
  }

  WeightValuesPtr projection, from, to;
  int64_t heads, distances;
  double scale;
  mutable std::once_flag computeOnce;
  mutable std::vector<float> values;
};

}  // namespace

WeightValuesPtr relativeKeys(WeightValuesPtr projection, int64_t heads, int64_t distances, double scale) {
  return relativeKeys(std::move(projection), nullptr, nullptr, heads, distances, scale);
}

WeightValuesPtr relativeKeys(WeightValuesPtr projection, WeightValuesPtr from, WeightValuesPtr to, int64_t heads,
                             int64_t distances, double scale) {
  return std::make_shared<RelativeKeys>(std::move(projection), std::move(from), std::move(to), heads, distances, scale);
}

}  // namespace talc
