// SPDX-License-Identifier: Apache-2.0
// Texts are read as lines with names (%x, ^bb0) in them. Lines that are equal without their names correspond, and so do
// the names in them. Between them, lines that make values of others by the same operation correspond.
#include "tools/talc/inspect/StableNames.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/xxhash.h"

namespace talc::tools {

static bool isNameLetter(char c) {
  return llvm::isAlnum(c) || c == '_' || c == '$' || c == '.';
}

// Calls name(text) for every name in a line, with its sign, and other(text) for what stands between. What is quoted has
// no names.
static void split(llvm::StringRef line, llvm::function_ref<void(llvm::StringRef)> name,
                  llvm::function_ref<void(llvm::StringRef)> other) {
  bool quoted = false;
  size_t start = 0;
  for (size_t i = 0; i < line.size(); ++i) {
    quoted ^= line[i] == '"' && (i == 0 || line[i - 1] != '\\');
    if (quoted || (line[i] != '%' && line[i] != '^'))
      continue;
    size_t length = 1 + line.substr(i + 1).take_while(isNameLetter).size();
    if (length == 1)
      continue;
    other(line.slice(start, i));
    name(line.substr(i, length));
    start = i + length;
    i = start - 1;
  }
  other(line.substr(start));
}

namespace {

struct Line {
  uint64_t hash = 0;       // without names
  uint64_t operation = 0;  // the hash of what makes values of others: talc.linear
  size_t defined = 0;      // the first names, of which it is the definition
  llvm::SmallVector<llvm::StringRef, 4> names;
};

// Names of `after` that are those of `before`.
class NamePairs {
public:
  explicit NamePairs(llvm::StringMap<std::string> &names) : names(names) {}

  // The first `count` names of both lines.
  void add(const Line &before, const Line &after, size_t count) {
    for (size_t i = 0; i < std::min({count, before.names.size(), after.names.size()}); ++i)
      if (!names.contains(after.names[i]) && taken.insert(before.names[i]).second)
        names[after.names[i]] = before.names[i].str();
  }

private:
  llvm::StringMap<std::string> &names;
  llvm::StringSet<> taken;
};

}  // namespace

static std::vector<Line> splitLines(llvm::StringRef text) {
  std::vector<Line> lines;
  std::string rest;
  while (!text.empty()) {
    auto [first, others] = text.split('\n');
    Line line;
    rest.clear();
    split(
        first, [&](llvm::StringRef name) { line.names.push_back(name); },
        [&](llvm::StringRef other) { rest += other.str() + '%'; });
    line.hash = llvm::xxh3_64bits(rest);
    size_t equals = first.ltrim().starts_with("%") ? first.find(" = ") : llvm::StringRef::npos;
    if (equals != llvm::StringRef::npos) {
      const char *end = first.data() + equals;
      line.defined = llvm::count_if(line.names, [&](llvm::StringRef name) { return name.data() < end; });
      if (line.defined < line.names.size())
        line.operation = llvm::xxh3_64bits(first.substr(equals + 3).split(' ').first);
    }
    lines.push_back(std::move(line));
    text = others;
  }
  return lines;
}

static std::vector<uint64_t> collectHashes(llvm::ArrayRef<Line> lines, uint64_t Line::*hash) {
  std::vector<uint64_t> hashes;
  for (const Line &line : lines)
    hashes.push_back(line.*hash);
  return hashes;
}

// Calls pair(before, after) for lines that correspond, and gap(lines before, lines after) for what stands between.
static void visit(llvm::ArrayRef<Line> before, llvm::ArrayRef<Line> after, llvm::ArrayRef<SameLines> same,
                  llvm::function_ref<void(const Line &, const Line &)> pair,
                  llvm::function_ref<void(llvm::ArrayRef<Line>, llvm::ArrayRef<Line>)> gap) {
  SameLines end{static_cast<int>(before.size()), static_cast<int>(after.size()), 0};
  int i = 0, j = 0;
  for (size_t r = 0; r <= same.size(); ++r) {
    const SameLines &run = r < same.size() ? same[r] : end;
    gap(before.slice(i, run.before - i), after.slice(j, run.after - j));
    for (int k = 0; k < run.count; ++k)
      pair(before[run.before + k], after[run.after + k]);
    i = run.before + run.count;
    j = run.after + run.count;
  }
}

// Values keep their names where their lines are the same, or else are made by the same operation.
static void pairNames(llvm::ArrayRef<Line> before, llvm::ArrayRef<Line> after, llvm::ArrayRef<SameLines> same,
                      NamePairs &pairs) {
  std::vector<std::pair<llvm::ArrayRef<Line>, llvm::ArrayRef<Line>>> gaps;
  visit(
      before, after, same, [&](const Line &a, const Line &b) { pairs.add(a, b, b.names.size()); },
      [&](llvm::ArrayRef<Line> a, llvm::ArrayRef<Line> b) {
        gaps.push_back({a, b});
      });
  for (auto [a, b] : gaps) {
    auto runs = alignLines(collectHashes(a, &Line::operation), collectHashes(b, &Line::operation));
    visit(
        a, b, runs, [&](const Line &x, const Line &y) { pairs.add(x, y, y.defined == x.defined ? y.defined : 0); },
        [](llvm::ArrayRef<Line>, llvm::ArrayRef<Line>) {});
  }
}

// Returns the beginning of a name: %12 and %arg3 are numbered; of others the number behind an underscore tells equal
// ones apart.
static llvm::StringRef stableBeginning(llvm::StringRef name) {
  llvm::StringRef without = name.rtrim("0123456789");
  if (without.size() < name.size() && without.ends_with("_"))
    return without.drop_back();
  return without == "%" || without == "%arg" || without == "^bb" ? without : name;
}

std::string StableNames::fresh(llvm::StringRef name) {
  llvm::StringRef beginning = stableBeginning(name);
  int64_t count = counts[beginning]++;
  bool numbered = beginning == "%" || beginning == "%arg" || beginning == "^bb";
  if (numbered)
    return (beginning + llvm::Twine(count)).str();
  return count == 0 ? beginning.str() : (beginning + "_" + llvm::Twine(count - 1)).str();
}

StableNames::Text StableNames::follow(llvm::StringRef before, llvm::StringRef after) {
  std::vector<Line> old = splitLines(before), lines = splitLines(after);
  Text result;
  result.same = alignLines(collectHashes(old, &Line::hash), collectHashes(lines, &Line::hash));
  llvm::StringMap<std::string> names;
  NamePairs pairs(names);
  pairNames(old, lines, result.same, pairs);
  for (const Line &line : lines)
    for (llvm::StringRef name : line.names)
      if (!names.contains(name))
        names[name] = fresh(name);
  while (!after.empty()) {
    auto [line, others] = after.split('\n');
    split(
        line, [&](llvm::StringRef name) { result.text += names[name]; },
        [&](llvm::StringRef other) { result.text += other; });
    result.text += '\n';
    after = others;
  }
  return result;
}

}  // namespace talc::tools
