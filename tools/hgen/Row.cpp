// SPDX-License-Identifier: Apache-2.0
// Expressions on the columns of a row, and on sums and maxima over the row.
//
//   width    columns
//   unroll   vectors, or blocks of chains, that an iteration of the loops takes
//   code     statements with a ; between them; their kinds and values:
//
//   f32 BITS, i32 NUMBER    a constant
//   load ELEMENT            a column of the next buffer that is read: f32, f16 or bf16
//   keep V                  V, computed once and kept
//   sum V, max V            over all columns
//   add A B ...             a number of each column; see `operations`
//   store V                 nothing: V are the columns of the next buffer that is written
//
// V, A and B are numbers of statements, counted from 0.
//
//   int32_t symbol(halide_buffer_t *read..., halide_buffer_t *written...)
//
// Bits are those of talc's own loops: lane l of chain c folds the columns l + lanes * (c + 4 i), i ascending; chains
// are folded as (0, 1), (2, 3), then lanes i and i + half. Multiply-adds are fused where `fma` says so.
#include "tools/hgen/Description.h"

#include <functional>
#include <limits>
#include <sstream>

using namespace Halide;

namespace hgen {

namespace {

using Operands = std::vector<Expr>;

Expr otherView(const Expr &value) {
  return reinterpret(value.type().is_float() ? Int(32) : Float(32), value);
}

struct Operation {
  size_t operands;
  std::function<Expr(const Operands &)> apply;
};
const std::map<std::string, Operation> operations = {
    {"add", {2, [](const Operands &v) { return v[0] + v[1]; }}},
    {"sub", {2, [](const Operands &v) { return v[0] - v[1]; }}},
    {"mul", {2, [](const Operands &v) { return v[0] * v[1]; }}},
    {"div", {2, [](const Operands &v) { return v[0] / v[1]; }}},
    {"fma", {3, [](const Operands &v) { return fused(v[0], v[1], v[2]); }}},
    {"neg", {1, [](const Operands &v) { return v[0] * -1.0f; }}},  // 0 - x would lose the sign of a zero
    {"abs", {1, [](const Operands &v) { return abs(v[0]); }}},
    {"sqrt", {1, [](const Operands &v) { return sqrt(v[0]); }}},
    {"shl", {2, [](const Operands &v) { return v[0] << v[1]; }}},
    {"bits", {1, [](const Operands &v) { return otherView(v[0]); }}},
    {"gt", {2, [](const Operands &v) { return v[0] > v[1]; }}},
    {"ge", {2, [](const Operands &v) { return v[0] >= v[1]; }}},
    {"lt", {2, [](const Operands &v) { return v[0] < v[1]; }}},
    {"le", {2, [](const Operands &v) { return v[0] <= v[1]; }}},
    {"eq", {2, [](const Operands &v) { return v[0] == v[1]; }}},
    {"select", {3, [](const Operands &v) { return select(v[0], v[1], v[2]); }}},
};

class Line {
public:
  explicit Line(const Description &d)
      : lanes(d.number("lanes")), width(d.number("width")), together(d.number("unroll")) {
    std::istringstream code(d.text("code"));
    for (std::string statement; std::getline(code, statement, ';');)
      add(statement);
    expect(!stored.empty(), "the code stores nothing");
  }

  Loops loops() {
    Func results("results");
    results(column) = Tuple(stored);
    // The others have its extent; columns are neighbours by default.
    results.output_buffers().front().dim(0).set_bounds(0, width);
    passOver(results);
    return {results, read};
  }

private:
  void passOver(Func &columns) const {
    columns.vectorize(column, lanes, TailStrategy::GuardWithIf);
    if (together > 1)
      columns.unroll(column, together, TailStrategy::GuardWithIf);
  }

  // The value of a statement: of a column, or of all columns.
  struct Yield {
    Expr value;
    bool ofLine;    // the same in all columns
    bool isFolded;  // made of sums or maxima
  };

