// SPDX-License-Identifier: Apache-2.0
// Tables by position or by distance, which follow from their shape alone.
#include "compiler/artifact/weights/WeightRecipes.h"

#include "llvm/ADT/APFloat.h"

#include <cmath>

namespace talc {

namespace {

// A table whose value at a row and a column is a formula.
template <typename Derived> class Formula : public WeightValues {
public:
  using WeightValues::WeightValues;

  void read(Tile tile, float *out, int64_t stride) const override {
    for (int64_t row = 0; row < tile.rows; ++row)
      for (int64_t column = 0; column < tile.columns; ++column)
        out[row * stride + column] =
            static_cast<float>(static_cast<const Derived &>(*this).at(tile.row + row, tile.column + column));
  }
};

class RotaryTable : public WeightValues {
public:
  RotaryTable(RotaryFrequencies frequencies, MatrixShape shape, int64_t digits)
      : WeightValues(shape), frequencies(std::move(frequencies)), digits(digits) {}

  void read(Tile tile, float *out, int64_t stride) const override {
    for (int64_t row = 0; row < tile.rows; ++row) {
      const int64_t place = digits > 0 ? (tile.row + row) / digits : 0, position = positionOf(tile.row + row);
      const double amplitude = place == 0 ? frequencies.amplitude() : 1;
      const std::vector<double> turns = frequencies.at(position);
      auto half = static_cast<int64_t>(turns.size());
      for (int64_t column = 0; column < tile.columns; ++column) {
        int64_t feature = tile.column + column;
        double angle = static_cast<double>(position) * turns[feature % half];
        out[row * stride + column] =
            static_cast<float>(amplitude * (feature < half ? std::cos(angle) : std::sin(angle)));
      }
    }
  }

private:
  int64_t positionOf(int64_t row) const {
    if (digits == 0)
      return row;
    int64_t position = row % digits;
    for (int64_t place = row / digits; place > 0; --place)
      position *= digits;
    return position;
  }

  RotaryFrequencies frequencies;
  int64_t digits;
};

class SinusoidTable : public Formula<SinusoidTable> {
public:
  SinusoidTable(MatrixShape shape, SinusoidLayout layout, int64_t blank)
      : Formula(shape), spread(layout == SinusoidLayout::spread), interleaved(layout == SinusoidLayout::interleaved),
        blank(blank) {
    const int64_t sines = spread ? shape.columns / 2 : (shape.columns + 1) / 2;
    const auto width = static_cast<double>(shape.columns);
    for (int64_t i = 0; i < sines; ++i) {
      double exponent =
          spread ? static_cast<double>(i) / static_cast<double>(sines - 1) : 2.0 * static_cast<double>(i) / width;
      frequencies.push_back(std::pow(10000.0, -exponent));
    }
  }

  double at(int64_t position, int64_t feature) const {
    auto sines = static_cast<int64_t>(frequencies.size());
    if (position == blank || (spread && feature >= 2 * sines))
      return 0;
    int64_t i = interleaved ? feature / 2 : feature % sines;
    bool isSine = interleaved ? feature % 2 == 0 : feature < sines;
    double angle = static_cast<double>(position) * frequencies[i];
    return isSine ? std::sin(angle) : std::cos(angle);
  }

private:
  std::vector<double> frequencies;
  bool spread, interleaved;
  int64_t blank;
};

float nearestBf16(float value) {
  llvm::APFloat rounded(value);
  bool inexact;
  rounded.convert(llvm::APFloat::BFloat(), llvm::APFloat::rmNearestTiesToEven, &inexact);
  rounded.convert(llvm::APFloat::IEEEsingle(), llvm::APFloat::rmNearestTiesToEven, &inexact);
  return rounded.convertToFloat();
}

class AlibiTable : public Formula<AlibiTable> {
public:
  AlibiTable(MatrixShape shape, double rounded) : Formula(shape), rounded(rounded) {
    int64_t power = 1;
    while (power <= shape.rows / 2)
      power *= 2;
    auto add = [&](int64_t from, int64_t step, int64_t of, int64_t count) {
      for (int64_t i = 0; i < count; ++i)
        slopes.push_back(std::exp2(-8.0 * static_cast<double>(from + i * step) / static_cast<double>(of)));
    };
    add(1, 1, power, power);
    add(1, 2, 2 * power, shape.rows - power);
  }

  double at(int64_t head, int64_t column) const {
    if (rounded == 0)
      return slopes[head] * static_cast<double>(column - shape.columns / 2);
    float slope = nearestBf16(static_cast<float>(slopes[head]));
    return rounded * nearestBf16(slope * nearestBf16(static_cast<float>(column)));
  }

private:
  std::vector<double> slopes;
  double rounded;
};

}  // namespace

WeightValuesPtr rotaryTable(RotaryFrequencies frequencies, MatrixShape shape, int64_t digits) {
  return std::make_shared<RotaryTable>(std::move(frequencies), shape, digits);
}

WeightValuesPtr sinusoidTable(MatrixShape shape, SinusoidLayout layout, int64_t blank) {
  return std::make_shared<SinusoidTable>(shape, layout, blank);
}

WeightValuesPtr alibiTable(MatrixShape shape, double rounded) {
  return std::make_shared<AlibiTable>(shape, rounded);
}

}  // namespace talc
