// SPDX-License-Identifier: Apache-2.0
// Plans that people or records say, as text.
#include "compiler/passes/schedule/cpu/PlanOverrides.h"

#include "compiler/passes/schedule/attention/AttentionPlan.h"
#include "compiler/passes/schedule/cpu/GeneratorPlan.h"
#include "compiler/passes/schedule/cpu/matmul/MatmulPlan.h"
#include "compiler/passes/schedule/cpu/rows/RowPlan.h"
#include "compiler/passes/schedule/cpu/tasks/DistributionPlan.h"

using namespace mlir;

namespace talc {

template <typename Plan> static bool has(StringRef name) {
  return llvm::any_of(Plan::parameters(), [&](const TuningParameter<Plan> &number) { return number.name == name; });
}

static bool isKnown(StringRef name) {
  return has<MatmulPlan>(name) || has<AttentionPlan>(name) || has<GeneratorPlan>(name) || has<RowPlan>(name) ||
         has<DistributionPlan>(name);
}

std::string PlanOverrides::parseLine(StringRef text) {
  auto [kernel, rest] = text.split(':');
  Line line;
  if (kernel.trim().consume_front("@"))
    line.digest = kernel.trim().drop_front().str();
  else if (auto pattern = llvm::GlobPattern::create(kernel.trim()))
    line.name = std::move(*pattern);
  else
    return "'" + kernel.trim().str() + "': " + llvm::toString(pattern.takeError());
  SmallVector<StringRef> numbers;
  rest.split(numbers, ',');
  for (StringRef number : numbers) {
    auto [name, value] = number.split('=');
    int64_t parsed = 0;
    if (value.trim().getAsInteger(10, parsed))
      return "'" + text.str() + "' is not KERNEL: NAME = NUMBER, ...";
    if (!isKnown(name.trim()) && !line.digest.empty())
      return "";  // recorded by a talc whose plans were others
    if (!isKnown(name.trim()))
      return "no plan has a number '" + name.trim().str() + "'";
    line.numbers.emplace_back(name.trim().str(), parsed);
  }
  lines.push_back(std::move(line));
  return "";
}

std::string PlanOverrides::parse(StringRef text) {
  SmallVector<StringRef> parts;
  text.split(parts, ';');
  for (StringRef part : parts)
    if (!part.trim().empty())
      if (std::string problem = parseLine(part.trim()); !problem.empty())
        return problem;
  return "";
}

kernel::PlanAttr PlanOverrides::collect(MLIRContext *context, llvm::function_ref<bool(const Line &)> means) const {
  Builder b(context);
  NamedAttrList numbers;
  for (const Line &line : lines)
    if (means(line))
      for (const auto &[name, value] : line.numbers)
        numbers.set(name, b.getI64IntegerAttr(value));
  return numbers.empty() ? kernel::PlanAttr() : kernel::PlanAttr::get(context, numbers.getDictionary(context));
}

kernel::PlanAttr PlanOverrides::recorded(kernel::TasksOp tasks) const {
  if (llvm::all_of(lines, [](const Line &line) { return line.digest.empty(); }))
    return {};
  std::string digest = kernelDigest(tasks);
  return collect(tasks.getContext(), [&](const Line &line) { return line.digest == digest; });
}

std::set<std::string> PlanOverrides::digests() const {
  std::set<std::string> all;
  for (const Line &line : lines)
    if (!line.digest.empty())
      all.insert(line.digest);
  return all;
}

kernel::PlanAttr PlanOverrides::named(kernel::TasksOp tasks) const {
  auto function = tasks->getParentOfType<func::FuncOp>();
  return collect(tasks.getContext(), [&](const Line &line) {
    return line.digest.empty() && function && line.name.match(function.getName());
  });
}

}  // namespace talc