  void add(const std::string &statement) {
    std::istringstream words(statement);
    std::string word, operand;
    words >> word >> operand;
    if (word == "f32")
      return yields.push_back({reinterpret<float>(Expr(static_cast<uint32_t>(std::stoul(operand)))), true, false});
    if (word == "i32")
      return yields.push_back({Expr(static_cast<int32_t>(std::stol(operand))), true, false});
    if (word == "load")
      return yields.push_back({load(elementType(operand)), false, false});
    std::vector<Yield> arguments = {yieldOf(operand)};
    while (words >> operand)
      arguments.push_back(yieldOf(operand));
    yields.push_back(word == "keep"    ? keep(arguments[0])
                     : word == "sum"   ? fold(arguments[0], 0.0f, [](Expr x, Expr y) { return x + y; })
                     : word == "max"   ? fold(arguments[0], -std::numeric_limits<float>::infinity(), larger)
                     : word == "store" ? store(arguments[0])
                                       : apply(word, arguments));
  }

  Yield yieldOf(const std::string &number) const {
    bool valid = !number.empty() && number.size() < 9 && number.find_first_not_of("0123456789") == std::string::npos;
    expect(valid && std::stoul(number) < yields.size(), "no statement before has the number " + number);
    return yields[std::stoul(number)];
  }

  static Expr larger(Expr x, Expr y) { return select(x > y, x, y); }

  Expr load(Type type) {
    ImageParam buffer(type, 1, "read" + std::to_string(read.size()));
    buffer.dim(0).set_bounds(0, width).set_stride(1);
    read.push_back(buffer);
    return cast<float>(buffer(column));
  }

  Yield store(const Yield &yield) {
    stored.push_back(yield.value);
    return yield;
  }

  Yield keep(const Yield &yield) {
    Func buffer("kept");
    buffer(column) = yield.value;
    buffer.compute_root().store_in(MemoryType::Stack).bound(column, 0, width);
    passOver(buffer);
    return {buffer(column), yield.ofLine, yield.isFolded};
  }

  Yield apply(const std::string &name, const std::vector<Yield> &arguments) {
    auto it = operations.find(name);
    expect(it != operations.end(), "operation " + name + " is unknown");
    expect(it->second.operands == arguments.size(), name + " takes another number of operands");
    Operands operands;
    Yield result = {Expr(), true, false};
    for (const Yield &yield : arguments) {
      operands.push_back(yield.value);
      result.ofLine &= yield.ofLine;
      result.isFolded |= yield.isFolded;
    }
    result.value = it->second.apply(operands);
    return result.ofLine && result.isFolded ? once(result.value) : result;
  }

  // Values that are equal in all columns are computed before the loops over columns.
  static Yield once(const Expr &value) {
    Func number("number");
    number() = value;
    number.compute_root().store_in(MemoryType::Register);
    return {number(), true, true};
  }

  using Combine = std::function<Expr(Expr, Expr)>;

  Yield fold(const Yield &yield, Expr neutral, const Combine &combine) {
    const int block = chains * lanes, whole = width / block * block;
    Var lane("lane");
    Func term("term"), folded("folded");
    term(column) = yield.value;
    folded(lane) = neutral;
    folded.compute_root().store_in(MemoryType::Register).bound(lane, 0, block).vectorize(lane, lanes).unroll(lane);
    int updates = 0;
    if (whole > 0) {
      RDom i(0, whole / block, "i");
      folded(lane) = combine(folded(lane), term(lane + i * block));
      Stage stage = folded.update(updates++).reorder(lane, i).vectorize(lane, lanes).unroll(lane);
      if (together > 1)
        stage.unroll(i, together, TailStrategy::GuardWithIf);
    }
    if (whole < width) {
      RDom rest(0, width - whole, "rest");
      folded(rest) = combine(folded(rest), term(whole + rest));
      folded.update(updates).vectorize(rest, lanes, TailStrategy::GuardWithIf);
    }
    return once(foldLanes(folded, combine));
  }

  Expr foldLanes(const Func &chained, const Combine &combine) const {
    Var lane("lane");
    Func level("level");
    level(lane) = combine(combine(chained(lane), chained(lane + lanes)),
                          combine(chained(lane + 2 * lanes), chained(lane + 3 * lanes)));
    for (int count = lanes;; count /= 2) {
      level.compute_root().store_in(MemoryType::Register).bound(lane, 0, count).vectorize(lane, count);
      if (count == 1)
        return level(0);
      Func next("level");
      next(lane) = combine(level(lane), level(lane + count / 2));
      level = next;
    }
  }

  static constexpr int chains = 4;
  const int lanes, width, together;
  Var column{"column"};
  std::vector<Yield> yields;
  std::vector<Argument> read;
  std::vector<Expr> stored;
};

}  // namespace

Loops makeRow(const Description &description) {
  return Line(description).loops();
}

}  // namespace hgen
